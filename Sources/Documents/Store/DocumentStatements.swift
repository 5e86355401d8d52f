import Database

/// The statements about the tables of one kind of document.
struct DocumentStatements: Sendable {
    let newest: Statement
    let newestHash: Statement
    let one: Statement
    let load: Statement
    let contents: Statement
    let rows: Statement
    let insert: Statement
    /// `nil` if no version can be retired.
    let retire: Statement?
    let findDraft: Statement
    let lockDraft: Statement
    let findDeleted: Statement
    let deleteDraft: Statement
    let sameDraft: Statement
    let createDraft: Statement
    let replaceDraft: Statement
    let markPublished: Statement
    let drafts: Statement
    let publishing = Statement("SELECT \(AdvisoryLock.definitions.wait())")
    let numbering: Statement

    init(_ kind: DocumentKind) {
        let (key, versions, drafts) = (kind.name, kind.versions, kind.drafts)
        let version = "\(key) AS key, version, content_hash, content, published_at"
        let isUsed =
            kind.retirements.map {
                "NOT EXISTS (SELECT 1 FROM \($0) r WHERE (r.\(key), r.version) = (d.\(key), d.version))"
            } ?? "true"
        newest = Statement(
            """
            SELECT DISTINCT ON (\(key)) \(version) FROM \(versions) d
            WHERE ($1::text IS NULL OR \(key) = $1) AND \(isUsed) ORDER BY \(key), version DESC
            """)
        newestHash = Statement(
            """
            SELECT version, content_hash FROM \(versions) d
            WHERE \(key) = $1 AND \(isUsed) ORDER BY version DESC LIMIT 1
            """)
        one = Statement("SELECT \(version) FROM \(versions) WHERE \(key) = $1 AND version = $2")
        load = Statement("SELECT content FROM \(versions) WHERE content_hash = $1")
        contents = Statement(
            "SELECT content FROM \(versions) WHERE \(key) = $1 AND version < $2 ORDER BY version")
        let retiredAt = kind.retirements == nil ? "NULL::timestamptz AS retired_at" : "retired_at"
        let retirements = kind.retirements.map { "LEFT JOIN \($0) USING (\(key), version)" } ?? ""
        rows = Statement(
            """
            SELECT version, content_hash, published_at, \(retiredAt) FROM \(versions) \(retirements)
            WHERE \(key) = $1 ORDER BY version DESC LIMIT 10000
            """)
        insert = Statement(
            "INSERT INTO \(versions) (\(key), version, content_hash, content) VALUES ($1, $2, $3, $4)")
        retire = kind.retirements.map {
            Statement("INSERT INTO \($0) (\(key), version) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        }

        let draft = "number, revision, copy_of, published_as, updated_at, content"
        let wanted = "\(key) = $1 AND number = $2"
        findDraft = Statement("SELECT \(draft) FROM \(drafts) WHERE \(wanted) AND deleted_at IS NULL")
        lockDraft = Statement("SELECT \(draft) FROM \(drafts) WHERE \(wanted) AND deleted_at IS NULL FOR UPDATE")
        findDeleted = Statement("SELECT 1 FROM \(drafts) WHERE \(wanted) AND deleted_at IS NOT NULL")
        sameDraft = Statement(
            "SELECT number FROM \(drafts) WHERE \(key) = $1 AND content = $2 AND deleted_at IS NULL LIMIT 1")
        deleteDraft = Statement(
            """
            UPDATE \(drafts) SET content = '{}', revision = revision + 1, updated_at = now(), deleted_at = now()
            WHERE \(wanted)
            """)
        createDraft = Statement(
            """
            INSERT INTO \(drafts) (\(key), number, content, copy_of)
            SELECT $1, 1 + coalesce(max(number), 0), $2, $3 FROM \(drafts) WHERE \(key) = $1
            RETURNING \(draft)
            """)
        replaceDraft = Statement(
            """
            UPDATE \(drafts) SET content = $3, updated_at = CASE WHEN content = $3 THEN updated_at ELSE now() END,
                revision = revision + CASE WHEN content = $3 THEN 0 ELSE 1 END
            WHERE \(wanted) RETURNING \(draft)
            """)
        markPublished = Statement(
            """
            UPDATE \(drafts) SET published_as = $3, revision = revision + 1, updated_at = now() WHERE \(wanted)
            """)
        self.drafts = Statement(
            """
            SELECT number, revision, copy_of, published_as, updated_at FROM \(drafts)
            WHERE \(key) = $1 AND deleted_at IS NULL ORDER BY number DESC LIMIT 1000
            """)
        numbering = Statement("SELECT \(AdvisoryLock.draft.wait(for: "$1"))")
    }
}
