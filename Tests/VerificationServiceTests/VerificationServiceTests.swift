import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import VerificationService

@Suite @Loop struct VerificationServiceTests {
    @Test func theExportOfAPersonWithoutPicturesIsEmpty() async throws {
        try await Verifying.run { verifying in
            let page = try await verifying.ask(ExportVerification(after: nil), .random())
            #expect(page.records == [] && page.next == nil)
        }
    }

    @Test func theExportHasTheCaptureAndLaterTheVerdict() async throws {
        try await Verifying.run(judge: "staff") { verifying in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person)
            func export(_ kind: String, _ member: String) async throws -> [String?] {
                let page = try await verifying.ask(ExportVerification(after: nil), person)
                #expect(page.next == nil && page.records.allSatisfy { !$0.contains("signature") })
                let records = try page.records.map { try JSONValue.parse(Array($0.utf8)) }
                return records.filter { $0["kind"] == .string(kind) }.map { $0[member]?.stringValue }
            }
            #expect(try await export("media", "purpose") == ["verification"])
            #expect(try await export("verifications", "status") == ["manual_review"])
            let decision = DecideVerification(sessionId: session, verdict: "verified")
            _ = try await verifying.ask(decision, .random(), role: .staff, key: "a decision of staff")
            #expect(try await export("media", "purpose") == [])
            #expect(try await export("verifications", "status") == ["verified"])
        }
    }

    @Test func aDeclinedVerificationIsReportedAndLeavesNoRow() async throws {
        try await Verifying.run { verifying in
            let person = Identifier.random()
            for consent in [nil, BiometricConsent(biometric: false, textVersion: "1", at: .now())] {
                let begun = try await verifying.begin(person, consent)
                #expect(begun.status == "declined" && begun.sessionId == nil && begun.prompts.isEmpty)
                #expect(!begun.hasOtherSuccess)
            }
            #expect(try await verifying.decided.atLeast(2).map(\.outcome) == ["declined", "declined"])
            #expect(try await verifying.stage.rows("SELECT count(*) FROM verifications") == "0")
            #expect(try await verifying.captures() == 0)
        }
    }

    @Test func aPhotoThatTheJudgeAcceptsVerifiesThePerson() async throws {
        try await Verifying.run(replicas: 2) { verifying in
            let (person, session) = try await verifying.uploaded()
            let life =
                "SELECT expires_at - clock_timestamp() <= interval '24 hours' FROM media WHERE purpose = 'verification'"
            #expect(try await verifying.stage.rows(life) == "t")
            let view = try await verifying.complete(session, person)
            #expect(view.status == "processing" && view.attemptsLeft == 2)
            let decided = try await verifying.decided.atLeast(1)
            #expect(decided.map(\.outcome) == ["verified"] && decided.map(\.level) == ["photo"])
            #expect(try await verifying.ask(GetVerification(sessionId: session), person).status == "verified")
            #expect(try await verifying.complete(session, person).status == "verified", "a repetition changes nothing")
            #expect(try await verifying.captures() == 0)
            #expect(try await verifying.begin(person).status == "verified")
            let consent = try await verifying.stage.rows(
                """
                SELECT consent_version, consent_locale, is_consent_in_force,
                    consent_given_at > clock_timestamp() - interval '1 min' FROM verifications
                """)
            #expect(consent == "7|sv|t|t")
            let page = try await verifying.ask(ExportVerification(after: nil), person)
            #expect(page.records.count == 2, "the verification, and how many uploads there were today")
        }
    }

    @Test func theSharedRouteTakesThePicturesOfTheSessionThatWaitsForThem() async throws {
        try await Verifying.run { verifying in
            let person = Identifier.random()
            let length = Int64(MediaStage.picture.count)
            func upload(_ kind: String, _ side: String? = nil, _ type: String = "image/png") -> CreateUpload {
                CreateUpload(kind: kind, side: side, contentType: type, length: length)
            }
            let photo = try #require(try await verifying.begin(person).sessionId)
            let document = try #require(try await verifying.beginDocument(person).sessionId)
            for kind in ["verification", "document"] {
                await #expect(throws: VerificationWorkflow.over, "another person's session waits") {
                    try await verifying.ask(upload(kind), .random(), key: "of another person")
                }
            }
            let evidence = await #expect(throws: BusError.self) {
                try await verifying.ask(upload("recovery_evidence"), person, key: "evidence")
            }
            #expect(evidence?.code == "validation_failed")
            await #expect(throws: BusError(.unsupportedMediaType, "Please send the picture as JPEG or PNG.")) {
                try await verifying.ask(upload("verification", nil, "image/heic"), person, key: "heic")
            }
            for (kind, side) in [("verification", nil), ("document", "front"), ("document", "back")] {
                // The listener starts a moment after the replica is ready.
                var url = ""
                while !url.hasPrefix("http") {
                    try await verifying.stage.rows("DELETE FROM upload_counts")
                    url = try await verifying.ask(upload(kind, side), person, key: "\(Identifier.random())").uploadUrl
                }
                #expect(try await verifying.media.send(MediaStage.picture, to: url).status == 204)
            }
            let kept = (try await verifying.captures(.verification), try await verifying.captures(.document))
            #expect(kept == (1, 2))
            #expect(try await verifying.complete(document, person).status == "manual_review")
            #expect(try await verifying.complete(photo, person).status == "processing")
            #expect(try await verifying.decided.atLeast(2).map(\.outcome).sorted() == ["in_review", "verified"])
        }
    }

    @Test func theLocalJudgeRefusesAPictureOfTooLittleQuality() async throws {
        try await Verifying.run { verifying in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person, verdict: nil)
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["failed"])
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "quality_too_low" && view.attemptsLeft == 2)
            #expect(try await eventually { verifying.waits == [1, 0] })
        }
    }

    @Test func reviewersDecideAfterThreeFailuresAndEachLookIsAudited() async throws {
        try await Verifying.run { verifying in
            let person = Identifier.random()
            var session = person
            for number in 1...3 {
                session = try await verifying.uploaded(person).session
                _ = try await verifying.complete(session, person, verdict: "quality_too_low")
                #expect(try await verifying.decided.atLeast(number).count == number)
            }
            #expect(verifying.decided.heard.map(\.outcome) == ["failed", "failed", "in_review"])
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "manual_review" && view.attemptsLeft == 0 && view.message.hasPrefix("Vi granskar"))
            #expect(try await verifying.captures() == 1, "reviewers see the third photo")
            let (staff, other) = (Identifier.random(), Identifier.random())
            let queue = try await verifying.ask(ListVerificationReviews(), staff, role: .staff).reviews
            #expect(queue.map(\.sessionId) == [session] && queue.map(\.attempts) == [3])
            var url = ""
            for reviewer in [staff, staff, other] {
                let review = try await verifying.ask(
                    GetVerificationReview(sessionId: session), reviewer, role: .staff)
                url = try #require(review.captureUrl)
                let shown = try await verifying.media.get(url)
                #expect(shown.status == 200 && shown.headers["cache-control"] == "no-store")
            }
            #expect(!verifying.stage.log.text.contains("signature"))
            let looks = "SELECT count(*) FROM audit WHERE act = 'capture_seen'"
            #expect(try await verifying.stage.rows(looks) == "2", "a repeated request is one look")
            try await verifying.stage.rows(
                "SET session_replication_role = replica; UPDATE audit SET at = at - interval '1 minute'")
            _ = try await verifying.ask(GetVerificationReview(sessionId: session), other, role: .staff)
            #expect(try await verifying.stage.rows(looks) == "3")
            let decision = DecideVerification(sessionId: session, verdict: "verified")
            await #expect(throws: BusError.self) { try await verifying.ask(decision, person, role: .admin, key: "1") }
            verifying.bearers.isActive = false
            await #expect(throws: BusError.self, "whose session has ended sees no photo") {
                try await verifying.ask(GetVerificationReview(sessionId: session), staff, role: .staff)
            }
            await #expect(throws: BusError.self, "and decides nothing") {
                try await verifying.ask(decision, staff, role: .staff, key: "2")
            }
            verifying.bearers.isActive = true
            _ = try await verifying.ask(decision, staff, role: .staff, key: "a decision of staff")
            #expect(try await verifying.decided.atLeast(4).last?.outcome == "verified")
            #expect(try await verifying.notices.atLeast(1).map(\.kind) == ["verification_decided"])
            #expect(try await verifying.captures() == 0)
            #expect(try await verifying.media.get(url).status == 404, "nobody sees it any more")
            let events = try verifying.decided.text + verifying.notices.text
            for canary in [MediaStage.canary, "signature", url] { #expect(!events.contains(canary)) }
        }
    }

    @Test func aWithdrawalDestroysThePhotoAndKeepsTheTimeOfTheVerdict() async throws {
        try await Verifying.run(judge: "staff") { verifying in
            let (person, session) = try await verifying.uploaded()
            #expect(try await verifying.complete(session, person).status == "manual_review")
            _ = try await verifying.ask(WithdrawVerificationConsent(), person)
            #expect(try await verifying.decided.atLeast(2).map(\.outcome) == ["in_review", "declined"])
            #expect(try await verifying.captures() == 0)
            let again = try await verifying.uploaded(person).session
            _ = try await verifying.complete(again, person)
            let decision = DecideVerification(sessionId: again, verdict: "verified")
            _ = try await verifying.ask(decision, .random(), role: .staff, key: "a decision of staff")
            _ = try await verifying.ask(WithdrawVerificationConsent(), person)
            let row = try await verifying.stage.rows(
                "SELECT status, verified_at IS NOT NULL, is_consent_in_force FROM verifications")
            #expect(row == "verified|t|f")
        }
    }

    @Test func anUnjudgedVerificationExpiresAndRefusesLateVerdicts() async throws {
        try await Verifying.run(judge: "staff", replicas: 2) { verifying in
            let (person, session) = try await verifying.uploaded()
            _ = try await verifying.complete(session, person)
            try await verifying.passTime("24 h")
            #expect(try await verifying.decided.atLeast(2).map(\.outcome) == ["in_review", "failed"])
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "expired" && view.attemptsLeft == 3, "the try is given back")
            let decision = DecideVerification(sessionId: session, verdict: "verified")
            await #expect(throws: BusError.self) {
                try await verifying.ask(decision, .random(), role: .staff, key: "a decision of staff")
            }
            #expect(try await verifying.captures() == 0)
        }
    }

    @Test func aVerdictAfterTheHardStopComesByPush() async throws {
        try await Verifying.run { verifying in
            let (person, session) = try await verifying.uploaded()
            try verifying.media.setKeys(away: true)
            #expect(try await verifying.complete(session, person).status == "processing")
            try await verifying.passTime("31 s")
            let view = try await eventually {
                try await verifying.ask(GetVerification(sessionId: session), person).status == "inconclusive"
            }
            #expect(view && verifying.decided.heard.isEmpty)
            try verifying.media.setKeys(away: false)
            #expect(try await verifying.decided.atLeast(1).map(\.outcome) == ["verified"])
            #expect(try await verifying.notices.atLeast(1).map(\.personID) == [person])
            #expect(try await eventually { verifying.waits == [0, 1] })
        }
    }

    @Test func theLocalJudgeIsRefusedOutsideDevelopment() async throws {
        try await Verifying.run { verifying in
            var environment = verifying.stage.environment
            environment["VESTIBULE_PROFILE"] = "production"
            let error = #expect(throws: ConfigurationError.self) {
                _ = try ServiceContainer(verifying.stage.definition, environment: environment) { _ in }
            }
            #expect(error?.description.contains("VERIFICATION_JUDGE") == true)
        }
    }
}

