import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VerificationService

/// One person's verification, from the consent to the destroyed photo, with a `kill -9` at each of its steps. Whoever was not
/// answered asks again, and another replica goes on.
@Suite("verification that is killed at each step", .serialized) @Loop struct VerificationKillTests {
    enum Moment: CaseIterable, Sendable {
        case sessionBegins, uploadIsPromised, uploadBegins, bodyArrives, keyIsWritten, pictureIsStored, verdictIsAsked,
            verdictCounts, destructionIsTaken, keyIsGone, keyIsNoted, destructionIsNoted

        /// The row whose transaction is held up while it commits; `nil` between two transactions.
        fileprivate var commit: (table: String, condition: String)? {
            switch self {
            case .sessionBegins: ("verifications", "NEW.status = 'awaiting_capture'")
            case .uploadIsPromised: ("media", "NEW.state = 'awaited'")
            case .uploadBegins: ("media", "NEW.state = 'arriving'")
            case .pictureIsStored: ("media", "NEW.state = 'stored'")
            case .verdictIsAsked: ("verifications", "NEW.status = 'processing'")
            case .verdictCounts: ("verifications", "NEW.status = 'verified'")
            case .destructionIsTaken:
                ("destructions", "NEW.key_destroyed_at IS NULL AND NEW.due_at > NEW.noted_at + interval '10 s'")
            case .keyIsNoted: ("destructions", "NEW.key_destroyed_at IS NOT NULL")
            case .destructionIsNoted: ("audit", "NEW.act = 'media_destroyed'")
            case .bodyArrives, .keyIsWritten, .keyIsGone: nil
            }
        }
    }

    /// The same of a check at Rekognition, which the app completes, or never does.
    struct Check: Sendable {
        enum Moment: CaseIterable, Sendable {
            case sessionBegins, checkIsOpened, keysAreMade, checkIsNoted, verdictIsAsked, resultIsFetched, verdictCounts
        }

        let moment: Moment
        let isCompleted: Bool

        /// Each moment in one of the two ways; both in `make prove`.
        static let all = Moment.allCases.enumerated().flatMap { number, moment in
            [true, false].filter { Rounds.areMany || $0 == (number % 2 == 0) }.map {
                Check(moment: moment, isCompleted: $0)
            }
        }

        fileprivate var commit: (table: String, condition: String)? {
            switch moment {
            case .sessionBegins: ("verifications", "NEW.provider_session IS NULL AND NEW.status = 'awaiting_capture'")
            case .checkIsNoted:
                ("verifications", "NEW.provider_session IS NOT NULL AND NEW.status = 'awaiting_capture'")
            case .verdictIsAsked: ("verifications", "NEW.status = 'processing'")
            case .verdictCounts: ("verifications", "NEW.status = 'verified'")
            case .checkIsOpened, .keysAreMade, .resultIsFetched: nil
            }
        }

        /// What AWS has carried out when the process is killed, and not answered.
        fileprivate var operation: String? {
            switch moment {
            case .checkIsOpened: AWSServer.opening
            case .keysAreMade: AWSServer.keyMaking
            case .resultIsFetched: AWSServer.fetching
            default: nil
            }
        }
    }

    /// The same of a document, from its session to the reviewer's decision.
    enum DocumentMoment: CaseIterable, Sendable {
        case sessionBegins, frontIsStored, backIsStored, reviewIsAsked, decisionCounts, keyIsGone, destructionIsNoted

        fileprivate var commit: (table: String, condition: String)? {
            switch self {
            case .sessionBegins: ("id_verifications", "NEW.status = 'awaiting_capture'")
            case .frontIsStored, .backIsStored: ("media", "NEW.state = 'stored'")
            case .reviewIsAsked: ("id_verifications", "NEW.status = 'manual_review'")
            case .decisionCounts: ("id_verifications", "NEW.status = 'verified'")
            case .destructionIsNoted: ("audit", "NEW.act = 'media_destroyed'")
            case .keyIsGone: nil
            }
        }
    }

    /// The same of a picture for a recovery, from its promise to the end of the case.
    enum EvidenceMoment: CaseIterable, Sendable {
        case uploadIsPromised, uploadBegins, bodyArrives, keyIsWritten, pictureIsStored, caseEnds, keyIsGone,
            destructionIsNoted

