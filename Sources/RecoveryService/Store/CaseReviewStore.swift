import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Reads the cases that reviewers see, and writes what they do: claims, releases, decisions and notes. It also stores
/// the evidence and the verdict on it.
struct CaseReviewStore: Sendable {
    let database: Database
    /// Encrypts the reason and the evidence of the claimant, the evidence of the owner, and the notes of reviewers.
    let sealer: Sealer

    // MARK: Seeing

    /// The queue, the oldest evidence first. With a status, it returns the newest cases with that status.
    @Loop func list(status: CaseStatus?) async throws -> [ReviewSummary] {
        let rows =
            if let status {
                try await database.read(Self.ofStatus, [.text(status.rawValue)])
            } else {
                try await database.read(Self.queue)
            }
        return try rows.map { try Self.summary($0) }
    }

    /// A case with all facts that reviewers may see; `nil` for an unknown case and for a decoy.
    @Loop func page(of id: Identifier) async throws -> ReviewPage? {
        guard let row = try await database.read(Self.one, [.uuid(id)]).first else { return nil }
        let chain = AuditChain.thing("case", id).name
        return ReviewPage(
            summary: try Self.summary(row),
            reason: try row.optionalBytes("reason_sealed").map { try open($0, of: id) },
            evidence: try row.optionalBytes("evidence_sealed").map { try open($0, of: id) },
            ownerEvidence: try row.optionalBytes("owner_evidence_sealed").map { try open($0, of: id) },
            earlierOwnerEvidence: try row.textArray("owner_evidence_earlier").map {
                try open(Hex.decode($0) ?? [], of: id)
            },
            pictures: try row.bool("has_pictures") ? [] : nil,
            trail: try await database.read(Self.trail, [.text(chain)]).map { row in
                ReviewPage.TrailEntry(
                    sequence: try row.integer("sequence"), at: try row.timestamp("at"), act: try row.text("act"),
                    details: try WireJSON.decode([String: String].self, from: Array(try row.text("details").utf8)),
                    hash: Hex.encode(try row.bytes("hash")))
            },
            notes: try await database.read(Self.notes, [.uuid(id)]).map { row in
                ReviewPage.Note(
                    at: try row.timestamp("at"), act: try row.text("act"), reviewer: try row.text("reviewer"),
                    note: try open(try row.bytes("note_sealed"), of: id))
            },
            notices: try await database.read(Self.notices, [.uuid(id)]).map { row in
                ReviewPage.Notice(
                    at: try row.timestamp("at"), about: try row.text("kind"), delivered: try row.integer("delivered"),
                    failed: try row.integer("failed"))
            })
    }

    /// A case's summary, with the reviewer of the first approval and the key of that reviewer's connection; `nil` for an
    /// unknown case and for a decoy.
    @Loop func review(
        of id: Identifier, in transaction: Transaction
    ) async throws -> (summary: ReviewSummary, firstApproval: String?, firstApprovalKey: String?)? {
        try await transaction.query(Self.one, [.uuid(id)]).first.map { row in
            (
                try Self.summary(row), try row.optionalText("first_approval"),
                try row.optionalText("first_approval_key")
            )
        }
    }

    // MARK: Doing

    @Loop func claim(_ id: Identifier, by reviewer: CaseReviewer, in transaction: Transaction) {
        transaction.send(Self.claim, [.uuid(id), .text(reviewer.name), .integer(CaseReviewPolicy.turn)])
    }

    @Loop func release(_ id: Identifier, by reviewer: CaseReviewer, in transaction: Transaction) {
        transaction.send(Self.release, [.uuid(id), .text(reviewer.name)])
    }

    /// Stores a reviewer's decision and note.
    ///
    /// - Parameter isFinal: whether no second approval is needed.
    @Loop func keep(
        _ event: CaseEvent, isFinal: Bool, by reviewer: CaseReviewer, note: String, of id: Identifier,
        in transaction: Transaction
    ) {
        let sealed = sealer.seal(Array(note.utf8), associated: id.array)
        transaction.send(Self.keepNote, [.uuid(id), .text(event.rawValue), .text(reviewer.name), .bytes(sealed)])
        transaction.send(
            Self.noteDecision,
            [.uuid(id), .text(isFinal ? nil : reviewer.name), .bool(isFinal), .text(reviewer.key)])
    }

    // MARK: Evidence

    /// The claimant's evidence; `nil` if there is none, or none any more.
    @Loop func evidence(of id: Identifier) async throws -> String? {
        try await database.read(Self.one, [.uuid(id)]).first?.optionalBytes("evidence_sealed").map {
            try open($0, of: id)
        }
    }

    @Loop func keepEvidence(_ reference: String, of id: Identifier, in transaction: Transaction) {
        let sealed = sealer.seal(Array(reference.utf8), associated: id.array)
        transaction.send("UPDATE cases SET evidence_sealed = $2 WHERE id = $1", [.uuid(id), .bytes(sealed)])
    }

    /// Adds to the owner's earlier evidence.
    @Loop func keepOwnerEvidence(_ reference: String, of id: Identifier, in transaction: Transaction) {
        let sealed = sealer.seal(Array(reference.utf8), associated: id.array)
        transaction.send(Self.keepOwnerEvidence, [.uuid(id), .bytes(sealed)])
    }

    @Loop func keep(_ verdict: EvidenceVerdict, of id: Identifier, in transaction: Transaction) {
        transaction.send("UPDATE cases SET verdict = $2 WHERE id = $1", [.uuid(id), .text(verdict.rawValue)])
    }

