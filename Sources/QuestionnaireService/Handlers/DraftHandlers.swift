import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

extension RequestContext {
    /// Requires an administrator or an operator. The gateway checks the role too, but this service does not rely on it.
    ///
    /// - Throws: ``BusError`` `unauthorized` or `forbidden`.
    func requireAdmin() throws(BusError) {
        // An operator has no account. The bus accepts an operator by key, and requires an explicit permission for
        // changes.
        if caller == .operator { return }
        guard try person().role == "admin" else { throw BusError(.forbidden, "This is for administrators.") }
    }
}

/// Reads the number of a draft or version from a path. Any other text gives 0, which no draft or version has.
private func pathNumber(_ text: String) -> Int64 {
    guard let number = Int64(text), (1...2_147_483_647).contains(number), String(number) == text else { return 0 }
    return number
}

extension BusError {
    fileprivate static let noDraft = BusError(.notFound, "There is no such draft.")
    fileprivate static let noVersion = BusError(.notFound, "There is no such version.")
    fileprivate static let alreadyPublished = BusError(.draftPublished, "This draft was published; begin another one.")
}

extension Draft {
    fileprivate init(_ stored: DraftStore.StoredDraft) {
        self.init(
            number: stored.number, revision: stored.revision, from: stored.copyOf, publishedAs: stored.publishedAs,
            updatedAt: stored.updatedAt, definition: stored.content)
    }
}

/// Lists the versions and drafts of a questionnaire for an editor.
struct ViewQuestionnaireHandler: RequestHandler {
    let drafts: DraftStore

    func handle(_ request: ViewQuestionnaire, context: RequestContext) async throws -> QuestionnaireOverview {
        try context.requireAdmin()
        return try await drafts.database.transaction { transaction in
            QuestionnaireOverview(
                key: request.questionnaire,
                versions: try await drafts.summaries(of: request.questionnaire, in: transaction),
                drafts: try await drafts.drafts(of: request.questionnaire, in: transaction))
        }
    }
}

/// Creates a draft from a definition or from a version.
struct CreateDraftHandler: RequestHandler {
    let inbox: Inbox
    let drafts: DraftStore

    func handle(_ request: CreateDraft, context: RequestContext) async throws -> Draft {
        try context.requireAdmin()
        let content = try await content(of: request)
        return try await inbox.once(context) { transaction in
            .reply(
                Draft(
                    try await drafts.create(
                        content, copyOf: request.from, of: request.questionnaire, in: transaction)))
        }
    }

    @Loop private func content(of request: CreateDraft) async throws -> JSONValue {
        switch (request.definition, request.from) {
        case (let definition?, nil): return try DraftContent.check(definition)
        case (nil, let version?):
            guard let content = try await drafts.version(version, of: request.questionnaire) else {
                throw BusError.noVersion
            }
            return DerivedFrom.copy(of: content)
        default:
            throw BusError(
                .validationFailed, "A draft begins with a definition, or as a copy.",
                errors: [
                    .init(field: "definition", code: "required", message: "Give this, or the version to copy as from.")
                ])
        }
    }
}

/// Checks what is stored as a draft. It must be an object of at most 256 KB in canonical JSON.
private enum DraftContent {
    static func check(_ content: JSONValue) throws(BusError) -> JSONValue {
        func refuse(_ code: String, _ message: String) -> BusError {
            BusError(
                .validationFailed, "This cannot be kept as a draft.",
                errors: [.init(field: "definition", code: code, message: message)])
        }
        guard content.objectValue != nil else { throw refuse("wrong_type", "Must be an object.") }
        guard CanonicalJSON.bytes(of: content).count <= 262_144 else {
            throw refuse("too_long", "Must have at most 256 KB.")
        }
        return content
    }
}

/// Shows a draft.
struct GetDraftHandler: RequestHandler {
    let drafts: DraftStore

    func handle(_ request: GetDraft, context: RequestContext) async throws -> Draft {
        try context.requireAdmin()
        guard let draft = try await drafts.find(pathNumber(request.draft), of: request.questionnaire) else {
            throw BusError.noDraft
        }
        return Draft(draft)
    }
}

/// Replaces a draft.
struct PutDraftHandler: RequestHandler {
    let drafts: DraftStore