        fileprivate var commit: (table: String, condition: String)? {
            switch self {
            case .uploadIsPromised: ("media", "NEW.state = 'awaited'")
            case .uploadBegins: ("media", "NEW.state = 'arriving'")
            case .pictureIsStored: ("media", "NEW.state = 'stored'")
            case .caseEnds: ("event_positions", "NEW.producer = 'recovery'")
            case .destructionIsNoted: ("audit", "NEW.act = 'media_destroyed'")
            case .bodyArrives, .keyIsWritten, .keyIsGone: nil
            }
        }
    }

    /// The same of a profile's photo, from its place to its removal.
    enum PhotoMoment: CaseIterable, Sendable {
        case placeIsGiven, decisionCounts, placeIsTaken, keyIsGone, destructionIsNoted

        fileprivate var commit: (table: String, condition: String)? {
            switch self {
            case .placeIsGiven: ("media", "NEW.position IS NOT NULL")
            case .decisionCounts: ("media", "NEW.moderation = 'approved'")
            case .placeIsTaken: ("destructions", "NEW.reason = 'removed'")
            case .destructionIsNoted: ("audit", "NEW.act = 'media_destroyed'")
            case .keyIsGone: nil
            }
        }
    }

    /// The same of a verification that ends with a photo there, from the request, from a reviewer's decision, or from the time
    /// for which a timer is set, to the destroyed photo.
    struct Ending: Sendable {
        enum Cause: CaseIterable, Sendable { case withdrawal, deletion, clock, abandonment, review }
        enum Moment: CaseIterable, Sendable { case endCounts, keyIsGone, destructionIsNoted }

        let cause: Cause
        let moment: Moment

        static let all = Cause.allCases.flatMap { cause in Moment.allCases.map { Ending(cause: cause, moment: $0) } }

        fileprivate var commit: (table: String, condition: String)? {
            switch (moment, cause) {
            case (.endCounts, .withdrawal): ("verifications", "NEW.status = 'declined'")
            case (.endCounts, .deletion): ("erased", "NEW.digest IS NOT NULL")
            case (.endCounts, .clock), (.endCounts, .abandonment): ("verifications", "NEW.status = 'expired'")
            case (.endCounts, .review): ("verifications", "NEW.status = 'verified'")
            case (.destructionIsNoted, _): ("audit", "NEW.act = 'media_destroyed'")
            case (.keyIsGone, _): nil
            }
        }
    }

    /// Whether the transaction of the killed process is committed.
    enum CommitOutcome: Sendable { case undone, done }

    /// Each commit in one of the two ways; both in `make prove`.
    nonisolated private static let cases = outcomes(of: Moment.allCases) { $0.commit != nil }
    nonisolated private static let checkCases = outcomes(of: Check.all) { $0.commit != nil }
    nonisolated private static let documentCases = outcomes(of: DocumentMoment.allCases) { $0.commit != nil }
    nonisolated private static let endCases = outcomes(of: Ending.all) { $0.commit != nil }
    nonisolated private static let photoCases = outcomes(of: PhotoMoment.allCases) { $0.commit != nil }
    nonisolated private static let evidenceCases = outcomes(of: EvidenceMoment.allCases) { $0.commit != nil }

    nonisolated private static func outcomes<Each>(of moments: [Each], isCommit: (Each) -> Bool) -> [(
        Each, CommitOutcome
    )] {
        moments.enumerated().flatMap { number, moment in
            let outcomes: [CommitOutcome] = isCommit(moment) ? [.undone, .done] : [.undone]
            let isAll = outcomes.count == 1 || Rounds.areMany
            return outcomes.enumerated().filter { isAll || (number + $0.offset) % 2 == 0 }.map { (moment, $0.element) }
        }
    }

