import BusProtocol
import Database
import Documents
import EventLoop
import ServiceRuntime

/// The published plans. Each version is read once and then kept, because it never changes.
@Loop final class PublishedPlans {
    /// The name of the default app in the database.
    nonisolated static let defaultApp = ""

    private let store: DocumentStore
    private let libraries: PublishedLibraries
    private let files: [DocumentFile<PlanDocument>]
    /// The key of the plan for people whose app is not named.
    nonisolated let defaultPlan: String
    private let overrides: PlanOverrides
    private let log: Log
    private var known: [PlanReference: Plan] = [:]
    /// Older versions that people follow, beside the newest.
    private var followed: [PlanReference: Plan] = [:]
    /// The version of the library with which the known plans were read.
    private var libraryVersion: Int64 = 0
    /// The newest version of each plan that is not retired; `nil` until they were read.
    private var newest: [Plan]?
    /// The versions that this release cannot read. Each is logged once.
    private var unreadable = Set<PlanReference>()
    private var isImported = false

    /// - Parameters:
    ///   - files: the plans that the replica has at its start.
    ///   - defaultPlan: the key of the plan for people whose app is not named.
    init(
        database: Database, libraries: PublishedLibraries, files: [DocumentFile<PlanDocument>], defaultPlan: String,
        overrides: PlanOverrides, log: Log
    ) {
        store = DocumentStore(.plan, database: database)
        (self.libraries, self.files) = (libraries, files)
        (self.defaultPlan, self.overrides, self.log) = (defaultPlan, overrides, log)
    }

    /// A version that people follow, with what a newer one adds to it.
    func plan(_ reference: PlanReference) async throws -> Plan {
        // For nearly every request, everything is known, and it passes no further level of `await`.
        if libraries.isFresh, libraries.known.library.version == libraryVersion, let newest, let plan = known[reference]
        {
            return followed(plan, beside: newest)
        }
        let newest = try await current()
        return try await followed(version(reference), beside: newest)
    }

    /// The version for people who follow it, with what the newest version adds.
    private func followed(_ plan: Plan, beside newest: [Plan]) -> Plan {
        guard let newest = newest.first(where: { $0.reference.key == plan.reference.key }),
            newest.reference.version > plan.reference.version
        else { return plan }
        if let known = followed[plan.reference], known.additions?.newest === newest { return known }
        let made = plan.followed(beside: newest)
        followed[plan.reference] = made
        return made
    }

    private func version(_ reference: PlanReference) async throws -> Plan {
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
    func refresh() {
        newest = nil
        libraries.refresh()
    }

    /// Forgets the plans that were read with an older library. A newer one may relabel and widen their fields.
    private func followLibrary() async throws {
        let version = try await libraries.current().library.version
        if version != libraryVersion { (known, followed, newest, libraryVersion) = ([:], [:], nil, version) }
    }

    private func current() async throws -> [Plan] {
        try await followLibrary()
        if let newest { return newest }
        try await importFiles()
        var plans: [Plan] = []
        for stored in try await store.current() {
            do {
                plans.append(try await parsed(stored))
            } catch let error as DocumentError {
                // The other plans stay in use. A newer release may have published a plan that this one cannot read.
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
        let content = Array(stored.content.utf8)
        func read(with library: FieldLibrary) async throws -> Plan {
            try await Loop.compute { try PlanParser.parse(PlanDocument(content), library) }
        }
        let library = libraries.known.library
        let parsed: Plan
        do {
            parsed = try await read(with: library)
        } catch let error as DocumentError {
            // A newer library may have been published just before the plan.
            let newer = try await libraries.reread().library
            guard newer.version != library.version else { throw error }
            parsed = try await read(with: newer)
        }
        let plan = reference.key == defaultPlan ? overrides.applied(to: parsed) : parsed
        known[reference] = plan
        return plan
    }

    /// Offers the plans of files. A newer version of a plan never starts by itself: it becomes a draft, which an operator
    /// publishes.
    ///
    /// It comes before any plan is checked or published, so that no other plan gets their keys, apps and entries.
    ///
    /// - Throws: ``DocumentFileRefused`` if a file cannot be used.
    func importFiles() async throws {
        guard !isImported else { return }
        let library = try await libraries.current().library
        for file in files {
            let document = file.document
            try await DocumentOffer(file, to: store).start(log: log) { transaction in
                let current = try await store.current(in: transaction).map(\.content)
                return try await Loop.compute {
                    PlanPublication.problems(
                        in: document, library, beside: try PlanNeighbours(plans: current, questionnaires: nil))
                }
            }
        }
        isImported = true
    }

    /// Why no person can follow the default plan, for the operator; `nil` if people can.
    func defaultPlanProblem() async throws -> String? {
        let keys = try await current().map(\.reference.key)
        guard !keys.contains(defaultPlan) else { return nil }
        return "PROFILE_DEFAULT_PLAN names the plan \(defaultPlan), which is not there. The plans are "
            + keys.sorted().joined(separator: ", ") + "."
    }
}
