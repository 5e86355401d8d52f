import BusProtocol
import HTTPServer
import JSONText

extension ErrorCode {
    static let expectationFailed = ErrorCode("expectation_failed", .invalidArgument, http: 417, "Expectation failed")
    static let requestTimeout = ErrorCode("request_timeout", .deadlineExceeded, http: 408, "Request timeout")
    static let versionNotSupported = ErrorCode(
        "version_not_supported", .unimplemented, http: 505, "HTTP version not supported")
}

extension Problem {
    /// The problem for a request that the HTTP server refused to read.
    init(_ refusal: HTTPRefusal) {
        let code: ErrorCode =
            switch refusal {
            case .malformed: .malformedRequest
            case .headersTooLarge: .headersTooLarge
            case .bodyTooLarge: .bodyTooLarge
            case .unsupportedTransferCoding: .notImplemented
            case .unsupportedVersion: .versionNotSupported
            case .expectationFailed: .expectationFailed
            case .timeout: .requestTimeout
            }
        self.init(code, refusal.sentence)
    }

    /// The problem for a body or query that does not fit the schema. It lists all wrong members.
    init(_ problems: [SchemaProblem]) {
        self.init(.validationFailed, "Some members of the request are missing or wrong.")
        errors = problems.map { .init(field: $0.field, pointer: $0.pointer, code: $0.code, message: $0.message) }
    }

    /// The problem for an error reply of a service, or for a failure of the bus.
    init(_ error: BusError) {
        switch error.code {
        // These details name messages and members of the bus, which the client does not know.
        case ErrorCode.invalidMessage.name: self.init(.validationFailed, "The request cannot be taken as it is.")
        case ErrorCode.unknownMessage.name: self.init(.notImplemented, "This is not available yet.")
        case ErrorCode.callerNotAllowed.name: self.init(.internalError, Self.internalDetail)
        default:
            if let code = Self.codes[error.code] {
                self.init(code, error.detail)
            } else {
                self.init(Self.code(of: error.status), Self.internalDetail)
            }
        }
        if let milliseconds = error.retryAfterMs { retryAfterSeconds = max(1, (milliseconds + 999) / 1000) }
        // If the gateway replaced the detail, it leaves out the service's other members, too.
        guard detail == error.detail else { return }
        errors = error.errors ?? []
        members = error.details ?? [:]
    }

    static let internalDetail = "Something went wrong on our side. Please try again."

    /// The code for an error whose own code this gateway does not know yet.
    private static func code(of status: BusStatus) -> ErrorCode {
        switch status {
        case .unavailable: .serviceUnavailable
        case .overloaded: .overloaded
        case .deadlineExceeded: .deadlineExceeded
        case .notFound: .notFound
        case .permissionDenied: .forbidden
        case .resourceExhausted: .rateLimited
        default: .internalError
        }
    }

    /// Every error code of the services, by name.
    static let codes: [String: ErrorCode] = {
        let common: [ErrorCode] = [
            .serviceUnavailable, .overloaded, .deadlineExceeded, .internalError, .validationFailed, .unauthorized,
            .forbidden, .notFound, .idempotencyKeyReused, .requestInProgress, .idempotencyAnswerGone,
            .preconditionFailed, .rateLimited, .notImplemented, .reauthenticationRequired,
        ]
        let declared = MessageCatalogue.all.flatMap { $0.rules.errors }
        return Dictionary((common + declared).map { ($0.name, $0) }) { first, _ in first }
    }()
}
