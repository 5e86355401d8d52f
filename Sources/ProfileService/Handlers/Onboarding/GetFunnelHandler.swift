import BusProtocol
import BusRuntime
import Database
import EventLoop

struct GetFunnelHandler: RequestHandler {
    let plans: PublishedPlans
    let statistics: Database

    /// The default range begins this many days before its last day.
    private static let span = 30
    /// The most days between the first and the last day.
    private static let longestSpan = 400

    func handle(_ request: GetFunnel, context: RequestContext) async throws -> Funnel {
        let to = request.to ?? Timestamp.now().date
        let from = request.from ?? CivilDate(daysSinceEpoch: to.daysSinceEpoch - Self.span)
        guard (0...Self.longestSpan).contains(to.daysSinceEpoch - from.daysSinceEpoch) else {
            throw Self.refusal("from", "From the first to the last day are 0 to \(Self.longestSpan) days.")
        }
        guard let key = request.plan else {
            let isOfPlan = request.version != nil || request.entry != nil
            guard !isOfPlan else { throw Self.refusal("plan", "Name the plan that this version or entry belongs to.") }
            return try await statistics.transaction { try await EventStore.funnel(from: from, to: to, in: $0) }
        }
        guard let plan = try await plans.plan(key, version: request.version) else {
            throw Self.refusal("plan", "There is no such plan, or it has no such version.")
        }
        return try await statistics.transaction {
            try await PlanProgressStore.funnel(of: plan, from: from, to: to, entry: request.entry, in: $0)
        }
    }

    private static func refusal(_ field: String, _ message: String) -> BusError {
        BusError(.validationFailed, message, errors: [.init(field: field, code: "not_allowed", message: message)])
    }
}
