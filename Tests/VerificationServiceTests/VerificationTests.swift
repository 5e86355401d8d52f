import BusProtocol
import Testing

@testable import VerificationService

/// The rules of a person's verification, without a service.
@Suite("verification") struct VerificationTests {
    static let start = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
    static let consent = Verification.Consent(textVersion: "1", locale: "en", givenAt: start)

    /// A verification, its clock, and what came of each event.
    struct Course: Hashable {
        var verification = Verification()
        var now = VerificationTests.start
        var told: [Verification.Outcome] = []
        var pushes = 0
        var destroyed: [Identifier] = []
        var asked = 0

        @discardableResult mutating func take(_ event: Verification.Event) throws -> Set<Verification.Effect> {
            let effects = try verification.apply(event, at: now)
            for effect in effects {
                switch effect {
                case .destroy(let media): destroyed.append(media)
                case .askJudge: asked += 1
                case .publish(let outcome): told.append(outcome)
                case .notify: pushes += 1
                }
            }
            return effects
        }

        @discardableResult mutating func begin() throws -> Identifier {
            let id = Identifier.random()
            try take(.agreed(VerificationTests.consent, id))
            return id
        }

        /// Begins a session and completes it.
        @discardableResult mutating func complete(byReviewersOnly: Bool = false) throws -> Identifier {
            let id = try begin()
            try take(.uploadReserved(.random()))
            try take(.completed(byReviewersOnly: byReviewersOnly))
            return id
        }
    }

    /// Source: document 001, "Verification Results".
    @Test(arguments: [
        (Verification.Status.verified, "You're verified!"),
        (.livenessFailed, "We couldn't verify liveness. Try again?"),
        (.qualityTooLow, "Photo quality too low. Better lighting?"),
        (.inconclusive, "Verification inconclusive. Contact support?"),
    ]) func eachVerdictHasItsMessage(status: Verification.Status, sentence: String) {
        let view = VerificationView(Verification(status: status, tries: 1), in: .named("en"))
        #expect(view.message == sentence && view.status == status.rawValue)
    }

    @Test func aCaptureThatTheJudgeAcceptsVerifiesThePerson() throws {
        var course = Course()
        let id = try course.complete()
        #expect(course.verification.status == .processing && course.asked == 1 && course.told == [])
        try course.take(.judged(id, .verified))
        #expect(course.verification.status == .verified && course.verification.verifiedAt == course.now)
        #expect(course.told == [.verified] && course.destroyed.count == 1 && course.pushes == 0)
        #expect(course.verification.media == nil && course.verification.triesLeft == 0)
        try course.take(.judged(id, .livenessFailed))
        try course.take(.declined)
        #expect(course.verification.status == .verified && course.told == [.verified], "there is one verdict")
    }

    @Test(arguments: [Verdict.livenessFailed, .qualityTooLow, .inconclusive])
    func reviewersDecideAfterThreeFailures(verdict: Verdict) throws {
        var course = Course()
        for left in [2, 1] {
            try course.take(.judged(try course.complete(), verdict))
            #expect(course.verification.status.rawValue == verdict.rawValue && course.verification.triesLeft == left)
        }
        let id = try course.complete()
        try course.take(.judged(id, verdict))
        #expect(course.verification.status == .manualReview && course.verification.triesLeft == 0)
        #expect(course.told == [.failed, .failed, .inReview] && course.destroyed.count == 2)
        #expect(try course.begin() != course.verification.session, "no session begins before they decide")
        #expect(throws: Verification.Refusal.unknown) { try course.take(.reviewed(.random(), .verified)) }
        try course.take(.reviewed(id, .verified))
        #expect(course.told.last == .verified && course.destroyed.count == 3 && course.pushes == 1)
        #expect(throws: Verification.Refusal.over) { try course.take(.reviewed(id, .livenessFailed)) }
    }

