import BusProtocol
import BusRuntime
import Cryptography
import Database
import Documents
import EventLoop
import JSONText
import ServiceRuntime

extension Draft {
    fileprivate init(_ stored: DocumentStore.StoredDraft) {
        self.init(
            number: stored.number, revision: stored.revision, from: stored.copyOf, publishedAs: stored.publishedAs,
            updatedAt: stored.updatedAt, definition: stored.content)
    }
}

extension VersionSummary {
    fileprivate init(_ row: DocumentStore.VersionRow, _ counts: [Int64: (open: Int64, completed: Int64)]) {
        let (open, completed) = counts[row.version] ?? (0, 0)
        self.init(
            version: row.version, hash: Hex.encode(row.hash), current: row.isCurrent, publishedAt: row.publishedAt,
            retiredAt: row.retiredAt, openSessions: open, completedSessions: completed)
    }
}

/// Lists the versions and drafts of a questionnaire for an editor.
struct ViewQuestionnaireHandler: RequestHandler {
    let drafts: DocumentDrafts
    let sessions: QuestionnaireSessionCounts

    func handle(_ request: ViewQuestionnaire, context: RequestContext) async throws -> QuestionnaireOverview {
        try context.requireAdmin()
        let (store, key) = (drafts.store, request.questionnaire)
        return try await store.database.transaction { transaction in
            let counts = try await sessions.byVersion(of: key, in: transaction)
            return QuestionnaireOverview(
                key: key, versions: try await store.rows(of: key, in: transaction).map { VersionSummary($0, counts) },
                drafts: try await store.drafts(of: key, in: transaction))
        }
    }
}

extension ServiceContainer {
    /// Creates, shows, replaces and deletes drafts for their editors.
    func handleDrafts(_ drafts: DocumentDrafts) {
        handle(
            AdminHandler { [inbox] (request: CreateDraft, context) in
                let content = try await drafts.beginning(
                    request.definition, copyOf: request.from, of: request.questionnaire)
                return try await inbox.once(context) {
                    .reply(
                        Draft(
                            try await drafts.store.create(
                                content, copyOf: request.from, of: request.questionnaire, in: $0)))
                }
            })
        handle(
            AdminHandler { (request: GetDraft, _) in
                Draft(try await drafts.draft(request.draft, of: request.questionnaire))
            })
        handle(
            AdminHandler { (request: PutDraft, _) in
                Draft(
                    try await drafts.replace(
                        request.draft, of: request.questionnaire, by: request.definition, ifMatch: request.ifMatch))
            })
        handle(
            AdminHandler { (request: DeleteDraft, _) in
                try await drafts.delete(request.draft, of: request.questionnaire)
                return NoContent()
            })
    }
}

/// Checks a draft against the rules for publishing.
struct CheckDraftHandler: RequestHandler {
    let drafts: DocumentDrafts
    let bus: Bus
    /// Whether answers to sensitive questions are sealed.
    let isSealingHealth: Bool

    func handle(_ request: CheckDraft, context: RequestContext) async throws -> DraftReport {
        try context.requireAdmin()
        let key = request.questionnaire
        let draft = try await drafts.draft(request.draft, of: key).content
        let versions = try await drafts.versions(of: key)
        let fields = try await ExtractedFields(for: draft, askedOver: bus, context)
        return try await Loop.compute {
            let report = VersionPlan.report(
                on: draft, of: key, after: try EarlierVersions(versions), fields: fields,
                isSealingHealth: isSealingHealth, today: Timestamp.now().date)
            return DraftReport(
                findings: DocumentReport(problems: report.problems, warnings: report.warnings).findings,
                shortestPath: report.shortest.map(Int64.init), longestPath: report.longest.map(Int64.init))
        }
    }
}

