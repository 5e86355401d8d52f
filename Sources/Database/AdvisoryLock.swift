/// The advisory locks of the services, in the order in which a transaction may take them.
///
/// Two transactions that take locks in different orders could wait for each other. Debug builds stop at a wrong order.
///
/// A lock is held until its transaction ends. Its key includes the schema, because the services may share a database.
package enum AdvisoryLock: String, CaseIterable, Sendable {
    /// Each service: migrations, one process at a time. It is the only lock that a database session holds.
    case migrations
    /// Documents with versions: publication of a version.
    case definitions
    /// Documents with versions: drafts of one document.
    case draft
    /// Auth: one recovery, by the ID of its case.
    case recovery
    /// Each service: one person, from the first row about them until their erasure.
    case person
    /// Recovery: the claims by one number.
    case claimant
    /// Auth: first the codes that one client address requests, then the codes and attempts for one number.
    case codes
    /// Auth: creation of an account for one number.
    case number
    /// Auth: creation of the next key for access tokens.
    case signingKeys = "signing-keys"
    /// Each service: the next run of anchors. `audit_anchor` in the database takes the same lock.
    case auditAnchors = "audit-anchors"

    /// SQL that waits for the lock, and does not wait if the expression is null.
    ///
    /// - Parameter what: an SQL expression for a text, if each text has its own lock; `nil` if there is only one lock.
    package func wait(for what: String? = nil) -> String { "pg_advisory_xact_lock(\(key(of: what)))" }

    /// SQL of the lock's key, 64 bits.
    ///
    /// - Parameter schema: an SQL expression. The caller gives it if the schema may not exist yet.
    func key(of what: String? = nil, in schema: String = "current_schema()") -> String {
        "hashtextextended(\(schema) || '/\(rawValue)/'\(what.map { " || \($0)" } ?? ""), 0)"
    }

    /// The locks that a statement takes, in the order of its text.
    static func taken(by statement: Statement) -> [AdvisoryLock] {
        statement.sql.split(separator: "pg_advisory_xact_lock").dropFirst().compactMap { rest in
            rest.split(separator: "/").dropFirst().first.flatMap { AdvisoryLock(rawValue: String($0)) }
        }
    }

    /// Whether a transaction may take this lock after another one.
    func mayFollow(_ other: AdvisoryLock) -> Bool {
        for lock in Self.allCases {
            if lock == other { return true }
            if lock == self { return false }
        }
        return false
    }
}