/// The service as it is, with a gateway that asks it, and profile and auth that listen.
@Loop struct Verifying {
    let media: MediaStage
    var stage: ServiceStage { media.stage }
    let decided = EventRecorder<VerificationDecided>()
    let shown = EventRecorder<PhotoChanged>()
    let notices = EventRecorder<NotifyPerson>()
    let bearers = Bearers()

    nonisolated static func run(
        judge: String = "local", replicas: Int = 1, variables: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (Verifying) async throws -> Void
    ) async throws {
        try await MediaStage.run(judge: judge, replicas: replicas, variables: variables) { media in
            let verifying = Verifying(media: media)
            try media.stage.answering(as: .profile, verifying.decided, verifying.shown)
            try media.stage.answering(as: .auth, verifying.notices, verifying.bearers)
            try await body(verifying)
        }
    }

    /// How many people waited for the judge as long as they should, and how many longer.
    var waits: [Double?] {
        let gauges = stage.containers[0].ownGauges()
        return Verification.Wait.allCases.map { gauges["judgements_\($0.rawValue)"] }
    }

    func ask<Request: BusRequest>(
        _ request: Request, _ person: Identifier, role: Role = .user, key: String? = nil
    ) async throws -> Request.Reply {
        let actor = Actor(userID: person, sessionID: .ordered(), role: role)
        var options = CallOptions(timeout: .seconds(10), actor: actor, idempotencyKey: key)
        options.language = "sv"
        options.accessToken = Bearers.token(of: actor)
        return try await media.gateway.call(request, options)
    }

