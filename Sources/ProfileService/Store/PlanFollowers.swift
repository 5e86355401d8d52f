import Database
import EventLoop

/// Counts the people who follow the versions of a plan.
@Loop enum PlanFollowers {
    /// The number of people by version, each counted once for each app.
    static func byVersion(of plan: String, in transaction: Transaction) async throws -> [Int64: Int64] {
        let rows = try await transaction.query(count, [.text(plan)])
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.integer("version"), try $0.integer("people")) })
    }

    private static let count: Statement = """
        SELECT version, count(*) AS people FROM person_plans WHERE plan = $1 GROUP BY version
        """
}
