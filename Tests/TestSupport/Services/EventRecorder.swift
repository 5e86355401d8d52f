import BusProtocol
import BusRuntime
import EventLoop
import Foundation

/// Receives the events of one type in place of a service that subscribes to them.
@Loop package final class EventRecorder<Event: BusEvent>: RequestHandler {
    /// Too few events arrived in time.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var heard: [Event] = []

    package init() {}

    package func handle(_ request: Event, context: RequestContext) async throws -> Acknowledged {
        heard.append(request)
        return Acknowledged()
    }

    /// The events as JSON.
    package var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            return String(decoding: try encoder.encode(heard), as: UTF8.self)
        }
    }

    /// Waits for this many events and returns them.
    package func atLeast(_ count: Int, within limit: Duration = .seconds(30)) async throws -> [Event] {
        guard try await eventually(within: limit, { heard.count >= count }) else {
            throw Missing(description: "\(heard.count) of \(count) \(Event.type) arrived: \(heard)")
        }
        return heard
    }
}
