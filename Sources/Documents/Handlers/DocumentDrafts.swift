import BusProtocol
import Database
import EventLoop
import JSONText

/// The life of drafts and versions of one kind of document: the work of their handlers once the caller is known.
///
/// Numbers of drafts and versions are texts, as in a path.
@Loop package struct DocumentDrafts {
    /// The drafts and versions.
    package let store: DocumentStore
    private var noun: String { store.kind.noun }

    /// Takes the drafts and versions.
    package init(_ store: DocumentStore) { self.store = store }

    /// A draft.
    ///
    /// - Throws: ``BusError`` `not_found`.
    package func draft(_ number: String, of key: String) async throws -> DocumentStore.StoredDraft {
        guard let draft = try await find(number, of: key) else { throw BusError.noDraft }
        return draft
    }

    /// A draft; `nil` if there is none.
    package func find(_ number: String, of key: String) async throws -> DocumentStore.StoredDraft? {
        try await store.find(Self.number(number), of: key)
    }

    /// The content of a new draft, as given or as a copy of a version.
    ///
    /// - Throws: ``BusError`` `not_found` or `validation_failed`.
    package func beginning(_ content: JSONValue?, copyOf version: Int64?, of key: String) async throws -> JSONValue {
        switch (content, version) {
        case (let content?, nil): return try checked(content)
        case (nil, let version?):
            guard let content = try await store.version(version, of: key) else { throw BusError.noVersion }
            return DerivedFrom.copy(of: content)
        default:
            throw BusError(
                .validationFailed, "A draft begins with a \(noun), or as a copy.",
                errors: [
                    .init(field: noun, code: "required", message: "Give this, or the version to copy as from.")
                ])
        }
    }

    /// Checks the content of a draft. It must be an object of at most 256 KB in canonical JSON.
    private func checked(_ content: JSONValue) throws(BusError) -> JSONValue {
        func refuse(_ code: String, _ message: String) -> BusError {
            BusError(
                .validationFailed, "This cannot be kept as a draft.",
                errors: [.init(field: noun, code: code, message: message)])
        }
        guard content.objectValue != nil else { throw refuse("wrong_type", "Must be an object.") }
        guard CanonicalJSON.bytes(of: content).count <= DocumentText.mostBytes else {
            throw refuse("too_long", "Must have at most 256 KB.")
        }
        return content
    }

    /// Replaces a draft.
    ///
    /// - Parameter ifMatch: the header `If-Match`, with the entity tag of the draft that the editor changed.
    /// - Throws: ``BusError`` `not_found`, `validation_failed`, `draft_published` or `precondition_failed`.
    package func replace(
        _ number: String, of key: String, by content: JSONValue, ifMatch: String?
    ) async throws -> DocumentStore.StoredDraft {
        let content = try checked(content)
        return try await store.database.transaction { transaction in
            let before = try await unpublished(number, of: key, in: transaction)
            if let ifMatch, !EntityTag(revision: before.revision).isNamed(by: ifMatch) {
                throw BusError(.preconditionFailed, "The draft was changed somewhere else in the meantime.")
            }
            return try await store.replace(before.number, of: key, by: content, in: transaction)
        }
    }

    /// Deletes a draft. A repeated call changes nothing.
    ///
    /// - Throws: ``BusError`` `not_found` or `draft_published`.
    package func delete(_ number: String, of key: String) async throws {
        let number = Self.number(number)
        try await store.database.transaction { transaction in
            guard let draft = try await store.locked(number, of: key, in: transaction) else {
                guard try await store.wasDeleted(number, of: key, in: transaction) else { throw BusError.noDraft }
                return
            }
            guard draft.publishedAs == nil else {
                throw BusError(.draftPublished, "This draft was published, and stays with its version.")
            }
            store.delete(number, of: key, in: transaction)
        }
    }

    /// A published version.
    ///
    /// - Throws: ``BusError`` `not_found`.
    package func version(_ number: String, of key: String) async throws -> DocumentStore.StoredVersion {
        guard let stored = try await store.stored(key, version: Self.number(number)) else { throw BusError.noVersion }
        return stored
    }

    /// The contents of all published versions, the oldest first.
    package func versions(of key: String) async throws -> [JSONValue] {
        try await store.database.transaction { try await store.versions(of: key, in: $0) }
    }

    /// Publishes a draft as the next version.
    ///
    /// - Parameters:
    ///   - accepted: the gravest class of change that the editor accepts. A first version needs none.
    ///   - isOperator: whether an operator publishes it.
    ///   - plan: checks the draft against the published versions, the oldest first, and compares it with the newest. It
    ///     throws ``DocumentError`` if the draft has problems.
    ///   - counts: the number of people and things that the changes affect, by their names in `change_not_accepted`.
    /// - Throws: ``BusError`` `not_found`, `draft_published`, `definition_invalid` or `change_not_accepted`.
    package func publish<Plan: PublicationPlan>(
        _ number: String, of key: String, accepting accepted: String?, byOperator isOperator: Bool, audit: AuditTrail,
        in transaction: Transaction,
        plan: @Loop (_ draft: JSONValue, _ earlier: [JSONValue]) async throws -> Plan,
        counts: @Loop (Plan) async throws -> [String: Int64]
    ) async throws -> (plan: Plan, counts: [String: Int64]) {
        store.waitForTurn(in: transaction)
        let draft = try await unpublished(number, of: key, in: transaction)
        let made: Plan
        do {
            made = try await plan(draft.content, try await store.versions(of: key, in: transaction))
        } catch let error as DocumentError {
            throw error.refusal("This draft cannot be published as it is.")
        }
        let affected = try await counts(made)
        try Self.hold(made, against: accepted, affected)
        store.publish(draft.number, as: made.document, in: transaction)
        note("published", made.document.version, of: key, isOperator ? ["by": "operator"] : [:], audit, transaction)
        return (made, affected)
    }

    private static func hold(
        _ plan: some PublicationPlan, against accepted: String?, _ counts: [String: Int64]
    ) throws(BusError) {
        guard let changeClass = plan.changeClass else { return }
        if let accepted = accepted.flatMap(ChangeClass.init), accepted >= changeClass { return }
        var details = counts.mapValues { JSONValue.integer($0) }
        details["changeClass"] = .string(changeClass.rawValue)
        details["changes"] = .array(
            plan.changes.prefix(VersionPublished.mostChanges).map { VersionChange($0).json(class: "changeClass") })
        throw BusError(
            .changeNotAccepted, "This change asks more of people than was acknowledged.", details: details)
    }

    /// Retires a version. A repeated call changes nothing.
    ///
    /// - Returns: the retired version.
    /// - Throws: ``BusError`` `not_found`.
    package func retire(
        _ number: String, of key: String, audit: AuditTrail, in transaction: Transaction
    ) async throws -> DocumentStore.VersionRow {
        func row() async throws -> DocumentStore.VersionRow {
            let number = Self.number(number)
            guard let row = try await store.rows(of: key, in: transaction).first(where: { $0.version == number })
            else { throw BusError.noVersion }
            return row
        }
        store.waitForTurn(in: transaction)
        let known = try await row()
        guard known.retiredAt == nil else { return known }
        store.retire(known.version, of: key, in: transaction)
        note("retired", known.version, of: key, [:], audit, transaction)
        return try await row()
    }

    /// The contents of two versions, for comparing them.
    ///
    /// - Throws: ``BusError`` `not_found`, or `validation_failed` if the request names fewer than two.
    package func versions(
        from: Int64?, to: Int64?, of key: String
    ) async throws -> (from: Int64, old: JSONValue, to: Int64, new: JSONValue) {
        let problems = [("from", from), ("to", to)].filter { $0.1 == nil }.map {
            BusError.FieldProblem(field: $0.0, code: "required", message: "This is required.")
        }
        guard let from, let to else {
            throw BusError(.validationFailed, "Say which two versions.", errors: problems)
        }
        guard let old = try await store.version(from, of: key), let new = try await store.version(to, of: key) else {
            throw BusError.noVersion
        }
        return (from, old, to, new)
    }

    private func unpublished(
        _ number: String, of key: String, in transaction: Transaction
    ) async throws -> DocumentStore.StoredDraft {
        guard let draft = try await store.locked(Self.number(number), of: key, in: transaction) else {
            throw BusError.noDraft
        }
        guard draft.publishedAs == nil else {
            throw BusError(.draftPublished, "This draft was published; begin another one.")
        }
        return draft
    }

    private func note(
        _ act: String, _ version: Int64, of key: String, _ details: [String: String], _ audit: AuditTrail,
        _ transaction: Transaction
    ) {
        let named = [store.kind.name: key, "version": "\(version)"].merging(details) { $1 }
        audit.note(AuditAct("\(store.kind.name)_\(act)", named), on: .service, in: transaction)
    }

    /// Any text but a number gives 0, which no draft or version has.
    private static func number(_ text: String) -> Int64 { Int64(documentNumber: text) ?? 0 }
}

extension BusError {
    fileprivate static let noDraft = BusError(.notFound, "There is no such draft.")
    fileprivate static let noVersion = BusError(.notFound, "There is no such version.")
}

extension DocumentError {
    /// The error `definition_invalid` with the first 100 problems.
    ///
    /// - Parameter detail: a sentence about the act that is refused.
    package func refusal(_ detail: String) -> BusError {
        BusError(
            .definitionInvalid, detail,
            errors: problems.prefix(100).map { .init(field: $0.pointer, code: $0.code, message: $0.message) })
    }
}

extension DocumentReport {
    /// The problems and warnings on the wire, the problems first.
    package var findings: [DraftFinding] {
        (problems.map { ($0, "error") } + warnings.map { ($0, "warning") }).map { problem, severity in
            DraftFinding(
                severity: severity, code: problem.code, pointer: problem.pointer, message: problem.message,
                keys: problem.keys)
        }
    }
}