    @Test func reviewersDecideAtOnceAfterAFinalRefusal() throws {
        var course = Course()
        let id = try course.complete()
        try course.take(.judged(id, .livenessFailed, isFinal: true))
        #expect(course.verification.status == .manualReview && course.told == [.inReview])
        #expect(course.destroyed.isEmpty, "they see the capture")
        try course.take(.reviewed(id, .verified))
        #expect(course.told == [.inReview, .verified] && course.destroyed.count == 1)
    }

    @Test func aMissingCaptureCostsNoTry() throws {
        var course = Course()
        try course.take(.captureMissing(try course.complete()))
        #expect(course.verification.status == .expired && course.verification.triesLeft == 3)
        #expect(course.told == [.failed] && course.pushes == 0)
        let id = try course.complete()
        course.now = course.now + Verification.hardStop
        try course.take(.clock)
        try course.take(.captureMissing(id))
        #expect(course.verification.status == .expired && course.pushes == 1, "whoever stopped waiting gets a push")
    }

    @Test func anUncompletedCheckIsJudgedBeforeItExpires() throws {
        var course = Course()
        let id = try course.begin()
        course.now = course.now + .seconds(100)
        try course.take(.checkOpened("check"))
        #expect(try course.take(.checkOpened("another")) == [], "the first check stays")
        #expect(throws: Verification.Refusal.over) { try course.take(.uploadReserved(.random())) }
        course.now = course.now + .seconds(170)
        try course.take(.clock)
        #expect(course.verification.status == .processing && course.asked == 1 && course.verification.check == "check")
        try course.take(.judged(id, .verified))
        #expect(course.told == [.verified] && course.verification.check == nil && course.destroyed.isEmpty)
    }

    @Test func anUnrunCheckCostsNoTry() throws {
        var course = Course()
        let id = try course.begin()
        try course.take(.checkOpened("check"))
        try course.take(.completed(byReviewersOnly: false))
        try course.take(.captureMissing(id))
        #expect(course.verification.status == .expired && course.verification.triesLeft == 3)
    }

    /// A person whose checks were refused, up to the third or to a final one.
    static func refused(_ checks: Int, isFinal: Bool = false) throws -> Course {
        var course = Course()
        for number in 1...checks {
            let id = try course.begin()
            try course.take(.checkOpened("check of \(id)"))
            try course.take(.completed(byReviewersOnly: false))
            try course.take(.judged(id, .livenessFailed, isFinal: isFinal && number == checks))
        }
        return course
    }

    @Test(arguments: [(3, false), (1, true)])
    func afterTheLastRefusedCheckReviewersDecideByAPhoto(checks: Int, isFinal: Bool) throws {
        var course = try Self.refused(checks, isFinal: isFinal)
        #expect(course.verification.status == .livenessFailed && course.verification.triesLeft == 1)
        #expect(course.told == Array(repeating: .failed, count: checks))
        let id = try course.begin()
        #expect(throws: Verification.Refusal.over) { try course.take(.checkOpened("one more")) }
        try course.take(.uploadReserved(.random()))
        try course.take(.completed(byReviewersOnly: false))
        #expect(course.verification.status == .manualReview && course.verification.triesLeft == 0)
        #expect(course.told.last == .inReview && course.asked == checks, "no judge is asked")
        try course.take(.reviewed(id, .livenessFailed))
        #expect(course.verification.triesLeft == 0 && !course.verification.needsReviewers)
        #expect(try course.begin() != course.verification.session)
        course.now = course.now + Verification.newTriesAfter
        try course.begin()
        #expect(try course.take(.checkOpened("after a week")) == [] && course.verification.triesLeft == 3)
    }

    @Test func anUnreviewedPhotoCanBeTakenAgain() throws {
        var course = try Self.refused(3)
        try course.begin()
        course.now = course.now + Verification.captureTime
        try course.take(.clock)
        #expect(course.verification.status == .expired && course.verification.triesLeft == 1)
        try course.complete()
        course.now = try #require(course.verification.dueAt)
        try course.take(.clock)
        #expect(course.verification.status == .expired && course.verification.triesLeft == 1)
        try course.complete()
        #expect(course.verification.status == .manualReview)
    }

