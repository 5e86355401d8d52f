import EventLoop
import ServiceRuntime

/// What operators see of the budget of SMS and of closed prefixes. Every replica sees the same.
@Loop final class SMSQueueStatistics {
    private let container: ServiceContainer
    private let budget: SMSBudget
    /// By name, as metrics show them.
    private(set) var measures: [String: Double] = [:]
    /// Scopes that the log named in this hour.
    private var full: Set<String> = []

    init(container: ServiceContainer, budget: SMSBudget) { (self.container, self.budget) = (container, budget) }

    /// Looks once, and logs each scope in which nothing is left for strangers any more.
    func look() async throws {
        let used = try await SMSBudgetStore.used(in: container.database)
        measures = [
            "sms_budget_used": budget.share(of: used),
            "sms_prefixes_closed": Double(try await SMSBudgetStore.closedPrefixes(in: container.database)),
        ]
        let nowFull = budget.full(of: used)
        for scope in nowFull.subtracting(full).sorted() {
            container.log.warning("sms_budget", ["country": .string(scope == SMSBudget.all ? "all" : scope)])
        }
        full = nowFull
    }
}
