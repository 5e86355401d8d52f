import BusProtocol
import Database
import Documents
import EventLoop
import ServiceRuntime

/// The published plans. Each version is read once and then kept, because it never changes.
@Loop final class PlanStore {
    /// The name of the default app in the database.
    nonisolated static let defaultApp = ""

    private let store: DocumentStore
    private let library: FieldLibrary
    private let shipped: [EmbeddedFile]
    /// The key of the plan of people who name no app.
    nonisolated let defaultPlan: String
    private let overrides: PlanOverrides
    private let log: Log
    private var known: [PlanReference: Plan] = [:]
    /// The newest version of each plan that is not retired; `nil` until they were read.
    private var newest: [Plan]?
    /// The versions that this release cannot read. Each is logged once.
    private var unreadable = Set<PlanReference>()
    private var isImported = false

    /// - Parameters:
    ///   - shipped: the plans in this build.
    ///   - defaultPlan: the key of the plan of people who name no app.
    init(
        database: Database, library: FieldLibrary, shipped: [EmbeddedFile], defaultPlan: String,
        overrides: PlanOverrides, log: Log
    ) {
        store = DocumentStore(.plan, database: database)
        (self.library, self.shipped) = (library, shipped)
        (self.defaultPlan, self.overrides, self.log) = (defaultPlan, overrides, log)
    }

    /// One version of a plan.
    func plan(_ reference: PlanReference) async throws -> Plan {
        if let plan = known[reference] { return plan }
        guard let stored = try await store.stored(reference.key, version: reference.version) else {
            throw DatabaseError.unreadable(column: "content")
        }
        return try await parsed(stored)
    }

    /// A version of a plan by its key; `nil` if there is none.
    ///
    /// - Parameter version: `nil` for the newest version that is not retired.
    func plan(_ key: String, version: Int64?) async throws -> Plan? {
        guard let version else { return try await current().first { $0.reference.key == key } }
        if let plan = known[PlanReference(key: key, version: version)] { return plan }
        guard let stored = try await store.stored(key, version: version) else { return nil }
        return try await parsed(stored)
    }

    /// The newest version of the plan of an app that is not retired.
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
        for stored in try await store.current() {
            do {
                plans.append(try await parsed(stored))
            } catch let error as DocumentError {
                // The other plans stay in use. A newer release may have published what this one cannot read.
                let reference = PlanReference(key: stored.key, version: stored.version)
                guard unreadable.insert(reference).inserted else { continue }
                log.error("plan_not_readable", ["plan": .string(stored.key), "problem": .string(error.description)])
            }
        }
        newest = plans
        return plans
    }

    private func parsed(_ stored: DocumentStore.StoredVersion) async throws -> Plan {
        let reference = PlanReference(key: stored.key, version: stored.version)
        if let plan = known[reference] { return plan }
        let (content, library) = (Array(stored.content.utf8), library)
        let parsed = try await Loop.compute { try PlanParser.parse(PlanDocument(content), library) }
        let plan = reference.key == defaultPlan ? overrides.applied(to: parsed) : parsed
        known[reference] = plan
        return plan
    }

    /// Publishes the plans of this build that have no version yet. A newer version of a plan never starts by itself: an
    /// operator publishes it.
    ///
    /// It comes before any plan is checked or published, so that no other plan gets their keys, apps and entries.
    func importShipped() async throws {
        guard !isImported else { return }
        for file in shipped {
            let (bytes, library) = (file.bytes, library)
            let document = try await Loop.compute {
                let document = try PlanDocument(bytes)
                _ = try PlanParser.parse(document, library)
                return document
            }
            if try await store.publishFirst(document) {
                log.info("plan_published", ["plan": .string(document.key), "version": .integer(document.version)])
            }
        }
        isImported = true
    }
}
