import Values

/// The way in which the database failed a request. It contains no part of a statement, a parameter or the server's own
/// messages.
package enum DatabaseError: Error, Sendable, Equatable, BusErrorConvertible {
    /// There was no connection, or it broke during the request.
    case unavailable
    /// The answer to a commit was lost. The commit may have happened.
    case commitUnknown
    /// Every connection was in use for too long.
    case busy
    /// Another statement in the same pipeline failed, so nothing was done.
    case aborted
    /// PostgreSQL refused the statement. The tables are the ones that the statement names. They are for the log. Two
    /// failures that differ only in them are equal.
    case statement(sqlState: String, constraint: String?, tables: String? = nil)
    /// A column is missing, NULL or of another type. This is a defect of the service.
    case unreadable(column: String)

    package static func == (a: DatabaseError, b: DatabaseError) -> Bool {
        switch (a, b) {
        case (.statement(let state, let constraint, _), .statement(let otherState, let otherConstraint, _)):
            state == otherState && constraint == otherConstraint
        case (.unreadable(let column), .unreadable(let other)): column == other
        case (.unavailable, .unavailable), (.commitUnknown, .commitUnknown), (.busy, .busy), (.aborted, .aborted): true
        default: false
        }
    }

    /// PostgreSQL's `unique_violation`: another transaction was faster.
    package var isUniqueViolation: Bool {
        if case .statement(let sqlState, _, _) = self { sqlState == "23505" } else { false }
    }

    /// PostgreSQL's `unique_violation` of the constraint with this name.
    package func isUniqueViolation(of constraint: String) -> Bool {
        self == .statement(sqlState: "23505", constraint: constraint)
    }

    /// PostgreSQL's `invalid_sql_statement_name`. A statement before it aborted its preparation, so nothing was done.
    var isUnprepared: Bool {
        if case .statement(let sqlState, _, _) = self { sqlState == "26000" } else { false }
    }

    /// PostgreSQL's `lock_not_available`: another transaction held the row for too long.
    package var isLockTimeout: Bool {
        if case .statement(let sqlState, _, _) = self { sqlState == "55P03" } else { false }
    }

    /// Whether a wait for a lock or a connection, or the statement itself, took too long.
    package var isTimeout: Bool {
        switch self {
        case .busy: true
        case .statement(let sqlState, _, _): ["55P03", "57014"].contains(sqlState)
        default: false
        }
    }

    package var busError: BusError {
        switch self {
        case .unavailable, .aborted:
            BusError(
                .serviceUnavailable, "The service is not available right now. Please try again.",
                retryAfter: .seconds(1))
        case .commitUnknown:
            BusError(
                .serviceUnavailable, "The service is not available right now. Please try again.", executed: .unknown,
                retryAfter: .seconds(1))
        case .busy: BusError(.overloaded, "The service is busy. Please try again.", retryAfter: .seconds(1))
        case .statement(let sqlState, _, _) where ["55P03", "57014", "40001", "40P01"].contains(sqlState):
            BusError(.overloaded, "The service is busy. Please try again.", retryAfter: .seconds(1))
        case .statement(let sqlState, _, _)
        where sqlState.hasPrefix("57") || sqlState.hasPrefix("53") || sqlState == "25006":
            BusError(
                .serviceUnavailable, "The service is not available right now. Please try again.",
                retryAfter: .seconds(1))
        case .statement, .unreadable: BusError(.internalError, "Something went wrong on our side.")
        }
    }
}

extension DatabaseError: LogNamed {
    /// For a refusal: the SQLSTATE, the constraint and the tables.
    package var logName: String {
        switch self {
        case .statement(let sqlState, let constraint, let tables):
            ["SQLSTATE \(sqlState)", constraint, tables.map { "on \($0)" }].compactMap(\.self).joined(separator: " ")
        case .busy: "no connection was free in time"
        case .unreadable(let column): "unreadable column \(column)"
        default: "database \(self)"
        }
    }
}