    func handle(_ request: PutDraft, context: RequestContext) async throws -> Draft {
        try context.requireAdmin()
        let content = try DraftContent.check(request.definition)
        return try await drafts.database.transaction { transaction in
            let number = pathNumber(request.draft)
            guard let before = try await drafts.locked(number, of: request.questionnaire, in: transaction) else {
                throw BusError.noDraft
            }
            guard before.publishedAs == nil else { throw BusError.alreadyPublished }
            if let tag = request.ifMatch, tag != "*", tag != "\"r\(before.revision)\"" {
                throw BusError(.preconditionFailed, "The draft was changed somewhere else in the meantime.")
            }
            return Draft(try await drafts.replace(number, of: request.questionnaire, by: content, in: transaction))
        }
    }
}

/// Deletes a draft. A repeated request gets the same answer.
struct DeleteDraftHandler: RequestHandler {
    let drafts: DraftStore

    func handle(_ request: DeleteDraft, context: RequestContext) async throws -> NoContent {
        try context.requireAdmin()
        let (number, questionnaire) = (pathNumber(request.draft), request.questionnaire)
        return try await drafts.database.transaction { transaction in
            guard let draft = try await drafts.locked(number, of: questionnaire, in: transaction) else {
                guard try await drafts.wasDeleted(number, of: questionnaire, in: transaction) else {
                    throw BusError.noDraft
                }
                return NoContent()
            }
            guard draft.publishedAs == nil else {
                throw BusError(.draftPublished, "This draft was published, and stays with its version.")
            }
            drafts.delete(number, of: questionnaire, in: transaction)
            return NoContent()
        }
    }
}

/// Checks a draft against the rules for publishing.
struct CheckDraftHandler: RequestHandler {
    let drafts: DraftStore
    let bus: Bus

    func handle(_ request: CheckDraft, context: RequestContext) async throws -> DraftReport {
        try context.requireAdmin()
        guard let draft = try await drafts.find(pathNumber(request.draft), of: request.questionnaire) else {
            throw BusError.noDraft
        }
        let versions = try await drafts.database.transaction { transaction in
            try await drafts.versions(of: request.questionnaire, in: transaction)
        }
        let fields = try await ExtractedFields(for: draft.content, askedOver: bus, context)
        return try await Loop.compute {
            DraftReport(
                VersionPlan.report(
                    on: draft.content, of: request.questionnaire, after: try EarlierVersions(versions), fields: fields,
                    today: Timestamp.now().date))
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
            throw Self.unknown
        }
    }

    fileprivate static let unknown = BusError(
        .serviceUnavailable, "The fields of the profile cannot be read at the moment. Please try again.",
        retryAfter: .seconds(1))
}

extension DraftReport {
    fileprivate init(_ report: VersionPlan.Report) {
        let findings = report.problems.map { ($0, "error") } + report.warnings.map { ($0, "warning") }
        self.init(
            findings: findings.map { problem, severity in
                DraftFinding(
                    severity: severity, code: problem.code, pointer: problem.pointer, message: problem.message,
                    keys: problem.keys)
            }, shortestPath: report.shortest.map(Int64.init), longestPath: report.longest.map(Int64.init))
    }
}