    @Test(arguments: cases) func aCaptureIsResumedOnceAndLeavesNothing(moment: Moment, outcome: CommitOutcome)
        async throws
    {
        try await Verifying.run(replicas: 0) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            var killing: Task<Void, any Error>?
            if moment.commit != nil { killing = try await victim.beginKilling(moment.commit, outcome) }
            let session = try await walk.begin()
            switch moment {
            case .bodyArrives: walk.interruption = { try await victim.killInBody(of: $0) }
            case .keyIsWritten: walk.interruption = { try await victim.killBehindKey(of: $0) }
            default: break
            }
            try await walk.upload(session)
            if moment == .keyIsGone { killing = try await victim.beginKilling(nil, outcome) }
            try await walk.complete(session)
            _ = try await verifying.decided.atLeast(1)
            try await killing?.value
            #expect(victim.isKilled)
            try await verifying.checkThatNothingIsLeft(of: [walk.person])
        }
    }

    @Test(arguments: checkCases) func aCheckIsResumedOnceAndLeavesNothing(check: Check, outcome: CommitOutcome)
        async throws
    {
        try await RekognitionJudgeTests.run(replicas: 0) { verifying, aws in
            aws.looksAtSignatures = false
            aws.results = [AWSServer.result("SUCCEEDED", score: "97.5")]
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            let killing =
                if let operation = check.operation { victim.beginKilling(operation, aws) } else {
                    try await victim.beginKilling(check.commit, outcome)
                }
            let begun = try await walk.beginSession()
            let opened = aws.requests(of: AWSServer.opening).count
            #expect(begun.provider?.sessionId == "check-\(opened)", "AWS may have forgotten an earlier one")
            if check.isCompleted {
                try await walk.complete(try #require(begun.sessionId))
            } else {
                try await verifying.passTime("171 s")
            }
            _ = try await verifying.decided.atLeast(1)
            try await killing.value
            #expect(victim.isKilled)
            try await verifying.checkThatNothingIsLeft(of: [walk.person])
            #expect(try await verifying.stage.rows("SELECT begun FROM verifications") == "1")
            #expect(verifying.notices.heard.isEmpty)
            let kept = try await verifying.media.everything()
            for canary in RekognitionJudgeTests.keys + [RekognitionJudgeTests.secret, "check-", "97.5"] {
                #expect(!kept.contains(canary), "\(canary)")
            }
        }
    }

    /// The app never completes the check. The process is killed as it asks for the result, and AWS has forgotten the check
    /// before another one asks.
    @Test func aResultThatAWSForgetsMeanwhileCostsNoTry() async throws {
        try await RekognitionJudgeTests.run(replicas: 0) { verifying, aws in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            _ = try await walk.begin()
            let killing = victim.beginKilling(AWSServer.fetching, aws)
            aws.results = [.answers(status: 400, body: #"{"__type": "SessionNotFoundException"}"#)]
            try await verifying.passTime("171 s")
            _ = try await verifying.decided.atLeast(1)
            try await killing.value
            #expect(victim.isKilled)
            #expect(try await verifying.stage.rows("SELECT status, tries FROM verifications") == "expired|0")
            aws.results = [AWSServer.result("SUCCEEDED", score: "97.5")]
            try await walk.complete(try await walk.begin())
            #expect(try await eventually { verifying.outcomes(for: walk.person) == ["failed", "verified"] })
            #expect(try await verifying.stage.rows("SELECT status, tries FROM verifications") == "verified|1")
        }
    }

    @Test(arguments: documentCases)
    func aDocumentIsResumedOnceAndLeavesNothing(moment: DocumentMoment, outcome: CommitOutcome) async throws {
        try await Verifying.run(replicas: 0) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            var killing: Task<Void, any Error>?
            func reach(_ next: DocumentMoment) async throws {
                if moment == next { killing = try await victim.beginKilling(moment.commit, outcome) }
            }
            try await reach(.sessionBegins)
            let session = try await walk.beginDocument()
            try await reach(.frontIsStored)
            try await walk.upload(session, side: "front")
            try await reach(.backIsStored)
            try await walk.upload(session, side: "back")
            try await reach(.reviewIsAsked)
            try await walk.complete(session, expecting: ["manual_review"])
            for moment in [DocumentMoment.decisionCounts, .keyIsGone, .destructionIsNoted] { try await reach(moment) }
            try await walk.decide(session)
            _ = try await verifying.decided.atLeast(2)
            try await killing?.value
            #expect(victim.isKilled)
            try await verifying.checkThatNothingIsLeft(of: walk.person)
        }
    }

    @Test(arguments: endCases) func anEndIsResumedOnceAndLeavesNothing(ending: Ending, outcome: CommitOutcome)
        async throws
    {
        try await Verifying.run(judge: "staff", replicas: 0) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            let session = try await walk.begin()
            try await walk.upload(session)
            let isInReview = [.clock, .review].contains(ending.cause)
            if isInReview { try await walk.complete(session, expecting: ["manual_review"]) }
            let killing = try await victim.beginKilling(ending.commit, outcome)
            let (told, row, acts): ([String], String, String)
            switch ending.cause {
            case .withdrawal:
                (told, row, acts) = (["declined"], "declined|0", "verification_consent_withdrawn,verification_decided")
                try await walk.withdraw()
            case .deletion:
                (told, row, acts) = ([], "", "person_erased")
                try await walk.delete()
            case .clock:
                // Nobody reviewed the photo within a day, so the try is given back.
                (told, row, acts) = (["in_review", "failed"], "expired|0", "verification_decided,verification_decided")
                try await verifying.passTime("24 h")
            case .abandonment:
                (told, row, acts) = ([], "expired|0", "")
                try await verifying.passTime("15 min")
            case .review:
                (told, row) = (["in_review", "verified"], "verified|1")
                acts = "verification_decided,verification_decided,verification_reviewed"
                try await walk.review(session)
            }
            _ = try await verifying.decided.atLeast(told.count)
            try await killing.value
            #expect(victim.isKilled)
            try await verifying.checkThatEverythingIsSent()
            try await verifying.checkThatNoPictureIsLeft()
            #expect(verifying.outcomes(for: walk.person) == told)
            #expect(try await verifying.stage.rows("SELECT status, tries FROM verifications") == row)
            let noted = """
                SELECT string_agg(act, ',' ORDER BY act) FROM audit
                WHERE act NOT IN ('media_destroyed', 'verification_consent_given')
                """
            #expect(try await verifying.stage.rows(noted) == acts)
            let notices = Set(verifying.notices.heard.map(\.notificationID))
            #expect(notices.count == (isInReview ? 1 : 0), "who does not wait any more gets one push")
        }
    }

    @Test func aWithdrawalDestroysWhatAKilledReplicaWroteWithinAMinute() async throws {
        try await Verifying.run(replicas: 0) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            let session = try await walk.begin()
            walk.interruption = {
                try await victim.killBehindKey(of: $0)
                throw CancellationError()
            }
            await #expect(throws: CancellationError.self) { try await walk.upload(session) }
            try await walk.withdraw()
            let wait = "SELECT max(due_at - noted_at) <= interval '30 s' FROM destructions"
            #expect(try await verifying.stage.rows(wait) == "t")
            #expect(!verifying.media.files.isEmpty)
            try await verifying.checkThatNoPictureIsLeft()
        }
    }

    /// The judge says for too long that it has no verdict yet. The process is killed as the person stops waiting, and as the
    /// session ends.
    @Test(arguments: outcomes(of: [("overdue", "31 s"), ("expired", "24 h")]) { _ in true })
    func aLateJudgeIsGivenUpOnce(step: (status: String, after: String), outcome: CommitOutcome) async throws {
        let server = try ProviderServer(.answers(status: 202, body: ""))
        try await Verifying.run(judge: "webhook", replicas: 0, variables: Self.webhook(server)) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            let session = try await walk.begin()
            try await walk.upload(session)
            try await walk.complete(session)
            func pass(_ time: String, to status: String) async throws {
                try await verifying.passTime(time)
                let isThere = try await eventually {
                    try await verifying.stage.rows("SELECT status FROM verifications") == status
                }
                #expect(isThere, "\(status)")
            }
            if step.status == "expired" { try await pass("31 s", to: "overdue") }
            let killing = try await victim.beginKilling(("verifications", "NEW.status = '\(step.status)'"), outcome)
            try await pass(step.after, to: step.status)
            try await killing.value
            #expect(victim.isKilled)
            if step.status == "overdue" { try await pass("24 h", to: "expired") }
            _ = try await verifying.decided.atLeast(1)
            try await verifying.checkThatNoPictureIsLeft()
            #expect(verifying.outcomes(for: walk.person) == ["failed"])
            #expect(Set(verifying.notices.heard.map(\.notificationID)).count == 1)
            #expect(try await verifying.stage.rows("SELECT tries FROM verifications") == "0", "it costs no try")
        }
        await server.stop()
    }

    @Test(arguments: photoCases)
    func aProfilesPhotoIsResumedOnceAndLeavesNothing(moment: PhotoMoment, outcome: CommitOutcome) async throws {
        try await Verifying.run(replicas: 0, variables: ["VERIFICATION_MODERATION": "staff"]) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            let photo = try await verifying.media.arrived(walk.person)
            let killing = try await victim.beginKilling(moment.commit, outcome)
            try await walk.show([photo])
            try await walk.approve(photo)
            _ = try await verifying.shown.atLeast(1)
            try await walk.show([])
            _ = try await verifying.shown.atLeast(2)
            try await killing.value
            #expect(victim.isKilled)
            try await verifying.checkThatEverythingIsSent()
            try await verifying.checkThatNoPictureIsLeft()
            let told = Dictionary(verifying.shown.heard.map { ($0.personSequence, $0.photo) }) { first, _ in first }
            let photos = told.sorted { $0.key < $1.key }.map(\.value)
            // Another replica may listen at another port, so that the photo has another address.
            #expect(photos.last == .some(nil) && photos.dropLast().allSatisfy { $0 != nil })
            #expect(photos.count == Set(photos.map(\.?.address)).count, "profile is told of no address twice")
            let acts = "SELECT string_agg(act, ',' ORDER BY act) FROM audit"
            #expect(try await verifying.stage.rows(acts) == "media_destroyed,photo_reviewed")
        }
    }

    /// Recovery, which the test stands in for, repeats what was not answered, with the ID that it chose.
    @Test(arguments: evidenceCases)
    func evidenceIsResumedOnceAndLeavesNothing(moment: EvidenceMoment, outcome: CommitOutcome) async throws {
        try await Verifying.run(replicas: 0) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let caseID = Identifier.ordered()
            let walk = Walk(verifying)
            var killing: Task<Void, any Error>?
            if moment.commit != nil { killing = try await victim.beginKilling(moment.commit, outcome) }
            switch moment {
            case .bodyArrives: walk.interruption = { try await victim.killInBody(of: $0) }
            case .keyIsWritten: walk.interruption = { try await victim.killBehindKey(of: $0) }
            default: break
            }
            let media = try await walk.sendEvidence(to: caseID)
            if moment == .keyIsGone { killing = try await victim.beginKilling(nil, outcome) }
            try await walk.end(caseID)
            try await killing?.value
            #expect(victim.isKilled)
            try await verifying.checkThatNoPictureIsLeft()
            let reason = "SELECT details::jsonb->>'reason' FROM audit WHERE details::jsonb->>'media' = '\(media)'"
            #expect(try await verifying.stage.rows(reason) == "case_over")
        }
    }

    /// The judge said that it has no verdict yet. The process is killed as it notes when to ask again.
    @Test func aJudgeIsAskedByOneChainOfRequests() async throws {
        let server = try ProviderServer(.answers(status: 202, body: ""))
        try await Verifying.run(judge: "webhook", replicas: 0, variables: Self.webhook(server)) { verifying in
            let victim = Victim(verifying)
            try await victim.start()
            let walk = Walk(verifying)
            let session = try await walk.begin()
            try await walk.upload(session)
            let question = "destination = 'verification-judge'"
            try await victim.closeGate(
                "outbox", "NEW.\(question) AND NEW.due_at > NEW.created_at + interval '1 s'")
            let killing = Loop.spawn { try await victim.killAtGate(.done) }
            try await walk.complete(session)
            try await killing.value
            let asked = server.requests.count
            try await verifying.stage.rows("UPDATE outbox SET due_at = clock_timestamp() WHERE \(question)")
            #expect(try await eventually { server.requests.count > asked })
            let isNoted = try await eventually {
                let pending = "SELECT count(*) FROM outbox WHERE \(question) AND due_at <= clock_timestamp()"
                return try await verifying.stage.rows(pending) == "0"
            }
            #expect(isNoted)
            #expect(try await verifying.stage.rows("SELECT count(*) FROM outbox WHERE \(question)") == "1")
        }
        await server.stop()
    }

    private static func webhook(_ server: ProviderServer) -> [String: String] {
        [
            "VERIFICATION_WEBHOOK_URL": server.url + "/judge",
            "VERIFICATION_WEBHOOK_KEY": "a key that only the test has, 32+",
        ]
    }

    /// The moments are those between any two answers that one of several people got, so others are in the middle of a step.
    @Test(arguments: 0..<Rounds.count(1, prove: 50)) func verificationSurvivesRandomKills(round: Int) async throws {
        try await Verifying.run(replicas: 0) { verifying in
            let environment = verifying.stage.environment.merging(["LOG_LEVEL": "error"]) { $1 }
            var program = try ServiceProgram("VerificationService", environment)
            var (untilKill, kills) = (Int.random(in: 1...3), 0)
            let walks = (0..<4).map { _ in
                Walk(verifying) {
                    untilKill -= 1
                    guard untilKill == 0 else { return }
                    (untilKill, kills) = (Int.random(in: 2...5), kills + 1)
                    program.killAtOnce()
                    program = try ServiceProgram("VerificationService", environment)
                }
            }
            let tasks = walks.map { walk in
                Loop.spawn {
                    let session = try await walk.begin()
                    try await walk.upload(session)
                    try await walk.complete(session)
                }
            }
            for task in tasks { try await task.value }
            program.killAtOnce()
            try await verifying.resume()
            let all = Set(walks.map(\.person))
            let areDecided = try await eventually { Set(verifying.decided.heard.map(\.personID)) == all }
            #expect(areDecided && kills > 2)
            try await verifying.checkThatNothingIsLeft(of: all)
        }
    }
}

