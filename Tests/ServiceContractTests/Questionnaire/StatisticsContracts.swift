import BusProtocol
import EventLoop
import JSONText
import Testing

extension GetStatistics: MessageContract {
    static let canonical = GetStatistics(questionnaire: "yoked-compat", version: "1")
    /// The statistics of the version in this build.
    static let current = GetStatistics(questionnaire: "yoked-compat", version: "3")
    static let minimal = GetStatistics(questionnaire: "a", version: "1")
    static let maximal = GetStatistics(questionnaire: DraftSamples.longest, version: "2147483647")
    static let canonicalReply = VersionStatistics(
        version: 1, sessions: 3, of: 3, completed: 1, questions: [QuestionStatistics(question: "smoking")])
    static let minimalReply = VersionStatistics(version: 1, sessions: 0, of: 0, completed: 0, questions: [])
    static var maximalReply: VersionStatistics {
        var all = QuestionStatistics(question: DraftSamples.longest)
        (all.shown, all.answered, all.skipped) = (Sample.largestInteger, 1, 2)
        (all.declined, all.acknowledged, all.dropOff, all.medianSeconds) = (3, 4, 5, 12.5)
        return VersionStatistics(
            version: 2_147_483_647, sessions: 5000, of: Sample.largestInteger, completed: 4999, questions: [all])
    }
    static let errors = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<GetStatistics> {
        _ = try await questionnaire.session(answers: [ResponseItem(question: "smoking", value: "never")])
        return DraftSamples.admin(current)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, GetStatistics>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

@Suite("questionnaire.get-statistics") @Loop struct GetStatisticsContractTests {
    @Test func statisticsCountSessionsAndAnswers() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            _ = try await questionnaire.session(answers: QuestionnaireProvider.required, complete: true)
            _ = try await questionnaire.session(answers: [
                ResponseItem(question: "relationshipGoal", value: "long_term"),
                ResponseItem(question: "causes", state: .skipped),
            ])
            // A stopped session counts up to its last step, like a paused one.
            let (stopped, person) = try await questionnaire.session()
            try await questionnaire.reply(
                to: Asked(StopSession(questionnaire: "yoked-compat", sessionId: stopped), for: person))
            let found = try await questionnaire.reply(to: DraftSamples.admin(GetStatistics.current))
            #expect(found.sessions == 3 && found.of == 3 && found.completed == 1 && found.questions.count == 25)
            let byKey = Dictionary(uniqueKeysWithValues: found.questions.map { ($0.question, $0) })
            #expect(byKey["relationshipGoal"]?.answered == 2 && byKey["relationshipGoal"]?.shown == 3)
            #expect(byKey["relationshipGoal"]?.dropOff == 1 && byKey["coreValues"]?.dropOff == 1)
            #expect(byKey["causes"]?.skipped == 1 && byKey["familyPlans"]?.declined == 1)
            #expect(byKey["causes"]?.medianSeconds != nil && byKey["preferredHair"]?.medianSeconds == nil)
        }
    }
}