    @Test func aMissingReviewPhotoGivesNewTriesAfterAWeek() throws {
        var course = try Self.refused(3)
        course.now = course.now + Verification.newTriesAfter
        try course.begin()
        #expect(try course.take(.checkOpened("check")) == [] && course.verification.triesLeft == 3)
    }

    /// A person whose three photos were refused, the last one by reviewers.
    static func refusedByReviewers() throws -> Course {
        var course = Course()
        for _ in 0..<2 { try course.take(.judged(try course.complete(), .livenessFailed)) }
        let id = try course.complete()
        try course.take(.judged(id, .livenessFailed))
        try course.take(.reviewed(id, .livenessFailed))
        return course
    }

    @Test func aRefusalByReviewersGivesNewTriesAfterAWeek() throws {
        var course = try Self.refusedByReviewers()
        #expect(course.verification.triesLeft == 0)
        course.now = course.now + Verification.newTriesAfter - .seconds(1)
        #expect(try course.begin() != course.verification.session)
        course.now = course.now + .seconds(1)
        #expect(try course.begin() == course.verification.session)
        #expect(course.verification.triesLeft == 3)
    }

    @Test func aDeclineDelaysNoNewTries() throws {
        var course = try Self.refusedByReviewers()
        course.now = course.now + Verification.newTriesAfter - .seconds(1)
        try course.take(.declined)
        #expect(course.told.last == .declined && course.verification.triesLeft == 0)
        #expect(try course.take(.declined) == [], "a repetition changes nothing")
        try course.take(.withdrawn)
        #expect(try course.begin() != course.verification.session)
        course.now = course.now + .seconds(1)
        #expect(try course.begin() == course.verification.session)
    }

    @Test func anUnreviewedCaptureGivesTheTryBack() throws {
        var course = Course()
        try course.complete(byReviewersOnly: true)
        #expect(course.verification.status == .manualReview && course.told == [.inReview] && course.asked == 0)
        course.now = try #require(course.verification.dueAt)
        try course.take(.clock)
        #expect(course.verification.status == .expired && course.verification.triesLeft == 3)
        #expect(course.told == [.inReview, .failed] && course.pushes == 1 && course.destroyed.count == 1)
    }

    @Test func aLateVerdictIsPushedOnce() throws {
        var course = Course()
        let id = try course.complete()
        course.now = course.now + Verification.hardStop - .seconds(1)
        #expect(try course.take(.clock) == [] && course.verification.status == .processing)
        course.now = course.now + .seconds(1)
        try course.take(.clock)
        #expect(course.verification.status == .overdue && course.told == [])
        try course.take(.judged(id, .verified))
        try course.take(.judged(id, .verified))
        #expect(course.told == [.verified] && course.pushes == 1)
    }

    @Test func aWaitForTheJudgeCountsOnceUnlessThePersonEndsIt() throws {
        func waits(_ end: (Identifier) -> Verification.Event, after time: Duration) throws -> [Verification.Wait?] {
            var course = Course()
            let id = try course.complete()
            course.now = course.now + time
            return try [end(id), .judged(id, .verified)].map { event in
                let former = course.verification
                try course.take(event)
                return course.verification.wait(since: former, after: event, at: course.now)
            }
        }
        #expect(try waits({ .judged($0, .verified) }, after: Verification.judgeTime) == [.onTime, nil])
        #expect(try waits({ .judged($0, .verified) }, after: Verification.judgeTime + .seconds(1)) == [.late, nil])
        #expect(try waits({ _ in .clock }, after: Verification.hardStop) == [.late, nil])
        #expect(try waits({ .judgeGaveUp($0) }, after: .seconds(1)) == [.late, nil])
        #expect(try waits({ _ in .withdrawn }, after: .seconds(1)) == [nil, nil])
    }