/// The process that is killed, and the gate at which its transaction waits.
@Loop private final class Victim {
    private let verifying: Verifying
    private var program: ServiceProgram?
    private(set) var isKilled = false

    private var stage: ServiceStage { verifying.stage }

    init(_ verifying: Verifying) { self.verifying = verifying }

    func start() async throws {
        let environment = stage.environment.merging(["LOG_LEVEL": "error"]) { $1 }
        program = try ServiceProgram("VerificationService", environment)
    }

    private func killAndResume() async throws {
        program?.killAtOnce()
        isKilled = true
        try await verifying.resume()
    }

    /// Kills the process while a row is committed, or when the key of the picture is gone.
    func beginKilling(
        _ commit: (table: String, condition: String)?, _ outcome: VerificationKillTests.CommitOutcome
    ) async throws -> Task<Void, any Error> {
        guard let commit else { return Loop.spawn { try await self.killWhenKeyIsGone() } }
        try await closeGate(commit.table, commit.condition)
        return Loop.spawn { try await self.killAtGate(outcome) }
    }

    /// Kills the process once AWS has carried out an operation. It gets no answer.
    func beginKilling(_ operation: String, _ aws: AWSServer) -> Task<Void, any Error> {
        aws.unanswered = operation
        return Loop.spawn { try await self.killUnanswered(operation, aws) }
    }

