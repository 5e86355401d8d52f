import BusProtocol
import BusRuntime
import EventLoop
import JSONText

/// The data that the check of a plan's draft needs beside the draft.
struct PlanGate: Sendable {
    let libraries: PublishedLibraries
    let bus: Bus

    /// Requests the keys of the questionnaires that can be begun. It returns `nil` without a request if the content
    /// names no questionnaire.
    ///
    /// - Throws: ``BusError`` `service_unavailable` if questionnaire does not answer.
    @Loop func questionnaires(of content: JSONValue, _ context: RequestContext) async throws -> Set<String>? {
        guard PlanNeighbours.areQuestionnairesNamed(in: content) else { return nil }
        let options = CallOptions(timeout: min(.seconds(2), context.remaining), trace: context.trace.child())
        do {
            return Set(try await bus.call(ListQuestionnaires(), options).questionnaires.map(\.key))
        } catch {
            throw error.answer(ifItPasses: Self.unknown)
        }
    }

    static let unknown = BusError(
        .serviceUnavailable, "The questionnaires cannot be read at the moment. Please try again.",
        retryAfter: .seconds(1))
}
