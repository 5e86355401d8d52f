import BusProtocol
import EventLoop
import JSONText

extension JudgeAnswers: MessageContract {
    static let canonical = JudgeAnswers(
        personID: Sample.person, app: "realsingles",
        answers: [ProfileExtract(field: "photo", value: "not-a-url at all")])
    static let minimal = JudgeAnswers(personID: Sample.person, answers: [ProfileExtract(field: "b", value: .null)])
    static let maximal = JudgeAnswers(
        personID: Sample.person, app: DraftSamples.longest,
        answers: (0..<JudgeAnswers.most).map { _ in
            ProfileExtract(field: DraftSamples.longest, value: ["nature", "Zoë’s ☕️"])
        })

    static let canonicalReply = AnswersJudged(
        refused: [
            RefusedAnswer(
                index: 0, code: "validation_failed", detail: "Must be an https address.", reason: "malformed")
        ], judgedAt: Sample.everyday)
    static let minimalReply = AnswersJudged(refused: [], judgedAt: Sample.earliest)
    static let maximalReply = AnswersJudged(
        refused: [
            RefusedAnswer(
                index: 199, code: "underage", detail: "You must be 18 to use Vestibule", reason: DraftSamples.longest,
                eligibleOn: CivilDate("2027-03-01"))
        ], judgedAt: Sample.latest)

    static let errors: [BusError] = []
    static let hasEffect = false
    static let clockMembers: Set<String> = ["judgedAt"]

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<JudgeAnswers> {
        let photo = ProfileExtract(field: "photo", value: "not-a-url at all")
        return Asked(JudgeAnswers(personID: try await profile.person(), answers: [photo]), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, JudgeAnswers>] = [:]
}

extension ProfileAnswersChanged: MessageContract {
    private static func sample(
        _ questionnaire: String, sequence: Int64, fields: [String], app: String? = nil, _ at: Timestamp
    ) -> ProfileAnswersChanged {
        ProfileAnswersChanged(
            personID: Sample.person, personSequence: sequence, sessionID: Sample.session, questionnaire: questionnaire,
            fields: fields, app: app, judgedAt: at)
    }

    static let canonical = sample(
        "realsingles-profile", sequence: 3, fields: ["bio", "photo"], app: "realsingles", Sample.everyday)
    static let minimal = sample("a", sequence: 0, fields: ["b"], Sample.earliest)
    static let maximal = sample(
        DraftSamples.longest, sequence: Sample.largestInteger,
        fields: (0..<500).map { _ in DraftSamples.longest }, app: DraftSamples.longest, Sample.latest)
    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<ProfileAnswersChanged> {
        func event(of person: Identifier) -> ProfileAnswersChanged {
            ProfileAnswersChanged(
                personID: person, personSequence: 1, sessionID: .ordered(), questionnaire: "realsingles-profile",
                fields: ["bio"], judgedAt: .now())
        }
        // Profile asks questionnaire for the answers, and must first find it on the bus.
        while true {
            let other = try await profile.person()
            if (try? await profile.reply(to: Asked(event(of: other), as: .questionnaire))) != nil { break }
            try await Loop.sleep(for: .milliseconds(10))
        }
        return Asked(event(of: try await profile.person()), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, ProfileAnswersChanged>] = [:]
}
