import Database
import EventLoop
import ServiceRuntime

/// Measures the SMS budget and the closed prefixes for operators. Every replica measures the same.
@Loop final class SMSQueueStatistics {
    private let database: Database
    private let log: Log
    private let budget: SMSBudget
    /// The gauges, by name.
    private(set) var measures: [String: Double] = [:]
    /// The scopes that were full at the last measurement. They are not logged again.
    private var full: Set<String> = []

    init(database: Database, log: Log, budget: SMSBudget) {
        (self.database, self.log, self.budget) = (database, log, budget)
    }

    /// Measures once. Logs each scope that has run out for strangers since the last measurement.
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
