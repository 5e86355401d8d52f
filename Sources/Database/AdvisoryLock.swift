/// The advisory locks of the services, in the order in which a transaction may take them: who took them in another order could
/// wait for somebody who waits for them. Debug builds stop at a transaction that does.
///
/// A lock is held until its transaction ends. Its key has the schema in it, since the services may share a database.
public enum AdvisoryLock: String, CaseIterable, Sendable {
    /// Each service: migrations, one process after the other. The only lock that a session holds.
    case migrations
    /// Questionnaire: who publishes a definition.
    case definitions
    /// Questionnaire: drafts of one questionnaire.
    case draft
    /// Auth: one recovery, by its case's id.
    case recovery
    /// Each service: one person, from the first row about them to their erasure.
    case person
    /// Recovery: claims of one number.
    case claimant
    /// Auth: codes that one client address asks for, then codes for one number and tries at them.
    case codes
    /// Auth: who gives one number an account.
    case number
    /// Auth: who makes the next key for access tokens.
    case signingKeys = "signing-keys"
    /// Each service: the next run of anchors. `audit_anchor` in the database takes the same.
    case auditAnchors = "audit-anchors"

    /// SQL that waits for the lock, and for nobody where what is locked is null.
    ///
    /// - Parameter what: an SQL expression for a text, where there is one lock for each; `nil` where there is one in all.
    public func wait(for what: String? = nil) -> String { "pg_advisory_xact_lock(\(key(of: what)))" }

    /// SQL of the lock's key, 64 bits.
    ///
    /// - Parameter schema: an SQL expression; it is told where the schema may not be there yet.
    func key(of what: String? = nil, in schema: String = "current_schema()") -> String {
        "hashtextextended(\(schema) || '/\(rawValue)/'\(what.map { " || \($0)" } ?? ""), 0)"
    }

    /// What a statement takes, in the order of its text.
    static func taken(by statement: Statement) -> [AdvisoryLock] {
        statement.sql.split(separator: "pg_advisory_xact_lock").dropFirst().compactMap { rest in
            rest.split(separator: "/").dropFirst().first.flatMap { AdvisoryLock(rawValue: String($0)) }
        }
    }

    /// Whether it may be taken by who took another one.
    func mayFollow(_ other: AdvisoryLock) -> Bool {
        for lock in Self.allCases {
            if lock == other { return true }
            if lock == self { return false }
        }
        return false
    }
}
