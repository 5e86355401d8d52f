import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport

@testable import QuestionnaireService

/// Questionnaire as it is, with the definition that is shipped.
@Loop struct QuestionnaireProvider: Provider {
    let stage: ServiceStage

    /// One answer to each required question.
    nonisolated static let required: [ResponseItem] = [
        ResponseItem(question: "relationshipGoal", value: "long_term"),
        ResponseItem(question: "coreValues", value: ["kindness", "family", "growth"]),
        ResponseItem(question: "familyPlans", state: .declined),
        ResponseItem(question: "sharedDecisions", value: 7),
        ResponseItem(question: "weekendRhythm", value: "outdoors"),
        ResponseItem(question: "socialEnergy", value: 4),
        ResponseItem(question: "smoking", value: "never"),
        ResponseItem(question: "conflictStyle", value: "talk_later"),
        ResponseItem(question: "keepingInTouch", value: 5),
        ResponseItem(question: "lovedBy", value: ["time", "touch", "words", "help", "gifts"]),
    ]

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (QuestionnaireProvider) async throws -> Void
    ) async throws {
        try await run(toldTo: Ears<SessionCompleted>(), body)
    }

    /// - Parameter profile: takes the events.
    nonisolated static func run(
        toldTo profile: some RequestHandler,
        _ body: @escaping @Loop @Sendable (QuestionnaireProvider) async throws -> Void
    ) async throws {
        try await ServiceStage.run(QuestionnaireBlueprint.blueprint) { stage in
            try stage.answering(as: .profile, profile)
            while try await stage.rows("SELECT count(*) FROM definitions") == "0" {
                try await Loop.sleep(for: .milliseconds(5))
            }
            try await body(QuestionnaireProvider(stage: stage))
        }
    }

    /// A request of one item for a new person.
    func item(_ item: ResponseItem, for person: Identifier = .random()) -> Asked<SubmitResponses> {
        Asked(SubmitResponses(answers: [item]), for: person, key: "key-\(Identifier.random())")
    }
}
