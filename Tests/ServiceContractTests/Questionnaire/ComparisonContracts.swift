import BusProtocol
import EventLoop
import JSONText
import Testing

extension CompareProfiles: MessageContract {
    static let canonical = CompareProfiles(
        questionnaire: "yoked-compat", first: Sample.person, second: Sample.session)
    static let minimal = CompareProfiles(questionnaire: "a", first: Sample.person, second: Sample.person)
    static let maximal = CompareProfiles(
        questionnaire: DraftSamples.longest, first: Sample.person, second: Sample.session)
    static let canonicalReply = ProfilesCompared(
        psychological: Likeness(score: 87.5, coverage: 100), physical: Likeness(score: 33.333, coverage: 50))
    static let minimalReply = ProfilesCompared(
        psychological: Likeness(score: nil, coverage: 0), physical: Likeness(score: nil, coverage: 0))
    static let maximalReply = ProfilesCompared(
        psychological: Likeness(score: 100, coverage: 100), physical: Likeness(score: 0, coverage: 100))
    static let errors: [BusError] = []
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<CompareProfiles> {
        let first = try await questionnaire.session(answers: QuestionnaireProvider.required, complete: true).person
        let second = try await questionnaire.session(answers: QuestionnaireProvider.required, complete: true).person
        return Asked(
            CompareProfiles(questionnaire: "yoked-compat", first: first, second: second), as: .profile)
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, CompareProfiles>] = [:]
}

@Suite("questionnaire.compare-profiles") @Loop struct CompareProfilesContractTests {
    @Test func equalAnswersScore100AndMissingOnesNothing() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let asked = try await CompareProfiles.everyday(questionnaire)
            let same = try await questionnaire.reply(to: asked)
            #expect(same.psychological == Likeness(score: 100, coverage: 100))
            #expect(same.physical == Likeness(score: nil, coverage: 0))
            let nobody = try await questionnaire.reply(
                to: Asked(
                    CompareProfiles(
                        questionnaire: "yoked-compat", first: asked.message.first, second: .random()), as: .profile))
            #expect(nobody == CompareProfiles.minimalReply)
        }
    }

    @Test func stoppedSessionsAreNotCompared() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let asked = try await CompareProfiles.everyday(questionnaire)
            let person = asked.message.second
            let list = try await questionnaire.reply(
                to: Asked(ListQuestionnaireSessions(questionnaire: "yoked-compat"), for: person))
            let session = try #require(list.sessions.first).id
            try await questionnaire.reply(
                to: Asked(ReopenSession(questionnaire: "yoked-compat", sessionId: session), for: person))
            #expect(try await questionnaire.reply(to: asked).psychological.score == 100)
            try await questionnaire.reply(
                to: Asked(StopSession(questionnaire: "yoked-compat", sessionId: session), for: person))
            #expect(try await questionnaire.reply(to: asked) == CompareProfiles.minimalReply)
        }
    }
}
