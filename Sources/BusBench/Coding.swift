import BusProtocol
import JSONText

/// Measures the writing and reading of a message, with `Codable` and with the code that `@Message` makes.
///
/// It prints nanoseconds of the best of seven rounds, since other load on the machine only adds time.
enum Coding {
    static func run() throws {
        let id = Identifier.random()
        try compare(
            "PutAnswer",
            PutAnswer(
                questionnaire: "yoked-compat", sessionId: id, question: "q7", mutationId: id, baseRevision: 3,
                state: .answered, value: "yes", clientTime: .now()))
        try compare(
            "Session",
            Session(
                accessToken: String(repeating: "a", count: 400), expiresInSeconds: 900,
                refreshToken: String(repeating: "r", count: 43), sessionId: id, deviceId: id, isNewUser: true,
                user: .init(id: id, onboardingStatus: "questionnaire_pending")))
        let answers = (0..<25).map {
            AnswerView(question: "q\($0)", state: .answered, value: "yes", revision: 1, answeredAt: .now())
        }
        try compare(
            "SessionView",
            SessionView(
                id: id, status: .inProgress,
                questionnaire: QuestionnaireReference(
                    key: "yoked-compat", version: 3, hash: String(repeating: "a", count: 64), title: "Together"),
                answers: answers, subjects: [],
                asked: answers.map { AskedQuestion(question: $0.question, required: true) },
                progress: QuestionnaireProgress(answered: 25, total: 25, requiredRemaining: 0, percentage: 100),
                next: nil, lastCompleted: nil, openedAt: .now()))
    }

    private static func compare<Message: MessageValue>(_ name: String, _ message: Message) throws {
        let bytes = message.jsonBytes
        let root = try JSONDocument(bytes).root
        let written = (try best { _ = try WireJSON.encode(message) }, best { _ = message.jsonBytes })
        let read = (
            try best { _ = try WireJSON.decode(Message.self, from: root) }, try best { _ = try Message(json: root) }
        )
        print(
            "\(name) \(bytes.count) bytes, write: Codable \(written.0) ns, made \(written.1) ns;",
            "read: Codable \(read.0) ns, made \(read.1) ns")
    }

    private static func best(_ work: () throws -> Void) rethrows -> Int64 {
        let repetitions: Int64 = 2000
        var least = Duration.seconds(3600)
        for _ in 0..<7 {
            least = min(least, try ContinuousClock().measure { for _ in 0..<repetitions { try work() } })
        }
        return (least / Int(repetitions)).components.attoseconds / 1_000_000_000
    }
}
