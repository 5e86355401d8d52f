import BusProtocol
import EventLoop
import Foundation
import HTTPServer
import JSONText

/// Turns an HTTP request into the body of a message.
struct RequestBody: Sendable {
    let route: Route
    let parameters: [String: String]
    let request: HTTPRequest
    let recoveryToken: String?

    /// The most bytes that are read on the loop. Larger bodies are read off the loop, since they take milliseconds.
    private static let largestOnLoop = 16_384

    /// Whether the body is small enough for ``build()`` on the loop. Otherwise use ``buildOffLoop()``.
    var isShort: Bool { request.body.count <= Self.largestOnLoop }

    /// Does the same as ``build()``, off the loop.
    func buildOffLoop() async throws(Problem) -> [UInt8] {
        do {
            return try await Loop.compute { try build() }
        } catch {
            throw error as? Problem ?? Problem(.internalError, Problem.internalDetail)
        }
    }

    private func checkContentType() throws(Problem) {
        guard route.body != .none, !request.body.isEmpty else { return }
        let values = request.head.headers.all("content-type")
        // Nearly every client writes the type like this. The check saves time.
        if values == ["application/json"], request.head.headers.first("content-encoding") == nil { return }
        let parts = (values.first ?? "").lowercased().split(separator: ";").map { $0.filter { $0 != " " } }
        var accepted = ["application/json"]
        if route.method == .patch { accepted.append("application/merge-patch+json") }
        let charsetFits = parts.dropFirst().allSatisfy { $0 == "charset=utf-8" || $0 == "charset=\"utf-8\"" }
        let isPlain = request.head.headers.first("content-encoding") == nil
        guard values.count == 1, let type = parts.first, accepted.contains(type), charsetFits, isPlain else {
            throw Problem(
                .unsupportedMediaType,
                "The body must be \(accepted.joined(separator: " or ")) in UTF-8, not compressed.")
        }
    }

    /// The body of the message.
    ///
    /// - Throws: ``Problem`` 400, 404, 413, 415 or 422.
    func build() throws(Problem) -> [UInt8] {
        let bytes = try composed()
        // A body of the largest size may exceed the message's limit once the other members are added.
        guard let most = route.binding?.rules.largestBody, bytes.count > most else { return bytes }
        throw Problem(.bodyTooLarge, "The body is larger than \(most - (bytes.count - request.body.count)) bytes.")
    }