    @Test func aNewSessionDropsTheVerdictOfAnOverdueOne() throws {
        var course = Course()
        let old = try course.complete()
        course.now = course.now + Verification.hardStop
        try course.take(.clock)
        let new = try course.begin()
        #expect(course.verification.session == new && course.verification.triesLeft == 3)
        #expect(try course.take(.judged(old, .verified)) == [])
        #expect(course.verification.status == .awaitingCapture && course.destroyed.count == 1)
    }

    @Test func withoutConsentOnlyTheDeclineIsKept() throws {
        var course = Course()
        try course.take(.declined)
        #expect(course.told == [.declined] && course.verification.session == nil && course.verification.consent == nil)
        #expect(throws: Verification.Refusal.over) { try course.take(.uploadReserved(.random())) }
        #expect(throws: Verification.Refusal.over) { try course.take(.completed(byReviewersOnly: false)) }
    }

    @Test func aWithdrawalDestroysTheCaptureAndKeepsTheTimeOfAVerdict() throws {
        var course = Course()
        try course.complete()
        try course.take(.withdrawn)
        #expect(course.told == [.declined] && course.destroyed.count == 1 && course.verification.consent == nil)
        #expect(try course.take(.withdrawn) == [], "a repetition changes nothing")
        try course.take(.judged(try course.complete(), .verified))
        let verifiedAt = course.verification.verifiedAt
        try course.take(.withdrawn)
        #expect(course.verification.status == .verified && course.verification.verifiedAt == verifiedAt)
        #expect(course.told == [.declined, .verified] && course.verification.consent == nil)
    }

    @Test func onlyReviewersDecideOnADocumentAndBothSidesAreDestroyed() throws {
        var course = Course(verification: Verification(tier: .id))
        for left in [2, 1, 0] {
            let id = try course.begin()
            try course.take(.uploadReserved(.random()))
            try course.take(.uploadReserved(.random(), isBack: true))
            let destroyed = course.destroyed.count
            try course.take(.uploadReserved(.random(), isBack: true))
            #expect(course.destroyed.count == destroyed + 1, "a retake of the back leaves the front alone")
            try course.take(.completed(byReviewersOnly: false))
            #expect(course.verification.status == .manualReview && course.asked == 0)
            try course.take(.reviewed(id, .rejected))
            #expect(course.verification.status == .rejected && course.verification.triesLeft == left)
            #expect(course.destroyed.count == destroyed + 3 && course.verification.pictures.isEmpty)
        }
        #expect(course.told == [.inReview, .failed, .inReview, .failed, .inReview, .failed] && course.pushes == 3)
        #expect(try course.begin() != course.verification.session, "no try is left")
        course.now = course.now + Verification.newTriesAfter
        let id = try course.begin()
        try course.take(.uploadReserved(.random()))
        try course.take(.completed(byReviewersOnly: false))
        try course.take(.reviewed(id, .verified))
        #expect(course.told.last == .verified && course.verification.verifiedAt == course.now)
    }

    @Test func anAbandonedJudgementCostsNoTry() throws {
        var course = Course()
        try course.take(.judgeGaveUp(try course.complete()))
        #expect(course.verification.status == .inconclusive && course.verification.triesLeft == 3)
        #expect(course.told == [.failed] && course.destroyed.count == 1)
    }

    @Test func aPersonBeginsAtMostTwentySessionsADay() throws {
        var course = Course()
        for _ in 0..<Verification.mostSessions { try course.begin() }
        course.now = course.now + .seconds(86_399)
        #expect(throws: Verification.Refusal.tooManySessions(wait: .seconds(1))) { try course.begin() }
        course.now = course.now + .seconds(1)
        #expect(try course.begin() == course.verification.session)
    }