    private func open(_ sealed: [UInt8], of id: Identifier) throws -> String {
        String(decoding: try sealer.open(sealed, associated: id.array), as: UTF8.self)
    }

    private static func summary(_ row: Row) throws -> ReviewSummary {
        let needed = CaseReviewPolicy.approvalsNeeded(
            isOfStaff: try row.bool("is_of_staff"), wasContested: try row.bool("was_contested"),
            wasDisputed: try row.bool("was_disputed"))
        let first: Int64 = try row.optionalText("first_approval") == nil ? 0 : 1
        return ReviewSummary(
            recoveryId: try row.uuid("id"), status: try row.text("status"),
            requestedAt: try row.timestamp("created_at"),
            holdUntil: try row.timestamp("hold_until"), evidenceAt: try row.optionalTimestamp("evidence_at"),
            verdict: try row.optionalText("verdict"), proof: try row.optionalText("proof"),
            approvals: try row.bool("is_approved") ? needed : first, approvalsNeeded: needed,
            reviewer: try row.optionalText("reviewer"), reviewerUntil: try row.optionalTimestamp("reviewer_until"))
    }

    // MARK: Statements

    private static let columns = """
        c.id, c.status, c.created_at, c.hold_until, c.reason_sealed, c.evidence_at, c.evidence_sealed, c.owner_evidence_sealed,
        c.verdict, c.proof, c.closed_at IS NULL AND EXISTS (SELECT FROM pictures p WHERE p.case_id = c.id) AS has_pictures,
        ARRAY(SELECT encode(earlier, 'hex') FROM unnest(c.owner_evidence_earlier) AS earlier) AS owner_evidence_earlier,
        c.first_approval, c.first_approval_key, c.status IN ('approved', 'completing', 'completed') AS is_approved,
        c.is_of_staff, c.contested_at IS NOT NULL AS was_contested,
        EXISTS (SELECT FROM cases d WHERE d.account_id = c.account_id AND d.status = 'disputed') AS was_disputed,
        CASE WHEN c.reviewer_until > clock_timestamp() THEN c.reviewer END AS reviewer,
        CASE WHEN c.reviewer_until > clock_timestamp() THEN c.reviewer_until END AS reviewer_until
        """
    private static let queue = Statement(
        """
        SELECT \(columns) FROM cases c
        WHERE c.status IN ('in_review', 'contested') AND NOT c.is_decoy AND c.evidence_at IS NOT NULL
            AND (c.decided_from IS NULL OR c.decided_from <= clock_timestamp())
        ORDER BY c.evidence_at LIMIT 100
        """)
    private static let ofStatus = Statement(
        "SELECT \(columns) FROM cases c WHERE c.status = $1 AND NOT c.is_decoy ORDER BY c.created_at DESC LIMIT 100")
    private static let one = Statement("SELECT \(columns) FROM cases c WHERE c.id = $1 AND NOT c.is_decoy")
    private static let trail: Statement = """
        SELECT sequence, at, act, details, hash FROM audit WHERE chain = $1 ORDER BY sequence LIMIT 1000
        """
    private static let notes: Statement = """
        SELECT act, reviewer, note_sealed, at FROM review_notes WHERE case_id = $1 ORDER BY position LIMIT 1000
        """
    private static let notices: Statement = """
        SELECT n.kind, n.at, count(d.outcome) FILTER (WHERE d.outcome = 'delivered') AS delivered,
            count(d.outcome) FILTER (WHERE d.outcome <> 'delivered') AS failed
        FROM notices n LEFT JOIN notice_deliveries d ON d.notice_id = n.id
        WHERE n.case_id = $1 GROUP BY n.id, n.kind, n.at ORDER BY n.at LIMIT 1000
        """
    private static let claim: Statement = """
        UPDATE cases SET reviewer = $2, reviewer_until = clock_timestamp() + $3::bigint * interval '1 s'
        WHERE id = $1 AND (reviewer IS DISTINCT FROM $2 OR reviewer_until < clock_timestamp() + $3::bigint * interval '0.5 s')
        """
    private static let release: Statement = """
        UPDATE cases SET reviewer = NULL, reviewer_until = NULL WHERE id = $1 AND reviewer = $2
        """
    /// A thief with a session of the account may give evidence, too. So both the first and the latest evidence are
    /// kept.
    private static let keepOwnerEvidence: Statement = """
        UPDATE cases SET owner_evidence_sealed = $2,
            owner_evidence_earlier = array_remove(
                CASE WHEN cardinality(owner_evidence_earlier) < 9 THEN owner_evidence_earlier
                    ELSE owner_evidence_earlier[1:4] || owner_evidence_earlier[6:9] END || owner_evidence_sealed, NULL)
        WHERE id = $1
        """
    private static let keepNote: Statement = """
        INSERT INTO review_notes (case_id, position, act, reviewer, note_sealed)
        SELECT $1, count(*) + 1, $2, $3, $4 FROM review_notes WHERE case_id = $1
        """
    private static let noteDecision: Statement = """
        UPDATE cases SET first_approval = coalesce(first_approval, $2),
            first_approval_key = CASE WHEN first_approval IS NULL AND $2 IS NOT NULL THEN $4 ELSE first_approval_key END,
            reviewer = NULL, reviewer_until = NULL,
            decided_at = CASE WHEN $3 THEN clock_timestamp() END
        WHERE id = $1
        """
}
