import BusProtocol
import BusRuntime
import EventLoop

struct RecordEventsHandler: RequestHandler {
    let events: EventStore

    func handle(_ request: RecordEvents, context: RequestContext) async throws -> EventsRecorded {
        let person = context.actor?.userID
        guard person != nil || request.anonymousId != nil else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [
                    .init(field: "anonymousId", code: "required", message: "This is needed before the sign-in.")
                ])
        }
        return EventsRecorded(
            recorded: try await events.record(request.events, person: person, anonymousID: request.anonymousId))
    }
}
