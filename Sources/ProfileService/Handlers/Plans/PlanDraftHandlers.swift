import BusProtocol
import BusRuntime
import Cryptography
import Database
import Documents
import EventLoop
import JSONText
import ServiceRuntime

extension PlanDraft {
    fileprivate init(_ stored: DocumentStore.StoredDraft) {
        self.init(
            number: stored.number, revision: stored.revision, from: stored.copyOf, publishedAs: stored.publishedAs,
            updatedAt: stored.updatedAt, plan: stored.content)
    }
}

extension ServiceContainer {
    /// Creates, shows, replaces and deletes drafts of plans for their editors.
    func handlePlanDrafts(_ drafts: DocumentDrafts) {
        handle(
            AdminHandler { [inbox] (request: CreatePlanDraft, context) in
                let content = try await drafts.beginning(request.plan, copyOf: request.from, of: request.key)
                return try await inbox.once(context) {
                    .reply(
                        PlanDraft(try await drafts.store.create(content, copyOf: request.from, of: request.key, in: $0))
                    )
                }
            })
        handle(
            AdminHandler { (request: GetPlanDraft, _) in
                PlanDraft(try await drafts.draft(request.draft, of: request.key))
            })
        handle(
            AdminHandler { (request: PutPlanDraft, _) in
                PlanDraft(
                    try await drafts.replace(
                        request.draft, of: request.key, by: request.plan, ifMatch: request.ifMatch))
            })
        handle(
            AdminHandler { (request: DeletePlanDraft, _) in
                try await drafts.delete(request.draft, of: request.key)
                return NoContent()
            })
    }
}

/// Checks a draft of a plan against the rules for publishing.
struct CheckPlanDraftHandler: RequestHandler {
    let drafts: DocumentDrafts
    let gate: PlanGate
    let plans: PublishedPlans

    func handle(_ request: CheckPlanDraft, context: RequestContext) async throws -> DraftReport {
        try context.requireAdmin()
        try await plans.importFiles()
        let key = request.key
        let draft = try await drafts.draft(request.draft, of: key).content
        let questionnaires = try await gate.questionnaires(of: draft, context)
        let (earlier, current) = (try await drafts.versions(of: key), try await drafts.store.current())
        let library = try await gate.libraries.reread().library
        return try await Loop.compute {
            let report = PlanPublication.report(
                on: draft, of: key, after: earlier, library,
                beside: try PlanNeighbours(plans: current.map(\.content), questionnaires: questionnaires), now: .now())
            return DraftReport(findings: DocumentReport(problems: report.problems).findings)
        }
    }
}

/// Publishes a draft as the next version of a plan.
struct PublishPlanDraftHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let drafts: DocumentDrafts
    let gate: PlanGate
    let plans: PublishedPlans

    func handle(_ request: PublishPlanDraft, context: RequestContext) async throws -> PlanPublished {
        try context.requireAdmin()
        try await plans.importFiles()
        let (key, isOperator) = (request.key, context.caller == .operator)
        // Requests the questionnaires outside the transaction.
        let seen = try await drafts.find(request.draft, of: key)?.content
        let questionnaires = try await gate.questionnaires(of: seen ?? .null, context)
        let published: PlanPublished = try await inbox.once(context) { transaction in
            let (made, counts) = try await drafts.publish(
                request.draft, of: key, accepting: request.acceptClass, byOperator: isOperator, audit: audit,
                in: transaction
            ) { draft, earlier in
                // Somebody added the first questionnaire to the draft after it was read above.
                guard questionnaires != nil || !PlanNeighbours.areQuestionnairesNamed(in: draft) else {
                    throw PlanGate.unknown
                }
                let current = try await drafts.store.current(in: transaction).map(\.content)
                let library = try await gate.libraries.newest(in: transaction).use.library
                return try await Loop.compute {
                    let neighbours = try PlanNeighbours(plans: current, questionnaires: questionnaires)
                    return try PlanPublication(draft, of: key, after: earlier, library, beside: neighbours, now: .now())
                }
            } counts: { _ in
                ["people": try await PlanFollowers.byVersion(of: key, in: transaction).values.reduce(0, +)]
            }
            return .reply(PlanPublished(made, people: counts["people"] ?? 0))
        }
        plans.refresh()
        return published
    }
}

extension PlanPublished {
    fileprivate init(_ made: PlanPublication, people: Int64) {
        self.init(
            version: made.document.version, hash: Hex.encode(made.document.hash),
            changeClass: made.changeClass?.rawValue, people: people,
            changes: made.changes.prefix(VersionPublished.mostChanges).map { VersionChange($0) })
    }
}
