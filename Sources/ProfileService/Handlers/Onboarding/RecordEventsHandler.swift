import BusProtocol
import BusRuntime
import EventLoop

struct RecordEventsHandler: RequestHandler {
    let events: EventStore
    let limits: VisitorLimits
    let refused: RefusedEvents

    func handle(_ request: RecordEvents, context: RequestContext) async throws -> EventsRecorded {
        if let person = context.actor?.userID {
            return EventsRecorded(recorded: try await events.record(request.events, of: person))
        }
        guard let visitor = request.anonymousId else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [
                    .init(field: "anonymousId", code: "required", message: "This is needed before the sign-in.")
                ])
        }
        let (recorded, refusal) = try await events.record(
            request.events, ofVisitor: visitor, from: context.clientAddress, limits)
        if let refusal { refused.count(request.events.count, refusal) }
        return EventsRecorded(recorded: recorded)
    }
}

/// Counts the events of new visitors that this replica did not store, by the limit that was reached.
@Loop final class RefusedEvents {
    private var counts: [VisitorLimits.Refusal: Int] = [:]

    func count(_ events: Int, _ refusal: VisitorLimits.Refusal) { counts[refusal, default: 0] += events }

    /// The counts by gauge name, including counts of 0.
    var gauges: [String: Double] {
        Dictionary(
            uniqueKeysWithValues: VisitorLimits.Refusal.allCases.map {
                ("events_refused_\($0.rawValue)", Double(counts[$0] ?? 0))
            })
    }
}
