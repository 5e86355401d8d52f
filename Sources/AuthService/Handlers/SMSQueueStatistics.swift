import Database
import EventLoop
import ServiceRuntime

/// What operators see of the budget of SMS and of closed prefixes. Every replica sees the same.
@Loop final class SMSQueueStatistics {
    private let database: Database
    private let log: Log
    private let budget: SMSBudget
    /// By name, as metrics show them.
    private(set) var measures: [String: Double] = [:]
    /// Scopes that the log named in this hour.
    private var full: Set<String> = []

    init(database: Database, log: Log, budget: SMSBudget) {
        (self.database, self.log, self.budget) = (database, log, budget)
    }

    /// Looks once, and logs each scope in which nothing is left for strangers any more.
    func look() async throws {
        let used = try await SMSBudgetStore.used(in: database)
        measures = [
            "sms_budget_used": budget.share(of: used),
            "sms_prefixes_closed": Double(try await SMSBudgetStore.closedPrefixes(in: database)),
        ]
        let nowFull = budget.full(of: used)
        for scope in nowFull.subtracting(full).sorted() {
            log.warning("sms_budget", ["country": .string(scope == SMSBudget.all ? "all" : scope)])
        }
        full = nowFull
    }
}
