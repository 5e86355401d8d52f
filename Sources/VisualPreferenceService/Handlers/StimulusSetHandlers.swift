import BusProtocol
import BusRuntime
import Cryptography
import Database
import Documents
import EventLoop
import ServiceRuntime

extension StimulusSetDraft {
    fileprivate init(_ stored: DocumentStore.StoredDraft) {
        self.init(
            number: stored.number, revision: stored.revision, publishedAs: stored.publishedAs,
            updatedAt: stored.updatedAt, set: stored.content)
    }
}

/// Lists the versions and drafts of the stimulus set for an editor.
struct ViewStimulusSetsHandler: RequestHandler {
    let drafts: DocumentDrafts

    func handle(_ request: ViewStimulusSets, context: RequestContext) async throws -> StimulusSetOverview {
        try context.requireAdmin()
        let (store, key) = (drafts.store, StimulusSetDocument.key)
        return try await store.database.transaction { transaction in
            StimulusSetOverview(
                versions: try await store.rows(of: key, in: transaction).map {
                    StimulusSetVersionSummary(
                        version: $0.version, hash: Hex.encode($0.hash), publishedAt: $0.publishedAt)
                }, drafts: try await store.drafts(of: key, in: transaction))
        }
    }
}

/// Shows one version of the stimulus set.
struct GetStimulusSetHandler: RequestHandler {
    let drafts: DocumentDrafts

    func handle(_ request: GetStimulusSet, context: RequestContext) async throws -> PublishedStimulusSet {
        try context.requireAdmin()
        let stored = try await drafts.version(request.version, of: StimulusSetDocument.key)
        return PublishedStimulusSet(
            version: stored.version, hash: Hex.encode(stored.hash), publishedAt: stored.publishedAt,
            set: try await Loop.compute { try DocumentText.value(stored.content) })
    }
}

extension ServiceContainer {
    /// Creates, shows, checks and deletes drafts of the stimulus set for their editors.
    func handleSetDrafts(_ drafts: DocumentDrafts) {
        handle(
            AdminHandler { [inbox] (request: CreateStimulusSetDraft, context) in
                let content = try await drafts.beginning(request.set, copyOf: nil, of: StimulusSetDocument.key)
                return try await inbox.once(context) {
                    .reply(
                        StimulusSetDraft(
                            try await drafts.store.create(content, copyOf: nil, of: StimulusSetDocument.key, in: $0)))
                }
            })
        handle(
            AdminHandler { (request: GetStimulusSetDraft, _) in
                StimulusSetDraft(try await drafts.draft(request.draft, of: StimulusSetDocument.key))
            })
        handle(
            AdminHandler { (request: DeleteStimulusSetDraft, _) in
                try await drafts.delete(request.draft, of: StimulusSetDocument.key)
                return NoContent()
            })
        handle(
            AdminHandler { (request: CheckStimulusSetDraft, _) in
                let draft = try await drafts.draft(request.draft, of: StimulusSetDocument.key).content
                // Nothing in the gate depends on the version before.
                return try await Loop.compute {
                    DraftReport(findings: StimulusSetPublication.report(on: draft, after: nil).findings)
                }
            })
    }
}

/// Publishes a draft as the next version of the stimulus set.
struct PublishStimulusSetDraftHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let drafts: DocumentDrafts
    let sets: StimulusSets

    func handle(_ request: PublishStimulusSetDraft, context: RequestContext) async throws -> StimulusSetPublished {
        try context.requireAdmin()
        let isOperator = context.caller == .operator
        let published: StimulusSetPublished = try await inbox.once(context) { transaction in
            let made = try await drafts.publish(
                request.draft, of: StimulusSetDocument.key, accepting: request.acceptClass, byOperator: isOperator,
                audit: audit, in: transaction
            ) { draft, earlier in
                try await Loop.compute {
                    try StimulusSetPublication(draft, after: earlier.last.map { try StimulusSetDocument($0) })
                }
            } counts: { _ in
                [:]
            }
            return .reply(StimulusSetPublished(made.plan))
        }
        sets.refresh()
        return published
    }
}

extension StimulusSetPublished {
    fileprivate init(_ made: StimulusSetPublication) {
        self.init(
            version: made.document.version, hash: Hex.encode(made.document.hash),
            changeClass: made.changeClass?.rawValue,
            changes: made.changes.prefix(VersionPublished.mostChanges).map { VersionChange($0) })
    }
}
