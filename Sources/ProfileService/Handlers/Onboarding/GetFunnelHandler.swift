import BusProtocol
import BusRuntime
import EventLoop

struct GetFunnelHandler: RequestHandler {
    let profile: ProfileContext

    /// The default range begins this many days before its last day.
    private static let span = 30
    /// The most days between the first and the last day.
    private static let longestSpan = 400

    func handle(_ request: GetFunnel, context: RequestContext) async throws -> Funnel {
        let to = request.to ?? profile.today
        let from = request.from ?? CivilDate(daysSinceEpoch: to.daysSinceEpoch - Self.span)
        guard (0...Self.longestSpan).contains(to.daysSinceEpoch - from.daysSinceEpoch) else {
            let message = "From the first to the last day are 0 to \(Self.longestSpan) days."
            throw BusError(
                .validationFailed, message, errors: [.init(field: "from", code: "not_allowed", message: message)])
        }
        return try await profile.events.funnel(from: from, to: to)
    }
}
