import BusProtocol
import Documents
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("steps of a plan") struct PlanStepTests {
    private static let now = Timestamp("2026-02-20T09:00:00Z")!

    /// A random state for each step. A rule of this test says whether the step counts as passed.
    private static func person(
        _ plan: Plan, _ random: inout some RandomNumberGenerator
    ) -> (record: ProfileRecord, passed: [Bool]) {
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        var passed: [Bool] = []
        for step in plan.steps {
            switch step.kind {
            case .fields(let fields):
                var isPassed = true
                for field in fields where field.category == .required {
                    let isThere = Bool.random(using: &random)
                    isPassed = isPassed && isThere
                    guard isThere else { continue }
                    if field.isDateOfBirth { record.dateOfBirth = CivilDate("1990-01-01") }
                    record.fields[field.key] = Bool.random(using: &random) ? .declined : .answered("x")
                }
                passed.append(isPassed)
            case .questionnaire(let key):
                let isThere = Bool.random(using: &random)
                if isThere { record.questionnaires[key] = now }
                passed.append(isThere)
            case .task(.visualPreferences):
                record.visualPreferences = Onboarding.VisualPreferences.allCases.randomElement(using: &random)!
                passed.append(["ready", "deferred"].contains(record.visualPreferences.rawValue))
            case .task(.verification):
                record.photoVerification = [nil, .verified, .failed, .inReview].randomElement(using: &random)!
                passed.append(record.photoVerification?.rawValue == "verified")
            case .task(.idVerification):
                record.idVerification = [nil, .verified, .failed, .inReview].randomElement(using: &random)!
                passed.append(record.idVerification?.rawValue == "verified")
            case .terms(let terms):
                let isThere = Bool.random(using: &random)
                if isThere { for text in terms { record.consents[text.key] = now } }
                passed.append(isThere)
            case .operatorTask(let key):
                let isThere = Bool.random(using: &random)
                if isThere { record.operatorTasks.insert(key) }
                passed.append(isThere)
            }
        }
        return (record, passed)
    }

    /// The oracle goes through the states as they were drawn. It knows neither `isDone` nor `isPassed`.
    @Test func completionAgreesWithAnOracleForEveryStep() {
        var random = SystemRandomNumberGenerator()
        let plans = [
            Plan.yoked, .yoked(), .byDocument, .shipped("realsingles"), .shipped("skin-care"), .shipped("eko-family"),
        ]
        for plan in plans {
            for _ in 0..<Rounds.count(400, prove: 20_000) {
                let (record, passed) = Self.person(plan, &random)
                let open = zip(plan.steps, passed).first { $0.need == .required && !$1 }?.0.key
                let view = Onboarding.view(of: record, plan, today: CivilDate("2026-02-20")!)
                #expect(view.resumeAt == open)
                #expect((view.onboardingStatus == "complete") == (open == nil))
                #expect(view.steps.filter { $0.state == "current" }.map(\.key) == (open.map { [$0] } ?? []))
                #expect(view.plan == PlanVersion(key: plan.reference.key, version: plan.reference.version))
            }
        }
    }

    @Test func anAppWithoutMatchingOffersNoMatchCapability() {
        let plan = Plan.shipped("skin-care")
        var record = ProfileRecord(personID: .random(), createdAt: Self.now, updatedAt: Self.now)
        record.questionnaires["skin-care"] = Self.now
        let today = CivilDate("2026-02-20")!
        let view = Onboarding.view(of: record, plan, today: today)
        #expect(view.onboardingStatus == "complete" && view.matchingMode == "none")
        let needs = RequirementRules.requirements(of: record, plan, today: today, now: Self.now)
        #expect(needs.match.disabledReason == "not_offered" && needs.appAccess.disabledReason == nil)
    }
}