extension ExtractedFields {
    /// Requests the field keys of profile. It returns `nil` without a request if the content names no field.
    ///
    /// - Throws: ``BusError`` `service_unavailable` if profile does not answer.
    @Loop fileprivate init?(for content: JSONValue, askedOver bus: Bus, _ context: RequestContext) async throws {
        guard Self.areNamed(in: content) else { return nil }
        let options = CallOptions(timeout: min(.seconds(2), context.remaining), trace: context.trace.child())
        do {
            known = Set(try await bus.call(GetProfileFields(), options).fields.map(\.key))
        } catch {
            throw error.answer(ifItPasses: Self.unknown)
        }
    }

    fileprivate static let unknown = BusError(
        .serviceUnavailable, "The fields of the profile cannot be read at the moment. Please try again.",
        retryAfter: .seconds(1))
}

/// Publishes a draft as the next version.
struct PublishDraftHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let bus: Bus
    let drafts: DocumentDrafts
    let sessions: QuestionnaireSessionCounts
    /// Whether answers to sensitive questions are sealed.
    let isSealingHealth: Bool

    func handle(_ request: PublishDraft, context: RequestContext) async throws -> VersionPublished {
        try context.requireAdmin()
        let (key, isOperator) = (request.questionnaire, context.caller == .operator)
        // Requests the fields of profile outside the transaction.
        let seen = try await drafts.find(request.draft, of: key)?.content
        let fields = try await ExtractedFields(for: seen ?? .null, askedOver: bus, context)
        return try await inbox.once(context) { transaction in
            let (plan, counts) = try await drafts.publish(
                request.draft, of: key, accepting: request.acceptClass, byOperator: isOperator, audit: audit,
                in: transaction
            ) { draft, versions in
                // Somebody added the first extract to the draft after it was read above.
                guard fields != nil || !ExtractedFields.areNamed(in: draft) else { throw ExtractedFields.unknown }
                return try await Loop.compute {
                    try VersionPlan.make(
                        draft, of: key, after: try EarlierVersions(versions), fields: fields,
                        isSealingHealth: isSealingHealth, today: Timestamp.now().date)
                }
            } counts: { plan in
                let touched = try await sessions.touched(plan.touched, of: key, in: transaction)
                return ["openSessions": touched.sessions, "answers": touched.answers]
            }
            return .reply(VersionPublished(plan, counts))
        }
    }
}

extension VersionPublished {
    fileprivate init(_ plan: VersionPlan, _ counts: [String: Int64]) {
        self.init(
            version: plan.document.version, hash: Hex.encode(plan.document.hash),
            changeClass: plan.changeClass?.rawValue, openSessions: counts["openSessions"] ?? 0,
            answers: counts["answers"] ?? 0, changes: plan.changes.prefix(Self.mostChanges).map { VersionChange($0) })
    }
}

/// Retires a version.
struct RetireVersionHandler: RequestHandler {
    let audit: AuditTrail
    let drafts: DocumentDrafts
    let sessions: QuestionnaireSessionCounts

    func handle(_ request: RetireVersion, context: RequestContext) async throws -> VersionSummary {
        try context.requireAdmin()
        let key = request.questionnaire
        return try await drafts.store.database.transaction { transaction in
            let row = try await drafts.retire(request.version, of: key, audit: audit, in: transaction)
            return VersionSummary(row, try await sessions.byVersion(of: key, in: transaction))
        }
    }
}

/// Compares two versions and classifies each change.
struct CompareVersionsHandler: RequestHandler {
    let drafts: DocumentDrafts

    func handle(_ request: CompareVersions, context: RequestContext) async throws -> VersionDifference {
        try context.requireAdmin()
        let both = try await drafts.versions(from: request.from, to: request.to, of: request.questionnaire)
        return try await Loop.compute {
            let files = try EarlierVersions([both.old, both.new]).files
            let difference = DefinitionDifference(from: files[0], to: files[1])
            return VersionDifference(
                from: both.from, to: both.to, changeClass: difference.changeClass?.rawValue,
                changes: difference.changes.map { VersionChange($0) })
        }
    }
}
