import BusProtocol
import Database
import EventLoop

/// Rows of roles, and of changes that wait for a second operator.
@Loop enum RoleStore {
    /// The role of an active account; `nil` if there is none. Locks the row of the account until the transaction ends.
    static func role(of person: Identifier, in transaction: Transaction) async throws -> Role? {
        try await transaction.query(lock, [.uuid(person)]).first.map { Role(rawValue: try $0.text("role")) }
    }

    /// The operator who asked for a change of the role `admin` that still waits; `nil` if none did.
    static func proposer(
        of person: Identifier, isGranted: Bool, in transaction: Transaction
    ) async throws -> RoleChange.Operator? {
        try await transaction.query(proposal, [.uuid(person), .bool(isGranted)]).first.map {
            RoleChange.Operator(name: try $0.text("operator_name"), key: try $0.optionalText("operator_key"))
        }
    }

    static func propose(
        _ person: Identifier, isGranted: Bool, by requester: RoleChange.Operator, in transaction: Transaction
    ) {
        transaction.send(
            propose,
            [
                .uuid(person), .bool(isGranted), .text(requester.name), .text(requester.key),
                .integer(RoleChange.patience.components.seconds),
            ])
    }

    static func set(_ role: Role, of person: Identifier, in transaction: Transaction) {
        transaction.send("DELETE FROM role_proposals WHERE person_id = $1", [.uuid(person)])
        transaction.send("UPDATE accounts SET role = $2 WHERE id = $1", [.uuid(person), .text(role.rawValue)])
    }

    /// Deletes the proposals for a person, and makes the role `user`.
    ///
    /// - Returns: the role that the person had; `nil` if it was `user`.
    static func drop(of person: Identifier, in transaction: Transaction) async throws -> Role? {
        transaction.send("DELETE FROM role_proposals WHERE person_id = $1", [.uuid(person)])
        return try await transaction.query(drop, [.uuid(person)]).first.map { Role(rawValue: try $0.text("role")) }
    }

    static func list(in database: Database) async throws -> RoleList {
        let people = try await database.read(people, [.integer(Int64(RoleList.most))]).map {
            RoleList.Person(userID: try $0.uuid("id"), role: Role(rawValue: try $0.text("role")))
        }
        let awaiting = try await database.read(awaiting, [.integer(Int64(RoleList.most))]).map {
            RoleList.Proposal(
                userID: try $0.uuid("person_id"), isGranted: try $0.bool("is_granted"),
                operatorName: try $0.text("operator_name"), until: try $0.timestamp("until"))
        }
        return RoleList(people: people, awaiting: awaiting)
    }

    private static let lock: Statement = """
        SELECT role FROM accounts WHERE id = $1 AND status = 'active' FOR NO KEY UPDATE
        """
    private static let drop: Statement = """
        WITH held AS MATERIALIZED (SELECT id, role FROM accounts WHERE id = $1 AND role <> 'user' FOR NO KEY UPDATE)
        UPDATE accounts a SET role = 'user' FROM held h WHERE a.id = h.id RETURNING h.role
        """
    private static let proposal: Statement = """
        SELECT operator_name, operator_key FROM role_proposals
        WHERE person_id = $1 AND is_granted = $2 AND until > clock_timestamp()
        """
    /// A repeated proposal does not wait longer.
    private static let propose: Statement = """
        INSERT INTO role_proposals AS p (person_id, is_granted, operator_name, operator_key, until)
        VALUES ($1, $2, $3, $4, clock_timestamp() + $5::bigint * interval '1 s')
        ON CONFLICT (person_id) DO UPDATE SET is_granted = excluded.is_granted, operator_name = excluded.operator_name,
            operator_key = excluded.operator_key, until = excluded.until
        WHERE p.until <= clock_timestamp() OR p.is_granted <> excluded.is_granted
        """
    private static let people: Statement = """
        SELECT id, role FROM accounts WHERE role <> 'user' AND status = 'active' ORDER BY role, id LIMIT $1
        """
    private static let awaiting: Statement = """
        SELECT person_id, is_granted, operator_name, until FROM role_proposals
        WHERE until > clock_timestamp() ORDER BY until LIMIT $1
        """
}
