import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// The published plans. Each version is read once and then kept, because it never changes.
@Loop final class PlanStore {
    /// The name of the default app in the database.
    nonisolated static let defaultApp = ""

    private let database: Database
    private let library: FieldLibrary
    private let shipped: [EmbeddedFile]
    private let defaultPlan: String
    private let overrides: PlanOverrides
    private let log: Log
    private var known: [PlanReference: Plan] = [:]
    /// The newest version of each plan; `nil` until they were read.
    private var newest: [Plan]?
    private var isImported = false

    /// - Parameters:
    ///   - shipped: the plans in this build.
    ///   - defaultPlan: the key of the plan of people who name no app.
    init(
        database: Database, library: FieldLibrary, shipped: [EmbeddedFile], defaultPlan: String,
        overrides: PlanOverrides, log: Log
    ) {
        (self.database, self.library, self.shipped) = (database, library, shipped)
        (self.defaultPlan, self.overrides, self.log) = (defaultPlan, overrides, log)
    }

    /// One version of a plan.
    func plan(_ reference: PlanReference) async throws -> Plan {
        if let plan = known[reference] { return plan }
        let rows = try await database.read(Self.load, [.text(reference.key), .integer(reference.version)])
        guard let row = rows.first else { throw DatabaseError.unreadable(column: "content") }
        return try await parsed(row)
    }

    /// The newest version of the plan of an app.
    ///
    /// - Parameter app: `nil` for the default app.
    /// - Throws: ``BusError`` `app_unknown`.
    func current(for app: String?) async throws -> Plan {
        let plans = try await current()
        let plan = plans.first { app.map($0.apps.contains) ?? ($0.reference.key == defaultPlan) }
        guard let plan else { throw BusError(.appUnknown, "There is no such app.") }
        return plan
    }

    /// The age rules of all apps.
    func ages() async throws -> [Plan.AgeRule] { try await current().compactMap(\.age) }

    /// Forgets which versions are the newest, so that they are read again.
    func refresh() { newest = nil }

    private func current() async throws -> [Plan] {
        if let newest { return newest }
        try await importShipped()
        var plans: [Plan] = []
        for row in try await database.read(Self.newest, []) {
            let key = try row.text("plan")
            do {
                plans.append(try await parsed(row))
            } catch let error as PlanError {
                // The other plans stay in use. A newer release may have published what this one cannot read.
                log.error("plan_not_readable", ["plan": .string(key), "problem": .string(error.description)])
            }
        }
        newest = plans
        return plans
    }

    private func parsed(_ row: Row) async throws -> Plan {
        let reference = PlanReference(key: try row.text("plan"), version: try row.integer("version"))
        if let plan = known[reference] { return plan }
        let (content, library) = (Array(try row.text("content").utf8), library)
        let parsed = try await Loop.compute { try PlanParser.parse(content, library) }
        let plan = reference.key == defaultPlan ? overrides.applied(to: parsed) : parsed
        known[reference] = plan
        return plan
    }

    /// Publishes the plans of this build that have no version yet. A newer version of a plan never starts by itself: an
    /// operator publishes it.
    private func importShipped() async throws {
        guard !isImported else { return }
        for file in shipped {
            let (bytes, library) = (file.bytes, library)
            let (plan, text) = try await Loop.compute {
                (try PlanParser.parse(bytes, library), try PlanParser.canonicalText(bytes))
            }
            let rows = try await database.write(
                Self.publishFirst,
                [
                    .text(plan.reference.key), .integer(plan.reference.version), .bytes(SHA256.digest(text)),
                    .text(String(decoding: text, as: UTF8.self)),
                ])
            if !rows.isEmpty {
                log.info(
                    "plan_published",
                    ["plan": .string(plan.reference.key), "version": .integer(plan.reference.version)])
            }
        }
        isImported = true
    }

    private static let load: Statement = "SELECT plan, version, content FROM plans WHERE plan = $1 AND version = $2"
    private static let newest: Statement = """
        SELECT DISTINCT ON (plan) plan, version, content FROM plans ORDER BY plan, version DESC
        """
    private static let publishFirst: Statement = """
        INSERT INTO plans (plan, version, content_hash, content)
        SELECT $1, $2::bigint, $3::bytea, $4::text WHERE NOT EXISTS (SELECT FROM plans WHERE plan = $1)
        ON CONFLICT DO NOTHING RETURNING plan
        """
}
