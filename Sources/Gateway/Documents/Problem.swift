import BusProtocol
import HTTPServer
import JSONText
import Languages

/// A problem document (RFC 9457) with the headers that go with it.
struct Problem: Error, Sendable {
    var code: String
    var status: Int
    var title: String
    /// A sentence to show to a person.
    var detail: String
    var errors: [BusError.FieldProblem] = []
    var retryAfterSeconds: Int64?
    /// Members beside the standard ones, such as `attemptsRemaining`. ``response(traceID:)`` overwrites standard ones.
    var members: [String: JSONValue] = [:]
    var headers = HTTPHeaders()

    init(_ code: ErrorCode, _ detail: String, retryAfterSeconds: Int64? = nil) {
        (self.code, status, title, self.detail) = (code.name, code.httpStatus, code.title, detail)
        self.retryAfterSeconds = retryAfterSeconds ?? ([503, 504].contains(code.httpStatus) ? 1 : nil)
    }

    /// The same problem with its sentences in a language.
    func told(in language: Language) -> Problem {
        var told = self
        told.title = language.translation(of: title)
        told.detail = language.translation(of: detail)
        for index in errors.indices { told.errors[index].message = language.translation(of: errors[index].message) }
        told.headers.set("content-language", language.tag)
        told.headers.set("vary", "Accept-Language")
        return told
    }

    /// - Parameter traceID: the trace ID of the request, as in its log records. It also becomes the header `Trace-Id`.
    func response(traceID: String) -> HTTPResponse {
        var document = members
        document["type"] = .string("urn:vestibule:problem:\(code)")
        document["title"] = .string(title)
        document["status"] = .integer(Int64(status))
        document["code"] = .string(code)
        document["detail"] = .string(detail)
        document["traceId"] = .string(traceID)
        document["retryAfterSeconds"] = retryAfterSeconds.map { .integer($0) }
        if !errors.isEmpty {
            document["errors"] = .array(
                errors.map {
                    [
                        "field": .string($0.field), "pointer": .string($0.place),
                        "code": .string($0.code), "message": .string($0.message),
                    ]
                })
        }
        var headers = headers
        headers.set("content-type", "application/problem+json")
        headers.set("cache-control", "no-store")
        headers.set("trace-id", traceID)
        if let retryAfterSeconds { headers.set("retry-after", String(retryAfterSeconds)) }
        if status == 401 { headers.set("www-authenticate", "Bearer") }
        return HTTPResponse(status: status, headers: headers, body: CanonicalJSON.bytes(of: .object(document)))
    }
}