    /// Every sequence of nine events from a person, a judge, a reviewer and the clock, where equal courses are walked once.
    @Test(arguments: Tier.allCases) func noSequenceOfEventsBreaksARule(tier: Tier) throws {
        var courses: Set<Course> = [Course(verification: Verification(tier: tier))]
        var walked = 0
        for step in 0..<9 {
            var next: Set<Course> = []
            for course in courses {
                for choice in 0..<15 {
                    var after = course
                    guard Self.move(&after, choice, step) else { continue }
                    Self.check(course, after)
                    walked += 1
                    // What was told does not steer what comes.
                    (after.told, after.destroyed, after.pushes, after.asked) = ([], [], 0, 0)
                    next.insert(after)
                }
            }
            courses = next
        }
        #expect(walked > (tier == .photo ? 10_000 : 1_000))
    }

    /// - Returns: false if the event was refused. Then nothing may have changed.
    private static func move(_ course: inout Course, _ choice: Int, _ step: Int) -> Bool {
        let before = course
        let session = course.verification.session ?? id(0)
        // Names are few, so that courses meet again.
        let fresh = session == id(1) ? id(2) : id(1)
        do {
            switch choice {
            case 0: try course.take(.agreed(consent, fresh))
            case 1: try course.take(.declined)
            case 2: try course.take(.withdrawn)
            case 3: try course.take(.uploadReserved(id(course.verification.media == id(3) ? 4 : 3)))
            case 4: try course.take(.completed(byReviewersOnly: false))
            case 5: try course.take(.completed(byReviewersOnly: true))
            case 6: try course.take(.judged(session, .verified))
            case 7: try course.take(.judged(session, .livenessFailed))
            case 8: try course.take(.judgeGaveUp(session))
            case 9: try course.take(.reviewed(session, step.isMultiple(of: 2) ? .verified : .inconclusive))
            case 10: try course.take(.judged(session, .livenessFailed, isFinal: true))
            case 11: try course.take(.captureMissing(session))
            case 12:
                guard course.verification.tier == .photo else { return false }
                try course.take(.checkOpened("check"))
            case 13:
                guard course.verification.tier == .id else { return false }
                try course.take(.uploadReserved(id(course.verification.back == id(5) ? 6 : 5), isBack: true))
            default:
                course.now = course.verification.dueAt ?? course.now + .seconds(3600)
                try course.take(.clock)
            }
            return true
        } catch {
            #expect(course == before, "a refusal changes nothing")
            return false
        }
    }

    private static func check(_ before: Course, _ after: Course) {
        let (old, new) = (before.verification, after.verification)
        #expect((0...Verification.mostTries).contains(new.tries) && (0...3).contains(new.triesLeft))
        let isOpen: Set<Verification.Status> = [.awaitingCapture, .processing, .overdue, .manualReview]
        #expect((new.dueAt != nil) == isOpen.contains(new.status), "whatever is open ends by itself")
        #expect(new.pictures.isEmpty || isOpen.contains(new.status), "a capture ends with its session")
        let isJudged = new.status == .processing || new.status == .overdue || after.asked > 0
        #expect(new.tier == .photo || !isJudged, "no judge sees a document")
        #expect(new.check == nil || isOpen.contains(new.status) && new.media == nil, "and so does a check")
        #expect(!new.needsReviewers || new.check == nil && new.status != .processing, "reviewers need a photo")
        #expect(!isOpen.contains(new.status) || new.consent != nil, "nothing is open without consent")
        #expect(old.verifiedAt == nil || old.verifiedAt == new.verifiedAt && new.status == .verified)
        #expect((new.status == .verified) == (new.verifiedAt != nil))
        for media in old.pictures { #expect(new.pictures.contains(media) || after.destroyed.contains(media)) }
        let verdicts: Set<Verification.Outcome> = [.verified, .failed, .inReview]
        let told = after.told.dropFirst(before.told.count)
        #expect(told.count <= 1)
        #expect(old.status != .verified || told.isEmpty, "never two verdicts")
        #expect(new.status != .overdue || !verdicts.contains { told.contains($0) })
    }

    private static func id(_ number: UInt8) -> Identifier {
        Identifier([UInt8](repeating: number, count: 16)) ?? .random()
    }
}
