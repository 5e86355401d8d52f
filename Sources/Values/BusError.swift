import JSONText

/// The way in which a call failed. It decides whether the caller repeats the call. Where gRPC has a fitting name, this
/// is that name. The set is open.
public struct BusStatus: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// The request is wrong in any state of the service.
    public static let invalidArgument: BusStatus = "INVALID_ARGUMENT"
    /// The caller did not prove who they are.
    public static let unauthenticated: BusStatus = "UNAUTHENTICATED"
    /// The caller may not do this.
    public static let permissionDenied: BusStatus = "PERMISSION_DENIED"
    /// The resource that the request names does not exist.
    public static let notFound: BusStatus = "NOT_FOUND"
    /// The resource that the request would create exists already.
    public static let alreadyExists: BusStatus = "ALREADY_EXISTS"
    /// The state of the resource does not allow this.
    public static let failedPrecondition: BusStatus = "FAILED_PRECONDITION"
    /// Another request got in the way.
    public static let aborted: BusStatus = "ABORTED"
    /// The caller exceeded a limit.
    public static let resourceExhausted: BusStatus = "RESOURCE_EXHAUSTED"
    /// The receiver does not know the message.
    public static let unimplemented: BusStatus = "UNIMPLEMENTED"
    /// No replica could answer. A later repetition may succeed.
    public static let unavailable: BusStatus = "UNAVAILABLE"
    /// The service refused the request because it has too much to do.
    public static let overloaded: BusStatus = "OVERLOADED"
    /// The caller's time ran out.
    public static let deadlineExceeded: BusStatus = "DEADLINE_EXCEEDED"
    /// The caller gave the request up.
    public static let cancelled: BusStatus = "CANCELLED"
    /// The service failed in a way that the caller cannot act on.
    public static let `internal`: BusStatus = "INTERNAL"
}

/// One kind of failure, for programs. `ErrorCodes.swift` has the whole list.
public struct ErrorCode: Hashable, Sendable {
    /// The `code` of a problem document, in lower snake case.
    public let name: String
    /// The status on the bus.
    public let status: BusStatus
    /// The status in the public API.
    public let httpStatus: Int
    /// The `title` of a problem document.
    public let title: String

    /// Takes the name, the two statuses and the title.
    public init(_ name: String, _ status: BusStatus, http httpStatus: Int, _ title: String) {
        (self.name, self.status, self.httpStatus, self.title) = (name, status, httpStatus, title)
    }
}

/// Whether the work was done although the reply is an error. A retry is safe only after ``no``.
public enum Executed: String, Sendable, Codable { case no, yes, unknown }

/// A refusal or a failure on the bus, with a sentence for a person and data for a program.
public struct BusError: Error, Sendable, Codable, Equatable {
    /// The status on the bus.
    public var status: BusStatus
    /// The name of an ``ErrorCode``.
    public var code: String
    /// One sentence that a person may see. It contains nothing internal and nothing personal.
    public var detail: String
    /// Whether the work was done.
    public var executed: Executed
    /// When the caller may try again, in milliseconds from now; `nil` if unknown.
    public var retryAfterMs: Int64?
    /// The problems of single members of the request.
    public var errors: [FieldProblem]?
    /// Members of the problem document besides the standard ones: `attemptsRemaining`, `eligibleOn`.
    public var details: [String: JSONValue]?

    /// The problem of one member of a request.
    public struct FieldProblem: Sendable, Codable, Hashable {
        /// The member, as in ``SchemaProblem/field``; or the place of a question that lacks an answer.
        public var field: String
        /// The member as a JSON pointer (RFC 6901), since a name in `field` may itself have a dot.
        public var pointer: String?
        /// The code of the problem for programs, such as `too_small`.
        public var code: String
        /// One sentence that a person may see.
        public var message: String
        /// Takes the member, the code and the sentence. Without a pointer, ``place`` follows from the member.
        public init(field: String, pointer: String? = nil, code: String, message: String) {
            (self.field, self.pointer, self.code, self.message) = (field, pointer, code, message)
        }

        /// The place of the member as a JSON pointer (RFC 6901): `/answers/0/value`. A place in a document is a pointer
        /// already.
        public var place: String {
            if let pointer { return pointer }
            guard !field.isEmpty, !field.hasPrefix("/") else { return field }
            return field.split(separator: ".", omittingEmptySubsequences: false)
                .reduce("") { JSONPointer.appending(String($1), to: $0) }
        }
    }

    /// Takes the error code and the sentence for a person. By default nothing was executed.
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

extension BusError {
    /// The answer to a caller after another service has failed.
    ///
    /// - Parameter refusal: an error that asks the caller to try again. It is the answer if the same call may succeed
    ///   later without a change of the program or the data.
    public func answer(ifItPasses refusal: BusError) -> BusError {
        // During an upgrade, a replica of the previous release may not know the message.
        let passing: Set<BusStatus> = [
            .unavailable, .overloaded, .deadlineExceeded, .cancelled, .aborted, .resourceExhausted, .unimplemented,
        ]
        return passing.contains(status)
            ? refusal : BusError(.internalError, "Something went wrong on our side.", executed: .unknown)
    }
}

/// A service's own error that has a form on the wire. Any other error becomes `internal_error`, without its text.
public protocol BusErrorConvertible: Error {
    /// The error on the wire.
    var busError: BusError { get }
}

/// An error whose log entry may show more than its type.
public protocol LogNamed: Error {
    /// The name for logs. It contains nothing personal and nothing secret.
    var logName: String { get }
}

extension BusError: BusErrorConvertible, LogNamed {
    public var busError: BusError { self }
    public var logName: String { code }
}
