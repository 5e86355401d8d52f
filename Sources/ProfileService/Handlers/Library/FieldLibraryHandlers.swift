import BusProtocol
import BusRuntime
import Cryptography
import Database
import Documents
import EventLoop
import ServiceRuntime

extension FieldLibraryDraft {
    fileprivate init(_ stored: DocumentStore.StoredDraft) {
        self.init(
            number: stored.number, revision: stored.revision, publishedAs: stored.publishedAs,
            updatedAt: stored.updatedAt, library: stored.content)
    }
}

/// Lists the versions and drafts of the library of fields for an editor.
struct ViewFieldLibraryHandler: RequestHandler {
    let drafts: DocumentDrafts

    func handle(_ request: ViewFieldLibrary, context: RequestContext) async throws -> FieldLibraryOverview {
        try context.requireAdmin()
        let (store, key) = (drafts.store, FieldLibraryDocument.key)
        return try await store.database.transaction { transaction in
            FieldLibraryOverview(
                versions: try await store.rows(of: key, in: transaction).map {
                    FieldLibraryVersionSummary(
                        version: $0.version, hash: Hex.encode($0.hash), publishedAt: $0.publishedAt)
                }, drafts: try await store.drafts(of: key, in: transaction))
        }
    }
}

/// Shows one version of the library of fields.
struct GetFieldLibraryVersionHandler: RequestHandler {
    let drafts: DocumentDrafts

    func handle(_ request: GetFieldLibraryVersion, context: RequestContext) async throws -> PublishedFieldLibrary {
        try context.requireAdmin()
        let stored = try await drafts.version(request.version, of: FieldLibraryDocument.key)
        return PublishedFieldLibrary(
            version: stored.version, hash: Hex.encode(stored.hash), publishedAt: stored.publishedAt,
            library: try await Loop.compute { try DocumentText.value(stored.content) })
    }
}

extension ServiceContainer {
    /// Creates, shows and deletes drafts of the library of fields for their editors.
    func handleLibraryDrafts(_ drafts: DocumentDrafts) {
        handle(
            AdminHandler { [inbox] (request: CreateFieldLibraryDraft, context) in
                let content = try await drafts.beginning(request.library, copyOf: nil, of: FieldLibraryDocument.key)
                return try await inbox.once(context) {
                    .reply(
                        FieldLibraryDraft(
                            try await drafts.store.create(content, copyOf: nil, of: FieldLibraryDocument.key, in: $0)))
                }
            })
        handle(
            AdminHandler { (request: GetFieldLibraryDraft, _) in
                FieldLibraryDraft(try await drafts.draft(request.draft, of: FieldLibraryDocument.key))
            })
        handle(
            AdminHandler { (request: DeleteFieldLibraryDraft, _) in
                try await drafts.delete(request.draft, of: FieldLibraryDocument.key)
                return NoContent()
            })
    }
}

/// Checks a draft of the library of fields against the rules for publishing.
struct CheckFieldLibraryDraftHandler: RequestHandler {
    let drafts: DocumentDrafts
    let libraries: PublishedLibraries

    func handle(_ request: CheckFieldLibraryDraft, context: RequestContext) async throws -> DraftReport {
        try context.requireAdmin()
        _ = try await libraries.current()
        let draft = try await drafts.draft(request.draft, of: FieldLibraryDocument.key).content
        let newest = try await drafts.store.database.transaction { try await libraries.newest(in: $0).document }
        return try await Loop.compute {
            DraftReport(findings: FieldLibraryPublication.report(on: draft, after: newest).findings)
        }
    }
}

/// Publishes a draft as the next version of the library of fields.
struct PublishFieldLibraryDraftHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let drafts: DocumentDrafts
    let libraries: PublishedLibraries

    func handle(_ request: PublishFieldLibraryDraft, context: RequestContext) async throws -> FieldLibraryPublished {
        try context.requireAdmin()
        _ = try await libraries.current()
        let isOperator = context.caller == .operator
        let published: FieldLibraryPublished = try await inbox.once(context) { transaction in
            let made = try await drafts.publish(
                request.draft, of: FieldLibraryDocument.key, accepting: request.acceptClass, byOperator: isOperator,
                audit: audit, in: transaction
            ) { draft, _ in
                let newest = try await libraries.newest(in: transaction).document
                return try await Loop.compute { try FieldLibraryPublication(draft, after: newest) }
            } counts: { _ in
                [:]
            }
            return .reply(FieldLibraryPublished(made.plan))
        }
        libraries.refresh()
        return published
    }
}

extension FieldLibraryPublished {
    fileprivate init(_ made: FieldLibraryPublication) {
        self.init(
            version: made.document.version, hash: Hex.encode(made.document.hash),
            changeClass: made.changeClass?.rawValue,
            changes: made.changes.prefix(VersionPublished.mostChanges).map { VersionChange($0) })
    }
}
