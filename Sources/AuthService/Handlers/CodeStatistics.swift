import Database
import EventLoop
import ServiceRuntime

/// Measures the budgets of codes and the closed prefixes for operators. Every replica measures the same.
@Loop final class CodeStatistics {
    private let database: Database
    private let log: Log
    private let limits: ChallengeLimits
    /// The gauges, by name.
    private(set) var measures: [String: Double] = [:]
    /// The scopes that were full at the last measurement. They are not logged again.
    private var full: Set<String> = []

    init(database: Database, log: Log, limits: ChallengeLimits) {
        (self.database, self.log, self.limits) = (database, log, limits)
    }

    /// Measures once. Logs each scope that has run out for strangers since the last measurement.
    func look() async throws {
        var used = try await SMSBudgetStore.used(in: database)
        let emails = used.removeValue(forKey: SMSBudget.emails) ?? 0
        measures = [
            "sms_budget_used": limits.budget.share(of: used),
            "email_budget_used": SMSBudget.share(emails, of: limits.emailsPerHour),
            "sms_prefixes_closed": Double(try await PrefixBreakerStore.closed(in: database)),
        ]
        var nowFull = limits.budget.full(of: used)
        if SMSBudget.isFull(emails, of: limits.emailsPerHour) { nowFull.insert(SMSBudget.emails) }
        for scope in nowFull.subtracting(full).sorted() {
            if scope == SMSBudget.emails {
                log.warning("email_budget")
            } else {
                log.warning("sms_budget", ["country": .string(scope == SMSBudget.all ? "all" : scope)])
            }
        }
        full = nowFull
    }
}
