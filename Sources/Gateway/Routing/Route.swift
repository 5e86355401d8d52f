import BusProtocol
import JSONText

/// A route of the public API with its target.
///
/// It is a class because each request passes its route on several times, and passing a structure copies every member.
@dynamicMemberLookup final class Route: Sendable {
    typealias Access = HTTPRoute.Access
    typealias Source = HTTPRoute.Source

    enum Target: Sendable {
        case message(MessageBinding)
        case local(LocalAnswer)
        /// The export of a person's data: pages of several services in one document.
        case export
        /// The session of a web app, whose tokens the gateway keeps in a cookie.
        case webSession(WebSessionAct)
    }

    /// The responses that the gateway makes without a message to a service.
    enum LocalAnswer: Sendable {
        case health, readiness, openAPI, docs, guide, signingKeys, metrics, services

        /// Whether monitors ask for this answer. It has no rate limit.
        var isProbe: Bool { self == .health || self == .readiness }
    }

    /// How the JSON body becomes members of the message.
    enum Body: Sendable, Equatable {
        /// There is no body.
        case none
        /// The members of the body become members of the message.
        case members
        /// The body is a merge patch, and all of it becomes this one member.
        case patch(String)
    }

    /// A member of the message that does not come from the body.
    struct Addition: Sendable {
        let member: String
        /// The member's name in JSON, with its colon.
        let name: [UInt8]
        let source: Source
        /// The declaration of the member in the message.
        let declaration: JSONSchema.Member?

        /// A regular expression that the text matches. `If-Match` is `*` or a list of entity tags in ASCII (RFC 9110,
        /// section 13.1.1).
        var pattern: String? {
            source == .header("if-match") ? #"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"# : nil
        }
    }

    private let declaration: HTTPRoute
    /// The name of the operation for clients: `sendOTP`.
    let id: String
    let path: PathTemplate
    let target: Target
    /// The HTTP status of a reply that is not an error.
    let success: Int
    let body: Body
    /// The schema of the body: the message's schema without the ``additions``.
    let bodySchema: JSONSchema?
    /// In the order of the members' names.
    let additions: [Addition]

    /// A route that sends a message. Its path and method are those of the message unless `route` says otherwise.
    convenience init<Request: PublicRequest>(_ request: Request.Type, at route: HTTPRoute = Request.route) {
        let name = JSONSchema.Name(of: request, words: "").text
        self.init(
            route, .message(MessageBinding(request)), Request.sources,
            id: name.prefix(1).lowercased() + name.dropFirst())
    }

    /// A route without a message of its own.
    convenience init(
        _ method: HTTPRoute.Method, _ path: String, _ access: Access, _ target: Target, _ id: String,
        _ summary: String, success: Int? = nil, body: JSONSchema? = nil
    ) {
        self.init(HTTPRoute(method, path, access, summary, success: success), target, [:], id: id, ownBody: body)
    }

    private init(
        _ declaration: HTTPRoute, _ target: Target, _ sources: [String: Source], id: String,
        ownBody: JSONSchema? = nil
    ) {
        self.declaration = declaration
        self.id = id
        self.target = target
        path = PathTemplate(declaration.path)
        let binding: MessageBinding? = if case .message(let binding) = target { binding } else { nil }
        success = declaration.success ?? (binding?.replyIsEmpty == true ? 204 : 200)
        let members = binding?.members ?? []
        let others = members.filter { sources[$0.name] == nil }
        let bodyName = "\(id.capitalizedFirst)Request"
        if let patch = sources.first(where: { $0.value == .body })?.key {
            body = .patch(patch)
            let member = members.first { $0.name == patch }
            bodySchema = member?.schema.nonEmpty.named(bodyName, member?.note ?? "")
        } else if let ownBody {
            (body, bodySchema) = (.members, ownBody)
        } else {
            body = declaration.method == .get || others.isEmpty ? .none : .members
            bodySchema = body == .members ? .object(others).named(bodyName, "The body of `\(id)`.") : nil
        }
        additions = sources.filter { $0.value != .body }.sorted { $0.key < $1.key }.map { name, source in
            Addition(
                member: name, name: CanonicalJSON.bytes(of: .string(name)) + [UInt8(ascii: ":")], source: source,
                declaration: members.first { $0.name == name })
        }
    }

    subscript<Value>(dynamicMember member: KeyPath<HTTPRoute, Value>) -> Value { declaration[keyPath: member] }

    /// The message behind the route.
    var binding: MessageBinding? { if case .message(let binding) = target { binding } else { nil } }
}

extension JSONSchema {
    /// A map with at least one entry. A patch that changes nothing is a mistake of the client.
    fileprivate var nonEmpty: JSONSchema {
        guard case .map(let element, let count) = self else { return self }
        return .map(of: element, count: max(1, count.lowerBound)...count.upperBound)
    }
}

/// The schema and the rules of a message. The gateway needs no other knowledge of its Swift type.
///
/// It is a class for the same reason as ``Route``.
final class MessageBinding: Sendable {
    let type: MessageType
    let version: UInt16
    let schema: JSONSchema
    let rules: MessageRules
    /// The members of the schema; none if it is no schema of an object.
    var members: [JSONSchema.Member] { schema.members }
    /// The first paragraph of the message's doc comment.
    var words: String { if case .named(let name, _) = schema { name.words } else { "" } }
    let replySchema: JSONSchema
    let replyIsEmpty: Bool

    init<Request: PublicRequest>(_ request: Request.Type) {
        type = request.type
        version = request.version
        schema = request.schema
        rules = request.rules
        replySchema = Request.Reply.schema
        replyIsEmpty = Request.Reply.self == NoContent.self
    }
}