/// Publishes a draft as the next version.
struct PublishDraftHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let bus: Bus
    let drafts: DraftStore

    func handle(_ request: PublishDraft, context: RequestContext) async throws -> VersionPublished {
        try context.requireAdmin()
        let isOperator = context.caller == .operator
        // Requests the fields of profile outside the transaction.
        let seen = try await drafts.find(pathNumber(request.draft), of: request.questionnaire)?.content
        let fields = try await ExtractedFields(for: seen ?? .null, askedOver: bus, context)
        return try await inbox.once(context) {
            .reply(try await publish(request, fields, byOperator: isOperator, in: $0))
        }
    }

    @Loop private func publish(
        _ request: PublishDraft, _ fields: ExtractedFields?, byOperator isOperator: Bool, in transaction: Transaction
    ) async throws -> VersionPublished {
        DefinitionStore.waitForTurn(in: transaction)
        let number = pathNumber(request.draft)
        guard let draft = try await drafts.locked(number, of: request.questionnaire, in: transaction) else {
            throw BusError.noDraft
        }
        guard draft.publishedAs == nil else { throw BusError.alreadyPublished }
        // Somebody added the first extract to the draft after it was read above.
        guard fields != nil || !ExtractedFields.areNamed(in: draft.content) else { throw ExtractedFields.unknown }
        let versions = try await drafts.versions(of: request.questionnaire, in: transaction)
        let plan: VersionPlan
        do {
            plan = try await Loop.compute {
                try VersionPlan.make(
                    draft.content, of: request.questionnaire, after: try EarlierVersions(versions), fields: fields,
                    today: Timestamp.now().date)
            }
        } catch let error as DefinitionError {
            throw Self.invalid(error.problems)
        }
        let touched = try await drafts.touched(plan.touched, of: request.questionnaire, in: transaction)
        try Self.hold(plan, against: request.acceptClass, touched)
        drafts.publish(draft.number, as: plan.definition, in: transaction)
        var details = ["questionnaire": plan.definition.key, "version": "\(plan.definition.version)"]
        if isOperator { details["by"] = "operator" }
        audit.note(AuditAct("questionnaire_published", details), on: .service, in: transaction)
        return VersionPublished(
            version: plan.definition.version, hash: plan.definition.reference(in: plan.definition.language).hash,
            changeClass: plan.changeClass?.rawValue, openSessions: touched.sessions, answers: touched.answers,
            changes: plan.changes.prefix(VersionPublished.mostChanges).map { VersionChange($0) })
    }

    private static func invalid(_ problems: [DefinitionProblem]) -> BusError {
        BusError(
            .definitionInvalid, "This draft cannot be published as it is.",
            errors: problems.prefix(100).map { .init(field: $0.pointer, code: $0.code, message: $0.message) })
    }

    private static func hold(
        _ plan: VersionPlan, against accepted: String?, _ touched: (sessions: Int64, answers: Int64)
    ) throws {
        guard let changeClass = plan.changeClass else { return }
        if let accepted = accepted.flatMap(ChangeClass.init), accepted >= changeClass { return }
        throw BusError(
            .changeNotAccepted, "This change asks more of people than was acknowledged.",
            details: [
                "changeClass": .string(changeClass.rawValue), "openSessions": .integer(touched.sessions),
                "answers": .integer(touched.answers),
                "changes": .array(plan.changes.prefix(VersionPublished.mostChanges).map { VersionChange($0).json }),
            ])
    }
}

extension VersionChange {
    fileprivate init(_ change: DefinitionChange) {
        self.init(
            kind: change.kind.rawValue, changeClass: change.changeClass.rawValue, pointer: change.pointer,
            keys: change.keys)
    }

    fileprivate var json: JSONValue {
        [
            "kind": .string(kind), "changeClass": .string(changeClass), "pointer": .string(pointer),
            "keys": .array(keys.map { .string($0) }),
        ]
    }
}

/// Retires a version.
struct RetireVersionHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let drafts: DraftStore

    func handle(_ request: RetireVersion, context: RequestContext) async throws -> VersionSummary {
        try context.requireAdmin()
        return try await database.transaction { transaction in
            let version = pathNumber(request.version)
            let before = try await drafts.summaries(of: request.questionnaire, in: transaction)
            guard let known = before.first(where: { $0.version == version }) else { throw BusError.noVersion }
            guard known.retiredAt == nil else { return known }
            drafts.retire(version, of: request.questionnaire, in: transaction)
            audit.note(
                AuditAct(
                    "questionnaire_retired", ["questionnaire": request.questionnaire, "version": "\(version)"]),
                on: .service, in: transaction)
            let after = try await drafts.summaries(of: request.questionnaire, in: transaction)
            return after.first { $0.version == version } ?? known
        }
    }
}

/// Compares two versions and classifies each change.
struct CompareVersionsHandler: RequestHandler {
    let drafts: DraftStore

    func handle(_ request: CompareVersions, context: RequestContext) async throws -> VersionDifference {
        try context.requireAdmin()
        let problems = [("from", request.from), ("to", request.to)].filter { $0.1 == nil }.map {
            BusError.FieldProblem(field: $0.0, code: "required", message: "This is required.")
        }
        guard let from = request.from, let to = request.to else {
            throw BusError(.validationFailed, "Say which two versions.", errors: problems)
        }
        guard let old = try await drafts.version(from, of: request.questionnaire),
            let new = try await drafts.version(to, of: request.questionnaire)
        else { throw BusError.noVersion }
        return try await Loop.compute {
            let both = try EarlierVersions([old, new]).files
            let difference = DefinitionDifference(from: both[0], to: both[1])
            return VersionDifference(
                from: from, to: to, changeClass: difference.changeClass?.rawValue,
                changes: difference.changes.map { VersionChange($0) })
        }
    }
}
