import BusProtocol
import EventLoop
import HTTPServer
import JSONText

/// Turns an HTTP request into the body of a message.
struct RequestBody: Sendable {
    let route: Route
    let parameters: [String: String]
    let request: HTTPRequest
    let recoveryToken: String?

    /// Bodies beyond this are read off the loop: they would hold it for milliseconds. Bytes.
    private static let largestOnLoop = 16_384

    /// Whether building takes moments only; otherwise ``buildOffLoop()`` is for it.
    var isShort: Bool { request.body.count <= Self.largestOnLoop }

    /// As ``build()``, off the loop.
    func buildOffLoop() async throws(Problem) -> [UInt8] {
        do {
            return try await Loop.offload { try build() }
        } catch {
            throw error as? Problem ?? Problem(.internalError, Problem.internalDetail)
        }
    }

    private func checkContentType() throws(Problem) {
        guard route.body != .none, !request.body.isEmpty else { return }
        let values = request.head.headers.all("content-type")
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
        // With what is added to it, a body of the largest size may be more than the message takes.
        guard let most = route.binding?.rules.largestBody, bytes.count > most else { return bytes }
        throw Problem(.bodyTooLarge, "The body is larger than \(most - (bytes.count - request.body.count)) bytes.")
    }

    private func composed() throws(Problem) -> [UInt8] {
        try checkContentType()
        let body = try checkedBody()
        var members: [String] = []
        for (name, source) in route.sources.sorted(by: { $0.key < $1.key }) {
            guard let value = try value(of: name, from: source) else { continue }
            members.append("\(Self.quoted(name)):\(Self.quoted(value))")
        }
        members += try queryMembers()
        if case .patch(let name) = route.body, let body {
            members.append("\(Self.quoted(name)):\(String(decoding: body.rawText, as: UTF8.self))")
        }
        let added = Array(members.joined(separator: ",").utf8)
        guard case .members = route.body, let body, !body.members.isEmpty else { return [0x7b] + added + [0x7d] }
        // The client's members stay as they were written, number for number.
        return [0x7b] + added + (added.isEmpty ? [] : [0x2c]) + body.rawText.dropFirst()
    }

    /// The body as an object that fits the route; `nil` where the route has none.
    private func checkedBody() throws(Problem) -> JSONNode? {
        guard route.body != .none, let schema = route.bodySchema else { return nil }
        let root = try parsed(mayBeMissing: !schema.hasRequiredMembers).root
        guard root.kind == .object else { throw Problem(.malformedRequest, "The body must be a JSON object.") }
        let problems = schema.problems(in: root)
        guard problems.isEmpty else { throw Problem(problems) }
        return root
    }

    private func parsed(mayBeMissing: Bool) throws(Problem) -> JSONDocument {
        guard mayBeMissing || !request.body.isEmpty else {
            throw Problem(.malformedRequest, "There is no body, and a JSON object is needed.")
        }
        do {
            return try JSONDocument(
                request.body.isEmpty ? Array("{}".utf8) : request.body,
                limits: route.binding?.rules.limits ?? .standard)
        } catch {
            throw Problem(.malformedRequest, "The body is not JSON: \(error.description).")
        }
    }

    private func value(of member: String, from source: Route.Source) throws(Problem) -> String? {
        switch source {
        case .recoveryToken: return recoveryToken
        case .query: return nil
        case .header(let name):
            guard let value = request.head.headers.first(name) else { return nil }
            guard fits(value, member) else {
                throw Problem(.malformedRequest, "The header \(name) is not valid.")
            }
            return value
        case .path(let name):
            // What cannot be an id is the id of nothing.
            guard let value = parameters[name], fits(value, member) else {
                throw Problem(.notFound, "There is nothing here.")
            }
            return value
        }
    }

    /// Members that come from the query, every problem of it at once.
    private func queryMembers() throws(Problem) -> [String] {
        let given = queryParameters()
        var (members, problems) = ([String](), [SchemaProblem]())
        for case (let member, .query(let name)) in route.sources.sorted(by: { $0.key < $1.key }) {
            guard let values = given[name], let schema = route.memberSchema(member) else { continue }
            // A number is written in the query as in JSON.
            let text =
                if case .integer = schema, let number = Int64(values[0]) { "\(number)" } else { Self.quoted(values[0]) }
            let found = (try? JSONDocument(Array(text.utf8))).map { schema.problems(in: $0.root) } ?? []
            problems += found.map { SchemaProblem(field: name, code: $0.code, message: $0.message) }
            if values.count > 1 {
                problems.append(SchemaProblem(field: name, code: "not_allowed", message: "Must be given once."))
            }
            members.append("\(Self.quoted(member)):\(text)")
        }
        guard problems.isEmpty else { throw Problem(problems) }
        return members
    }

    /// By name, as a form would send them; what is not UTF-8 is not there.
    private func queryParameters() -> [String: [String]] {
        var parameters: [String: [String]] = [:]
        for pair in (request.head.query ?? "").split(separator: "&") {
            let parts = pair.replacing("+", with: " ").split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts[0].removingPercentEncoding, parts.count == 2,
                let value = parts[1].removingPercentEncoding
            else { continue }
            parameters[name, default: []].append(value)
        }
        return parameters
    }

    /// Whether a text may stand for a member of the message.
    private func fits(_ value: String, _ member: String) -> Bool {
        guard let schema = route.memberSchema(member),
            let document = try? JSONDocument(Array(Self.quoted(value).utf8))
        else { return false }
        return schema.problems(in: document.root).isEmpty
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: CanonicalJSON.bytes(of: .string(text)), as: UTF8.self)
    }
}

extension JSONSchema {
    var hasRequiredMembers: Bool {
        if case .object(let members) = self { members.contains(where: \.isRequired) } else { false }
    }
}
