import BusProtocol
import TestSupport
import Testing

@testable import ProfileService

@Suite("the way in") struct OnboardingTests {
    /// Every step and state of the visual preferences of a person who is active.
    private static let active: [(Onboarding.Step, Onboarding.VisualPreferences, String, String)] = [
        (.profile, .notReady, "questionnaire_pending", "none"),
        (.profile, .deferred, "questionnaire_pending", "none"),
        (.profile, .ready, "questionnaire_pending", "none"),
        (.questionnaire, .notReady, "questionnaire_pending", "none"),
        (.questionnaire, .deferred, "questionnaire_pending", "none"),
        (.questionnaire, .ready, "questionnaire_pending", "none"),
        (.verification, .notReady, "vps_pending", "none"),
        (.verification, .deferred, "verification_pending", "none"),
        (.verification, .ready, "verification_pending", "none"),
        (.complete, .notReady, "complete", "provisional"),
        (.complete, .deferred, "complete", "provisional"),
        (.complete, .ready, "complete", "full-confidence"),
    ]

    @Test func theWholeTable() {
        var rows = 0
        for status in Onboarding.Status.allCases {
            for (step, visual, expected, mode) in Self.active {
                let isActive = status == .active
                #expect(
                    Onboarding.onboardingStatus(status, step, visual) == (isActive ? expected : "blocked"),
                    "\(status) \(step) \(visual)")
                #expect(
                    Onboarding.matchingMode(status, step, visual) == (isActive ? mode : "none"),
                    "\(status) \(step) \(visual)")
                rows += 1
            }
        }
        let all =
            Onboarding.Status.allCases.count * Onboarding.Step.allCases.count
            * Onboarding.VisualPreferences.allCases.count
        #expect(rows == all)
    }

    private static let today = CivilDate("2026-02-20")!

    private static func record(born: String = "1994-02-28", questionnaire: Bool = false) -> ProfileRecord {
        let now = Timestamp("2026-02-20T09:00:00Z")!
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        record.dateOfBirth = CivilDate(born)
        record.isQuestionnaireComplete = questionnaire
        record.fields = [
            "displayName": .answered("Zoë"), "gender": .declined, "lookingFor": .answered(["everyone"]),
        ]
        return record
    }

    @Test func goesThroughTheStepsThatTheOperatorAsksFor() {
        let all = Onboarding.Policy()
        let none = Onboarding.Policy(requiresVerification: false, requiresVisualSignal: false)
        var record = Self.record()
        #expect(Onboarding.step(of: record, all) == .questionnaire)
        record.fields["displayName"] = nil
        #expect(Onboarding.step(of: record, all) == .profile)
        record = Self.record(questionnaire: true)
        #expect(Onboarding.step(of: record, all) == .verification)
        let view = Onboarding.view(of: record, all, today: Self.today)
        #expect(view.resumeAt == "visual_preferences" && view.steps.map(\.state).filter { $0 == "current" }.count == 1)
        let done = Onboarding.view(of: record, none, today: Self.today)
        #expect(done.onboardingStatus == "complete" && done.matchingMode == "full-confidence" && done.resumeAt == nil)
        #expect(done.steps.allSatisfy { $0.state == "done" } && done.steps.count == 3)
    }

    @Test(
        "who is too young is blocked until the birthday",
        arguments: [("2008-02-20", nil), ("2008-02-21", "2026-02-21"), ("2008-02-29", "2026-03-01")]
            as [(String, String?)])
    func tooYoung(born: String, eligibleOn: String?) {
        let view = Onboarding.view(
            of: Self.record(born: born, questionnaire: true),
            Onboarding.Policy(requiresVerification: false, requiresVisualSignal: false), today: Self.today)
        #expect(view.eligibleOn?.description == eligibleOn)
        #expect(view.onboardingStatus == (eligibleOn == nil ? "complete" : "blocked"))
        #expect(view.matchingMode == (eligibleOn == nil ? "full-confidence" : "none"))
    }

    @Test func migrationsAreThoseOfTheFolder() throws {
        #expect(try SourceFolder.migrations(of: "ProfileService") == ProfileMigrations.all)
    }
}