    private func composed() throws(Problem) -> [UInt8] {
        try checkContentType()
        let body = try checkedBody()
        var bytes = [UInt8(ascii: "{")]
        bytes.reserveCapacity(request.body.count + 256)
        func begin(_ name: [UInt8]) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes += name
        }
        for addition in route.additions {
            guard let value = try value(of: addition) else { continue }
            begin(addition.name)
            CanonicalJSON.append(value, to: &bytes)
        }
        for (name, value) in try queryMembers() {
            begin(name)
            bytes += value
        }
        if case .patch(let name) = route.body, let body {
            begin(CanonicalJSON.bytes(of: .string(name)) + [UInt8(ascii: ":")])
            bytes += body.rawText
        }
        guard case .members = route.body, let body, !body.isEmptyObject else { return bytes + [UInt8(ascii: "}")] }
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        // The client's members stay byte for byte as they were sent.
        return bytes + body.rawText.dropFirst()
    }

    /// The body as an object that fits the route's schema; `nil` if the route has no body.
    private func checkedBody() throws(Problem) -> JSONNode? {
        guard route.body != .none, let schema = route.bodySchema else { return nil }
        let root = try parsed(mayBeMissing: !schema.hasRequiredMembers).root
        guard root.kind == .object else { throw Problem(.malformedRequest, "The body must be a JSON object.") }
        let problems = schema.problems(in: root)
        guard problems.isEmpty else {
            var problem = Problem(problems)
            if case .patch = route.body, root.isEmptyObject {
                problem.detail = "The request changes nothing. Send at least one field."
            }
            throw problem
        }
        return root
    }

    private func parsed(mayBeMissing: Bool) throws(Problem) -> JSONDocument {
        guard mayBeMissing || !request.body.isEmpty else {
            throw Problem(.malformedRequest, "The body is missing. It must be a JSON object.")
        }
        do {
            return try JSONDocument(
                request.body.isEmpty ? Array("{}".utf8) : request.body,
                limits: route.binding?.rules.limits ?? .standard)
        } catch {
            throw Problem(.malformedRequest, "The body is not JSON: \(error.description).")
        }
    }

    private func value(of addition: Route.Addition) throws(Problem) -> String? {
        switch addition.source {
        case .recoveryToken: return recoveryToken
        case .query, .body: return nil
        case .header(let name):
            guard let value = request.head.headers.first(name) else { return nil }
            guard Self.fits(value, addition) else {
                throw Problem(.malformedRequest, "The header \(name) is not valid.")
            }
            if let pattern = addition.pattern, value.range(of: pattern, options: .regularExpression) == nil {
                throw Problem(
                    .malformedRequest,
                    "If-Match must be an ETag in double quotes, as it was answered: \"r4\".")
            }
            return value
        case .path(let name):
            // The answer is 404, since nothing can have an id of the wrong form.
            guard let value = parameters[name], Self.fits(value, addition) else {
                let problem = addition.declaration?.schema.problem(with: parameters[name] ?? "")
                throw Problem(.notFound, "{\(name)} in the path is not valid. \(problem ?? "There is nothing here.")")
            }
            return value
        }
    }

    /// Whether a text from the path or a header fits the schema of its member.
    private static func fits(_ value: String, _ addition: Route.Addition) -> Bool {
        !value.utf8.contains(0) && addition.declaration?.schema.fits(text: value) == true
    }

    /// The members from the query.
    ///
    /// - Throws: one ``Problem`` that lists all wrong parameters.
    private func queryMembers() throws(Problem) -> [(name: [UInt8], value: [UInt8])] {
        guard let query = request.head.query else { return [] }
        let given = Self.parameters(of: query)
        var (members, problems) = ([(name: [UInt8], value: [UInt8])](), [SchemaProblem]())
        for addition in route.additions {
            guard case .query(let name) = addition.source, let values = given[name],
                let schema = addition.declaration?.schema
            else { continue }
            let value = Self.json(values[0], schema)
            let found = (try? JSONDocument(value)).map { schema.problems(in: $0.root) } ?? []
            func problem(_ code: String, _ message: String) -> SchemaProblem {
                SchemaProblem(
                    field: name, pointer: JSONPointer.appending(name), code: code, message: message)
            }
            problems += found.map { problem($0.code, $0.message) }
            if values.count > 1 {
                problems.append(problem("not_allowed", "Must be given once."))
            }
            members.append((addition.name, value))
        }
        guard problems.isEmpty else { throw Problem(problems) }
        return members
    }

    /// The text of a parameter as JSON: a number where the schema wants one, else a string.
    private static func json(_ text: String, _ schema: JSONSchema) -> [UInt8] {
        switch schema {
        case .integer: if let number = Int64(text) { return Array("\(number)".utf8) }
        case .number:
            if let root = try? JSONDocument(Array(text.utf8)).root, root.kind == .number { return Array(root.rawText) }
        default: break
        }
        return CanonicalJSON.bytes(of: .string(text))
    }

    /// The parameters by name, decoded like those of an HTML form. Parameters that are not UTF-8 are left out.
    static func parameters(of query: String) -> [String: [String]] {
        var parameters: [String: [String]] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.replacing("+", with: " ").split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts[0].removingPercentEncoding, parts.count == 2,
                let value = parts[1].removingPercentEncoding
            else { continue }
            parameters[name, default: []].append(value)
        }
        return parameters
    }
}

extension JSONSchema {
    var hasRequiredMembers: Bool {
        switch self {
        case .object(let members): members.contains(where: \.isRequired)
        case .map(_, let count): count.lowerBound > 0
        case .named(_, let inner): inner.hasRequiredMembers
        default: false
        }
    }
}
