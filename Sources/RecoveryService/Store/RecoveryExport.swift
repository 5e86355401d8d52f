import BusProtocol
import ServiceRuntime

/// The sections of recovery's export about a person: the cases against their account. The claimant is another person
/// and is not named.
enum RecoveryExport {
    static let sections = [
        ExportSection("case", of: ["cases.account_id"], cases), ExportSection("case_event", of: [], events),
        ExportSection("notice", of: [], notices),
        ExportSection("recovery_lock", of: ["locks"], lock),
    ]

    private static func time(_ column: String) -> String { ExportSection.time(column) }

    private static let cases = """
        SELECT id::text AS key, jsonb_build_object(
            'id', id, 'status', status, 'requestedAt', \(time("created_at")), 'holdUntil', \(time("hold_until")),
            'closedAt', \(time("closed_at")), 'hasOwnEvidence', owner_evidence_sealed IS NOT NULL OR closed_at IS NULL AND EXISTS (
                SELECT FROM pictures p WHERE p.case_id = cases.id AND p.side = 'owner'),
            'hasClaimantReason', reason_sealed IS NOT NULL) AS record
        FROM cases WHERE account_id = $1 AND NOT is_decoy
        """
    private static let notices = """
        SELECT n.case_id || ' ' || n.id AS key, jsonb_build_object(
            'caseId', n.case_id, 'id', n.id, 'about', n.kind, 'at', \(time("n.at")),
            'devices', (SELECT coalesce(jsonb_object_agg(d.device_id, d.outcome), '{}') FROM notice_deliveries d
                WHERE d.notice_id = n.id)) AS record
        FROM notices n JOIN cases c ON c.id = n.case_id WHERE c.account_id = $1
        """
    private static let lock = """
        SELECT 'lock' AS key, jsonb_build_object('since', \(time("since")), 'endsAt', \(time("ends_at"))) AS record
        FROM locks WHERE person_id = $1
        """
    private static let events = """
        SELECT a.chain || ' ' || lpad(a.sequence::text, 19, '0') AS key, jsonb_build_object(
            'caseId', c.id, 'event', a.act, 'details', a.details::jsonb, 'at', \(time("a.at"))) AS record
        FROM cases c JOIN audit a ON a.chain = 'case ' || c.id WHERE c.account_id = $1 AND NOT c.is_decoy
        """
}