    @discardableResult func begin(
        _ person: Identifier, _ consent: BiometricConsent? = .init(biometric: true, textVersion: "7", at: .now())
    ) async throws -> VerificationBegun {
        try await ask(BeginVerification(consent: consent), person, key: "\(Identifier.random())")
    }

    /// Begins a verification by a document.
    func beginDocument(
        _ person: Identifier, _ consent: DocumentConsent? = .init(document: true, textVersion: "8", at: .now())
    ) async throws -> VerificationBegun {
        try await ask(BeginDocumentVerification(consent: consent), person, key: "\(Identifier.random())")
    }

    /// A person whose photo is uploaded.
    func uploaded(_ person: Identifier = .random()) async throws -> (person: Identifier, session: Identifier) {
        let begun = try await begin(person)
        let session = try #require(begun.sessionId)
        #expect(begun.status == "awaiting_capture" && begun.hasOtherSuccess && begun.prompts.count == 5)
        try await send(session, person)
        return (person, session)
    }

    /// A person whose document waits for a reviewer, with both sides.
    func documentInReview(_ person: Identifier = .random()) async throws -> (person: Identifier, session: Identifier) {
        let session = try #require(try await beginDocument(person).sessionId)
        for side in ["front", "back"] { try await send(session, person, side: side) }
        #expect(try await complete(session, person).status == "manual_review")
        return (person, session)
    }

