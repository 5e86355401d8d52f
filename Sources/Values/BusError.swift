import JSONText

/// How a call failed; it decides whether it is tried again. gRPC's names where they fit. An open set.
public struct BusStatus: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let invalidArgument: BusStatus = "INVALID_ARGUMENT"
    public static let unauthenticated: BusStatus = "UNAUTHENTICATED"
    public static let permissionDenied: BusStatus = "PERMISSION_DENIED"
    public static let notFound: BusStatus = "NOT_FOUND"
    public static let alreadyExists: BusStatus = "ALREADY_EXISTS"
    public static let failedPrecondition: BusStatus = "FAILED_PRECONDITION"
    public static let aborted: BusStatus = "ABORTED"
    public static let resourceExhausted: BusStatus = "RESOURCE_EXHAUSTED"
    public static let unimplemented: BusStatus = "UNIMPLEMENTED"
    public static let unavailable: BusStatus = "UNAVAILABLE"
    public static let overloaded: BusStatus = "OVERLOADED"
    public static let deadlineExceeded: BusStatus = "DEADLINE_EXCEEDED"
    public static let cancelled: BusStatus = "CANCELLED"
    public static let `internal`: BusStatus = "INTERNAL"
}

/// One kind of failure, as programs know it. The whole list is in `ErrorCodes.swift`.
public struct ErrorCode: Hashable, Sendable {
    /// Lower snake case, the `code` of a problem document.
    public let name: String
    public let status: BusStatus
    /// The status of the public API.
    public let httpStatus: Int
    /// The `title` of a problem document.
    public let title: String

    public init(_ name: String, _ status: BusStatus, http httpStatus: Int, _ title: String) {
        (self.name, self.status, self.httpStatus, self.title) = (name, status, httpStatus, title)
    }
}

/// Whether the work was done although the answer is an error: it is what makes a retry safe.
public enum Executed: String, Sendable, Codable { case no, yes, unknown }

/// A refusal or a failure on the bus, with what a person may be told and what a program can act on.
public struct BusError: Error, Sendable, Codable, Equatable {
    public var status: BusStatus
    /// An ``ErrorCode``'s name.
    public var code: String
    /// One sentence that a person may be shown. Nothing internal and nothing personal.
    public var detail: String
    public var executed: Executed
    public var retryAfterMs: Int64?
    public var errors: [FieldProblem]?
    /// Members of the problem document beside the standard ones: `attemptsRemaining`, `eligibleOn`.
    public var details: [String: JSONValue]?

    public struct FieldProblem: Sendable, Codable, Hashable {
        public var field: String
        public var code: String
        public var message: String
        public init(field: String, code: String, message: String) {
            (self.field, self.code, self.message) = (field, code, message)
        }
    }

    public init(
        _ code: ErrorCode, _ detail: String, executed: Executed = .no, retryAfter: Duration? = nil,
        errors: [FieldProblem]? = nil, details: [String: JSONValue]? = nil
    ) {
        status = code.status
        self.code = code.name
        self.detail = detail
        self.executed = executed
        retryAfterMs = retryAfter.map {
            $0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000
        }
        self.errors = errors
        self.details = details
    }
}

/// An error of a service's own that knows what it is on the wire. Any other error leaves as `internal_error`, without a
/// word of its text.
public protocol BusErrorConvertible: Error {
    var busError: BusError { get }
}

/// An error of which a log may say more than its type.
public protocol LogNamed: Error {
    /// Nothing personal and nothing secret.
    var logName: String { get }
}

extension BusError: BusErrorConvertible, LogNamed {
    public var busError: BusError { self }
    public var logName: String { code }
}