    private func killUnanswered(_ operation: String, _ aws: AWSServer) async throws {
        let isThere = try await eventually { !aws.requests(of: operation).isEmpty }
        try #require(isThere, "AWS is not asked")
        aws.unanswered = nil
        try await killAndResume()
    }

    // MARK: While a transaction commits

    func closeGate(_ table: String, _ condition: String) async throws {
        try await stage.rows(
            """
            CREATE TABLE gate (state text NOT NULL);
            INSERT INTO gate VALUES ('closed');
            CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = verification AS $$
            BEGIN
                WHILE (SELECT state FROM gate) = 'closed' LOOP PERFORM pg_sleep(0.005); END LOOP;
                IF (SELECT state FROM gate) = 'torn' THEN RAISE 'undone'; END IF;
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER gate AFTER INSERT OR UPDATE ON \(table) DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION wait_at_gate()
            """)
    }

    func killAtGate(_ outcome: VerificationKillTests.CommitOutcome) async throws {
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'
            """
        let isThere = try await eventually { try await self.stage.rows(waiting) == "1" }
        try #require(isThere, "nothing comes to the gate")
        program?.killAtOnce()
        try await stage.rows("UPDATE gate SET state = '\(outcome == .done ? "open" : "torn")'")
        let isOver = try await eventually { try await self.stage.rows(waiting) == "0" }
        try #require(isOver)
        try await stage.rows("DROP FUNCTION wait_at_gate CASCADE; DROP TABLE gate")
        try await killAndResume()
    }

    // MARK: Between two transactions

    func killInBody(of url: String) async throws {
        let (media, picture) = (verifying.media, MediaStage.picture)
        let process = try #require(program?.process)
        let client = try await media.sendAllButOneByte(of: picture, to: url)
        let hasBegun = try await eventually { !media.arriving(in: process, atLeast: 100_000).isEmpty }
        try #require(hasBegun)
        try await killAndResume()
        _ = try? await client.readToEnd()
    }

    /// A pipe that nobody reads lies where the bytes are written. So the process waits there, with the key on the disk.
    func killBehindKey(of url: String) async throws {
        let media = verifying.media
        let id = try #require(URLComponents(string: url)?.path.split(separator: "/").last.map(String.init))
        let folder = "\(media.blobs)/\(id.suffix(2))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(mkfifo("\(folder)/\(id).part", 0o600) == 0)
        let sending = Loop.spawn { _ = try? await media.send(MediaStage.picture, to: url) }
        let isWritten = try await eventually {
            media.files.contains { $0.hasPrefix("keys/captures") && $0.hasSuffix(id) }
        }
        try #require(isWritten)
        try await killAndResume()
        try await sending.value
    }

    /// The bytes of the picture are then still there, or just gone.
    private func killWhenKeyIsGone() async throws {
        let media = verifying.media
        let isGone = try await eventually { !media.files.contains { $0.hasPrefix("keys") } }
        try #require(isGone)
        try await killAndResume()
    }
}

/// A person who is verified, and repeats each unanswered call.
@Loop private final class Walk {
    let person = Identifier.random()
    /// Sends the first upload in the caller's place.
    var interruption: ((String) async throws -> Void)?
    private let verifying: Verifying
    private let afterAnswer: () throws -> Void

    init(_ verifying: Verifying, afterAnswer: @escaping () throws -> Void = {}) {
        (self.verifying, self.afterAnswer) = (verifying, afterAnswer)
    }

    func begin() async throws -> Identifier { try #require(try await beginSession().sessionId) }

    func beginSession() async throws -> VerificationBegun {
        let consent = BiometricConsent(biometric: true, textVersion: "7", at: .now())
        return try await ask(BeginVerification(consent: consent))
    }

    func beginDocument() async throws -> Identifier {
        let consent = DocumentConsent(document: true, textVersion: "8", at: .now())
        return try #require(try await ask(BeginDocumentVerification(consent: consent)).sessionId)
    }

    /// A reviewer verifies the person by the photo.
    func review(_ session: Identifier) async throws {
        let decision = DecideVerification(sessionId: session, verdict: "verified")
        _ = try await ask(decision, as: .random(), role: "staff")
    }

    /// A reviewer verifies the document.
    func decide(_ session: Identifier) async throws {
        let decision = DecideDocument(sessionId: session, verdict: "verified")
        _ = try await ask(decision, as: .random(), role: "staff")
    }

    func upload(_ session: Identifier, side: String? = nil) async throws {
        let capture = AddCapture(
            sessionId: session, side: side, contentType: "image/png", length: Int64(MediaStage.picture.count))
        while true {
            let url: String
            do {
                url = try await ask(capture).uploadUrl
            } catch let error as any BusErrorConvertible where error.busError.code == "idempotency_answer_gone" {
                // It was promised, and the reply was lost.
                continue
            }
            // The listener starts a moment after the replica is ready.
            guard url.hasPrefix("http") else {
                try await verifying.stage.rows("DELETE FROM upload_counts")
                continue
            }
            if let interruption {
                self.interruption = nil
                try await interruption(url)
            } else if let sent = try? await verifying.media.send(MediaStage.picture, to: url), sent.status == 204 {
                return try afterAnswer()
            }
        }
    }

    /// Sends evidence until an upload succeeds. Each attempt has an ID of its own.
    ///
    /// - Returns: the ID of the picture that arrived.
    func sendEvidence(to caseID: Identifier) async throws -> Identifier {
        while true {
            let promise = PromiseEvidence(
                mediaID: .random(), caseID: caseID, side: "claimant", contentType: "image/png",
                length: Int64(MediaStage.picture.count))
            let url = try await askAsRecovery(promise).uploadURL
            // The listener starts a moment after the replica is ready.
            guard url.hasPrefix("http") else { continue }
            if let interruption {
                self.interruption = nil
                try await interruption(url)
            } else if let sent = try? await verifying.media.send(MediaStage.picture, to: url), sent.status == 204 {
                return promise.mediaID
            }
        }
    }

    func end(_ caseID: Identifier) async throws {
        _ = try await askAsRecovery(EvidenceEnded(personID: caseID, personSequence: 1))
    }

    /// Gives the profile these photos.
    func show(_ photos: [Identifier]) async throws { _ = try await ask(PutPhotos(photos: photos)) }

    /// A reviewer approves a photo.
    func approve(_ photo: Identifier) async throws {
        _ = try await ask(DecidePhoto(mediaId: photo, verdict: "approved"), as: .random(), role: "staff")
    }

    func withdraw() async throws { _ = try await ask(WithdrawVerificationConsent()) }

    /// Auth says that the person is gone.
    func delete() async throws {
        let deleted = AccountDeleted(personID: person, personSequence: 1, deletedAt: .now())
        let auth = try verifying.stage.asking(as: .auth)
        _ = try await untilAnswered {
            try await auth.call(deleted, of: .verification, CallOptions(timeout: .seconds(10)))
        }
    }

    private func askAsRecovery<Request: BusRequest>(_ request: Request) async throws -> Request.Reply {
        let recovery = try verifying.stage.asking(as: .recovery)
        return try await untilAnswered { try await recovery.call(request, CallOptions(timeout: .seconds(10))) }
    }

    func complete(_ session: Identifier, expecting statuses: [String] = ["processing", "verified"]) async throws {
        let view = try await ask(CompleteVerification(sessionId: session, testVerdict: "verified"))
        #expect(statuses.contains(view.status))
    }

    private func ask<Request: BusRequest>(
        _ request: Request, as other: Identifier? = nil, role: Role = .user
    ) async throws -> Request.Reply {
        let key = Request.rules.effect == .once ? "\(Identifier.random())" : nil
        let reply = try await untilAnswered {
            try await verifying.ask(request, other ?? person, role: role, key: key)
        }
        try afterAnswer()
        return reply
    }

    private func untilAnswered<Reply>(_ ask: () async throws -> Reply) async throws -> Reply {
        while true {
            do { return try await ask() } catch let error as any BusErrorConvertible
                where ["service_unavailable", "overloaded", "deadline_exceeded"].contains(error.busError.code)
            {
                try await Loop.sleep(for: .milliseconds(20))
            }
        }
    }
}

extension Verifying {
    /// Another replica takes the place of one that was killed.
    fileprivate func resume() async throws {
        try await stage.addReplica()
        try await stage.untilReady()
        // What the killed one had in hand is free at once, and not when its thirty seconds are over.
        try await stage.rows("UPDATE outbox SET locked_until = NULL")
    }

    /// The document is verified, once, and no byte and no key of it is left.
    fileprivate func checkThatNothingIsLeft(of person: Identifier) async throws {
        try await checkThatEverythingIsSent()
        #expect(decided.heard.allSatisfy { $0.level == "id" })
        #expect(outcomes(for: person) == ["in_review", "verified"])
        let row = "SELECT status, media_id IS NULL AND back_media_id IS NULL FROM id_verifications"
        #expect(try await stage.rows(row) == "verified|t")
        #expect(try await stage.rows("SELECT count(*) FROM audit WHERE act = 'verification_decided'") == "2")
        #expect(try await stage.rows("SELECT count(*) FROM audit WHERE act = 'verification_reviewed'") == "1")
        try await checkThatNoPictureIsLeft()
    }

    /// Everybody is verified, once, and no byte and no key of them is left.
    fileprivate func checkThatNothingIsLeft(of people: Set<Identifier>) async throws {
        try await checkThatEverythingIsSent()
        // An event that was told and not noted is told again, with its number.
        let told = Set(decided.heard.map { "\($0.personID) \($0.personSequence) \($0.outcome)" })
        #expect(told == Set(people.map { "\($0) 1 verified" }))
        #expect(
            try await stage.rows(
                "SELECT count(*) FROM verifications WHERE status = 'verified' AND media_id IS NULL AND tries = 1")
                == "\(people.count)")
        #expect(
            try await stage.rows("SELECT count(*) FROM audit WHERE act = 'verification_decided'") == "\(people.count)")
        try await checkThatNoPictureIsLeft()
    }

    /// What profile was told, each event once and in the order of their numbers.
    fileprivate func outcomes(for person: Identifier) -> [String] {
        #expect(decided.heard.allSatisfy { $0.personID == person })
        // The notice to the person has a number, too.
        let told = Dictionary(decided.heard.map { ($0.personSequence, $0.outcome) }) { first, _ in first }
        return told.sorted { $0.key < $1.key }.map(\.value)
    }

    fileprivate func checkThatEverythingIsSent() async throws {
        let unsent = "SELECT count(*) FROM outbox WHERE destination NOT LIKE 'timer:%'"
        #expect(try await eventually { try await stage.rows(unsent) == "0" })
    }

    fileprivate func checkThatNoPictureIsLeft() async throws {
        let late = "key_destroyed_at IS NULL AND due_at > now() + interval '30 s'"
        let waiting = try await stage.rows("SELECT count(*) FROM destructions WHERE \(late)")
        #expect(waiting == "0", "no key waits for a minute")
        // What never arrived whole ends by its time.
        try await stage.rows("UPDATE media SET expires_at = now(); UPDATE destructions SET due_at = now()")
        try await media.untilDestroyed()
        #expect(media.files == [])
        #expect(
            try await stage.rows(
                """
                SELECT count(*) - count(DISTINCT details::jsonb ->> 'media') FROM audit WHERE act = 'media_destroyed'
                """) == "0", "each destruction is noted once")
    }
}
