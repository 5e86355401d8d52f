import BusProtocol
import BusRuntime
import Cryptography
import Database
import Documents
import EventLoop
import ServiceRuntime

extension PlanVersionSummary {
    fileprivate init(_ row: DocumentStore.VersionRow, _ people: [Int64: Int64]) {
        self.init(
            version: row.version, hash: Hex.encode(row.hash), current: row.isCurrent, publishedAt: row.publishedAt,
            retiredAt: row.retiredAt, people: people[row.version] ?? 0)
    }
}

/// Lists the plans that new people follow.
struct ListPlansHandler: RequestHandler {
    let store: DocumentStore

    func handle(_ request: ListPlans, context: RequestContext) async throws -> PlanList {
        try context.requireAdmin()
        let current = try await store.current()
        return try await Loop.compute {
            PlanList(
                plans: try current.prefix(1000).map {
                    PlanSummary(
                        key: $0.key, version: $0.version, publishedAt: $0.publishedAt,
                        apps: try PlanDocument(Array($0.content.utf8)).file.apps)
                })
        }
    }
}

/// Lists the versions and drafts of a plan for an editor.
struct ViewPlanHandler: RequestHandler {
    let store: DocumentStore

    func handle(_ request: ViewPlan, context: RequestContext) async throws -> PlanOverview {
        try context.requireAdmin()
        let key = request.key
        return try await store.database.transaction { transaction in
            let people = try await PlanFollowers.byVersion(of: key, in: transaction)
            return PlanOverview(
                key: key,
                versions: try await store.rows(of: key, in: transaction).map { PlanVersionSummary($0, people) },
                drafts: try await store.drafts(of: key, in: transaction))
        }
    }
}

/// Shows one version of a plan.
struct GetPlanVersionHandler: RequestHandler {
    let drafts: DocumentDrafts

    func handle(_ request: GetPlanVersion, context: RequestContext) async throws -> PublishedPlan {
        try context.requireAdmin()
        let stored = try await drafts.version(request.version, of: request.key)
        return PublishedPlan(
            key: stored.key, version: stored.version, hash: Hex.encode(stored.hash), publishedAt: stored.publishedAt,
            plan: try await Loop.compute { try DocumentText.value(stored.content) })
    }
}

/// Retires a version of a plan.
struct RetirePlanVersionHandler: RequestHandler {
    let audit: AuditTrail
    let drafts: DocumentDrafts
    let plans: PublishedPlans

    func handle(_ request: RetirePlanVersion, context: RequestContext) async throws -> PlanVersionSummary {
        try context.requireAdmin()
        let key = request.key
        let retired = try await drafts.store.database.transaction { transaction in
            let row = try await drafts.retire(request.version, of: key, audit: audit, in: transaction)
            try await checkNewest(of: key, in: transaction)
            return PlanVersionSummary(row, try await PlanFollowers.byVersion(of: key, in: transaction))
        }
        plans.refresh()
        return retired
    }

    /// The version before the retired one is in use again. Meanwhile another plan may have got its app or entry.
    @Loop private func checkNewest(of key: String, in transaction: Transaction) async throws {
        let current = try await drafts.store.current(in: transaction)
        guard let newest = current.first(where: { $0.key == key })?.content else {
            guard key != plans.defaultPlan else {
                throw DocumentError("default_plan", "", "Nobody could sign in to the default app without its plan.")
                    .refusal("The last version of the default plan cannot be retired.")
            }
            return
        }
        let problems = try await Loop.compute {
            try PlanNeighbours(plans: current.map(\.content), questionnaires: nil).problems(
                in: PlanDocument(Array(newest.utf8)).file)
        }
        guard problems.isEmpty else {
            throw DocumentError(problems: problems).refusal("The version before it cannot be used again.")
        }
    }
}

/// Compares two versions of a plan and classifies each change.
struct ComparePlanVersionsHandler: RequestHandler {
    let drafts: DocumentDrafts
    let libraries: PublishedLibraries

    func handle(_ request: ComparePlanVersions, context: RequestContext) async throws -> VersionDifference {
        try context.requireAdmin()
        let both = try await drafts.versions(from: request.from, to: request.to, of: request.key)
        let library = try await libraries.current().library
        return try await Loop.compute {
            let difference = PlanDifference(
                from: try PlanDocument(both.old).file, to: try PlanDocument(both.new).file, library)
            return VersionDifference(
                from: both.from, to: both.to, changeClass: difference.changeClass?.rawValue,
                changes: difference.changes.map { VersionChange($0) })
        }
    }
}