    /// An upload of a session whose address is at the listener of a replica.
    func promised(_ session: Identifier, _ person: Identifier, side: String? = nil) async throws -> String {
        let capture = AddCapture(
            sessionId: session, side: side, contentType: "image/png", length: Int64(MediaStage.picture.count))
        // The listener starts a moment after the replica is ready.
        while true {
            try await stage.rows("DELETE FROM upload_counts")
            let url = try await ask(capture, person, key: "\(Identifier.random())").uploadUrl
            if url.hasPrefix("http") { return url }
        }
    }

    func send(_ session: Identifier, _ person: Identifier, side: String? = nil) async throws {
        let url = try await promised(session, person, side: side)
        #expect(try await media.send(MediaStage.picture, to: url).status == 204)
    }

    /// How many captures are kept.
    func captures(_ purpose: MediaPurpose = .verification) async throws -> Int? {
        Int(try await stage.rows("SELECT count(*) FROM media WHERE purpose = '\(purpose.rawValue)'"))
    }

    /// - Parameter verdict: what the judge of development says; `nil` if it looks at the picture.
    func complete(
        _ session: Identifier, _ person: Identifier, verdict: String? = "verified"
    ) async throws -> VerificationView {
        try await ask(CompleteVerification(sessionId: session, testVerdict: verdict), person)
    }

    /// Lets everybody's sessions and their timers be older.
    func passTime(_ interval: String, _ tier: Tier = .photo) async throws {
        let table = tier == .photo ? "verifications" : "id_verifications"
        try await stage.rows("UPDATE \(table) SET since = since - interval '\(interval)'")
        // A timer has the time for which it was set.
        let rows = try await stage.rows("SELECT person_id FROM \(table)")
        let person = try #require(Identifier(rows))
        // It may be that no replica runs in this process.
        let container = try ServiceContainer(stage.definition, environment: stage.environment) { _ in }
        let (database, keys) = (container.database, container.keys)
        defer { database.close() }
        database.start()
        try await database.waitUntilAvailable()
        let mediaStore = MediaStore(database: database, keys: keys, origin: MediaOrigin(base: ""))
        let workflow = VerificationWorkflow(
            store: VerificationStore(database: database), outbox: container.outbox, audit: container.audit,
            photos: PhotoStore(media: mediaStore, keys: keys), judge: nil)
        try await database.transaction { transaction in
            let due = try await workflow.store.locked(person, tier, in: transaction).verification.dueAt
            workflow.setTimer(of: person, tier, at: try #require(due), in: transaction)
        }
    }
}
