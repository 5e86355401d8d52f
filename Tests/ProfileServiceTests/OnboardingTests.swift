import BusProtocol
import TestSupport
import Testing

@testable import ProfileService

@Suite("the way in") struct OnboardingTests {
    @Test func thePublicDocumentListsEveryStepAndCapability() {
        let steps = Onboarding.Step.allCases.filter { $0 != .phoneVerify }
        #expect(Me.schema.known("onboardingStep") == steps.map(\.rawValue).sorted())
        #expect(Me.schema.known("onboardingStatus") == OnboardingView.schema.known("onboardingStatus"))
        #expect(
            ProfileFieldView.schema.known("capabilities")
                == Plan.Capability.allCases.map(\.rawValue).sorted())
    }

    /// The table for an active person. It has a row for each step, and a column for each state of the visual
    /// preferences: not_started, in_progress, deferred, ready, insufficient.
    private static let active: [(step: String, columns: [(status: String, mode: String)])] = [
        (
            "phone_verify",
            [
                row("questionnaire_pending"), row("questionnaire_pending"), row("questionnaire_pending"),
                row("questionnaire_pending"), row("questionnaire_pending"),
            ]
        ),
        (
            "profile",
            [
                row("questionnaire_pending"), row("questionnaire_pending"), row("questionnaire_pending"),
                row("questionnaire_pending"), row("questionnaire_pending"),
            ]
        ),
        (
            "questionnaire",
            [
                row("questionnaire_pending"), row("questionnaire_pending"), row("questionnaire_pending"),
                row("questionnaire_pending"), row("questionnaire_pending"),
            ]
        ),
        (
            "verification",
            [
                row("vps_pending"), row("vps_pending"), row("verification_pending"),
                row("verification_pending"), row("vps_pending"),
            ]
        ),
        (
            "complete",
            [
                row("complete", "provisional"), row("complete", "provisional"), row("complete", "provisional"),
                row("complete", "full-confidence"), row("complete", "provisional"),
            ]
        ),
    ]
    private static func row(_ status: String, _ mode: String = "none") -> (status: String, mode: String) {
        (status, mode)
    }

    /// Checks all hundred combinations. None lacks an entry, and no account status that forbids matching leads to
    /// "complete" or to matching.
    @Test func everyRowOfTheTableHolds() throws {
        #expect(Onboarding.Step.allCases.map(\.rawValue) == Self.active.map(\.step))
        let columns = ["not_started", "in_progress", "deferred", "ready", "insufficient"]
        var combinations = 0
        for statusName in ["active", "non_matching", "suspended", "deleted"] {
            for (stepName, row) in Self.active {
                for (visualName, expected) in zip(columns, row) {
                    let isActive = statusName == "active"
                    let status = try #require(Onboarding.Status(rawValue: statusName))
                    let step = try #require(Onboarding.Step(rawValue: stepName))
                    let visual = try #require(Onboarding.VisualPreferences(rawValue: visualName))
                    let given = Comment("\(status) \(step) \(visual)")
                    #expect(
                        Onboarding.onboardingStatus(status, step, visual) == (isActive ? expected.status : "blocked"),
                        given)
                    #expect(
                        Onboarding.matchingMode(status, step, visual) == (isActive ? expected.mode : "none"), given)
                    combinations += 1
                }
            }
        }
        #expect(combinations == 100)
        #expect(Onboarding.Status.allCases.count * 25 == 100 && Onboarding.VisualPreferences.allCases.count == 5)
    }

    private static let today = CivilDate("2026-02-20")!

    private static func record(born: String = "1994-02-28", questionnaire: Bool = false) -> ProfileRecord {
        let now = Timestamp("2026-02-20T09:00:00Z")!
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        record.dateOfBirth = CivilDate(born)
        if questionnaire { record.questionnaires["yoked-compat"] = now }
        record.fields = [
            "displayName": .answered("Zoë"), "gender": .declined, "lookingFor": .answered(["everyone"]),
        ]
        return record
    }

    @Test func goesThroughTheStepsThatTheOperatorAsksFor() {
        let all = Plan.yoked()
        let none = Plan.yoked(verification: false, visual: false)
        var record = Self.record()
        #expect(Onboarding.current(of: record, all)?.key == "questionnaire")
        record.fields["displayName"] = nil
        #expect(Onboarding.current(of: record, all)?.key == "profile")
        record = Self.record(questionnaire: true)
        #expect(Onboarding.current(of: record, all)?.key == "visual_preferences")
        let view = Onboarding.view(of: record, all, today: Self.today)
        #expect(view.resumeAt == "visual_preferences" && view.steps.map(\.state).filter { $0 == "current" }.count == 1)
        let done = Onboarding.view(of: record, none, today: Self.today)
        #expect(done.onboardingStatus == "complete" && done.matchingMode == "full-confidence" && done.resumeAt == nil)
        #expect(done.steps.allSatisfy { $0.state == "done" } && done.steps.count == 3)
    }

    /// Nobody is complete past a step that the operator asks for, and verification is not asked for in its place.
    @Test func visualPreferencesAreAStepWithoutVerification() {
        let policy = Plan.yoked(verification: false)
        var record = Self.record(questionnaire: true)
        for visual in Onboarding.VisualPreferences.allCases {
            record.visualPreferences = visual
            let view = Onboarding.view(of: record, policy, today: Self.today)
            let isPassed = visual == .ready || visual == .deferred
            #expect(view.steps.map(\.key) == ["phone", "profile", "questionnaire", "visual_preferences"])
            #expect(view.resumeAt == (isPassed ? nil : "visual_preferences"), "\(visual)")
            #expect(view.onboardingStatus == (isPassed ? "complete" : "vps_pending"), "\(visual)")
            #expect(view.matchingMode == (isPassed ? visual == .ready ? "full-confidence" : "provisional" : "none"))
            let state = visual == .ready ? "done" : visual == .deferred ? "pending" : "current"
            #expect(view.steps.last?.state == state, "\(visual)")
        }
        #expect(Onboarding.current(of: Self.record(), policy)?.key == "questionnaire")
    }

    @Test(
        "a minor is blocked until the birthday",
        arguments: [("2008-02-20", nil), ("2008-02-21", "2026-02-21"), ("2008-02-29", "2026-03-01")]
            as [(String, String?)])
    func tooYoung(born: String, eligibleOn: String?) {
        let view = Onboarding.view(
            of: Self.record(born: born, questionnaire: true),
            Plan.yoked(verification: false, visual: false), today: Self.today)
        #expect(view.eligibleOn?.description == eligibleOn)
        #expect(view.onboardingStatus == (eligibleOn == nil ? "complete" : "blocked"))
        #expect(view.matchingMode == (eligibleOn == nil ? "full-confidence" : "none"))
    }

    /// Declined, the person goes on without matching, and a later verdict counts.
    @Test(arguments: [
        (Plan.Task.verification, "/verification/session"), (.idVerification, "/verification/document/session"),
    ])
    func decliningANeededVerificationPreventsMatching(task: Plan.Task, href: String) throws {
        let plan = task == .verification ? Plan.yoked(visual: false) : .byDocument
        var record = Self.record(questionnaire: true)
        record[verdictOf: task] = .declined
        let view = Onboarding.view(of: record, plan, today: Self.today)
        #expect(view.onboardingStatus == "blocked" && view.matchingMode == "none" && view.resumeAt == nil)
        #expect(view.onboardingStep == "complete" && view.steps.last?.state == "pending" && view.eligibleOn == nil)
        #expect(view.steps.last?.kind == task.rawValue && view.steps.last?.href == href)
        let needs = RequirementRules.requirements(of: record, plan, today: Self.today, now: .now())
        #expect(needs.match.disabledReason == "verification_declined" && needs.browse.disabledReason == nil)
        #expect(
            needs.fullConfidence?.disabledReason == "verification_declined"
                && needs.like.disabledReason == "requirements_due")
        #expect(needs.appAccess.disabledReason == nil)
        let reached = OnboardingEvent.reached(by: record, plan, today: Self.today)
        #expect(reached.contains(.ageVerified) && !reached.contains(.onboardingCompleted))
        for (verdict, status) in [
            (.verified, "complete"), (.inReview, "verification_pending"), (nil, "verification_pending"),
        ]
            as [(Onboarding.Verification?, String)]
        {
            record[verdictOf: task] = verdict
            #expect(Onboarding.view(of: record, plan, today: Self.today).onboardingStatus == status)
        }
        record[verdictOf: task] = .declined
        record.isBackfilled = true
        #expect(Onboarding.status(of: record, plan, today: Self.today) == .active, "a backfill stands for it")
    }

    /// A declined verification blocks no matching if the plan has no such step, or if no capability needs it.
    @Test func aVerificationThatNothingNeedsMayBeDeclined() {
        var record = Self.record(questionnaire: true)
        record.photoVerification = .declined
        for plan in [Plan.offeringVerification, Plan.yoked(verification: false)] {
            #expect(Onboarding.status(of: record, plan, today: Self.today) == .active)
            let reason = RequirementRules.requirements(of: record, plan, today: Self.today, now: .now()).match
                .disabledReason
            #expect(reason == "requirements_due", "the city")
        }
        record.dateOfBirth = CivilDate("2010-02-28")
        #expect(Onboarding.status(of: record, .offeringVerification, today: Self.today) == .nonMatching)
    }

    /// The number of screens, the account's among them.
    @Test(arguments: [("yoked", 13), ("realsingles", 13), ("skin-care", 2), ("eko-family", 2)] as [(String, Int64)])
    func theNumberOfStepsIsThePlans(key: String, steps: Int64) {
        let (plan, now) = (Plan.shipped(key), Timestamp("2026-02-20T09:00:00Z")!)
        let nobody = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        let completion = plan.completion.completion(of: nobody, now: now)
        #expect(completion.totalSteps == steps && completion.currentStep == 1)
        #expect(plan.catalogue.views.allSatisfy { $0.steps.map(\.step) == Array(1...steps) })
    }

    /// Nobody is matched, likes or writes without a verified photo, and everybody may look around.
    @Test(arguments: ["yoked", "realsingles"])
    func everyCapabilityButBrowsingNeedsAVerifiedPhoto(key: String) {
        let plan = Plan.shipped(key)
        #expect(plan.step(.verification)?.need == (key == "yoked" ? .required : .optional))
        for (capability, needs) in plan.capabilities {
            #expect(needs.due.contains("verification") == (capability != .browse), "\(capability)")
        }
    }

    @Test func migrationsAreThoseOfTheFolder() throws {
        #expect(try SourceFolder.migrations(of: "ProfileService") == ProfileMigrations.all)
    }
}
