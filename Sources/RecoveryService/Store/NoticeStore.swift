import BusProtocol
import Database
import EventLoop

/// The notices to owners with their dispute tokens, and the result of each on the owner's devices.
@Loop enum NoticeStore {
    /// Counts the other cases against an account: those of a day, and the held ones without a notice.
    static func claims(
        against account: Identifier, but id: Identifier, in transaction: Transaction
    ) async throws -> (ofDay: Int64, untold: Int64) {
        guard let row = try await transaction.query(claims, [.uuid(account), .uuid(id)]).first else { return (0, 0) }
        return (try row.integer("of_day"), try row.integer("untold"))
    }

    /// Locks the held cases against an account whose owner was not notified of this stage.
    static func held(
        against account: Identifier, toldBefore stage: NoticePlan.Stage, in transaction: Transaction
    ) async throws -> [RecoveryCase] {
        try await transaction.query(open, [.uuid(account), .integer(stage.rawValue)]).map { try RecoveryCase($0) }
    }

    static func noteTold(_ cases: [Identifier], _ stage: NoticePlan.Stage, in transaction: Transaction) {
        transaction.send(noteTold, [.uuidArray(cases), .integer(stage.rawValue)])
    }

    /// - Parameter token: the keyed hash of a dispute token.
    static func keep(token: [UInt8], of id: Identifier, in transaction: Transaction) {
        transaction.send(keepToken, [.bytes(token), .uuid(id)])
    }

    static func keep(_ notice: Identifier, _ kind: NoticeKind, of id: Identifier, in transaction: Transaction) {
        transaction.send(keepNotice, [.uuid(notice), .uuid(id), .text(kind.rawValue)])
    }

    /// Keeps the result of a notice on one device. A notification that is not a notice of a case is ignored.
    static func keep(_ delivered: NotificationDelivered, in transaction: Transaction) {
        transaction.send(
            keepDelivery,
            [
                .uuid(delivered.notificationID), .uuid(delivered.deviceID), .text(delivered.outcome),
                .timestamp(delivered.at),
            ])
    }

    private static let claims: Statement = """
        SELECT count(*) FILTER (WHERE created_at > clock_timestamp() - interval '1 day') AS of_day,
            count(*) FILTER (WHERE told = 0 AND status = 'held') AS untold
        FROM cases WHERE account_id = $1 AND id <> $2 AND NOT is_decoy
        """
    private static let open = Statement(
        """
        SELECT \(RecoveryCase.columns) FROM cases
        WHERE account_id = $1 AND NOT is_decoy AND status = 'held' AND told < $2 ORDER BY created_at FOR UPDATE
        """)
    private static let noteTold: Statement = "UPDATE cases SET told = $2 WHERE id = ANY ($1)"
    private static let keepToken: Statement = "INSERT INTO dispute_tokens (hash, case_id) VALUES ($1, $2)"
    private static let keepNotice: Statement = "INSERT INTO notices (id, case_id, kind) VALUES ($1, $2, $3)"
    private static let keepDelivery: Statement = """
        INSERT INTO notice_deliveries (notice_id, device_id, outcome, at)
        SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM notices WHERE id = $1)
        ON CONFLICT (notice_id, device_id) DO UPDATE SET outcome = excluded.outcome, at = excluded.at
        """
}
