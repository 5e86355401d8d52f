import BusProtocol
import JSONText

/// One line of the route table: a route of the public API, and what answers it.
///
/// A class: a route is handed on several times a request, and of a structure each time copies every member.
@dynamicMemberLookup final class Route: Sendable {
    typealias Access = HTTPRoute.Access
    typealias Source = HTTPRoute.Source

    enum Target: Sendable {
        case message(MessageBinding)
        case local(LocalAnswer)
        /// Pages of several services in one document.
        case export
        /// Part of the public API and not built yet: 501.
        case later
    }

    /// What the gateway answers by itself.
    enum LocalAnswer: Sendable {
        case health, readiness, openAPI, docs, signingKeys, metrics, services

        /// Asked by who watches the gateway, as often as they like.
        var isProbe: Bool { self == .health || self == .readiness }
    }

    /// How the JSON body becomes members of the message.
    enum Body: Sendable, Equatable {
        /// There is none.
        case none
        /// Its members are the message's members.
        case members
        /// The whole of it is this member; a merge patch.
        case patch(String)
    }

    /// A member of the message that the body does not have.
    struct Addition: Sendable {
        let member: String
        /// The member's name in JSON, with its colon.
        let name: [UInt8]
        let source: Source
        let schema: JSONSchema?
    }

    private let declaration: HTTPRoute
    let path: PathTemplate
    let target: Target
    let body: Body
    /// What the body must look like: the message's schema without the members that come from elsewhere.
    let bodySchema: JSONSchema?
    /// In the order of the members' names.
    let additions: [Addition]

    /// A route whose request is a message: the message's own route, where no other is given.
    convenience init<Request: PublicRequest>(_ request: Request.Type, at route: HTTPRoute = Request.route) {
        self.init(route, .message(MessageBinding(request)), Request.sources)
    }

    /// A route that is no message's.
    convenience init(
        _ method: HTTPRoute.Method, _ path: String, _ access: Access, _ target: Target, _ summary: String
    ) {
        self.init(HTTPRoute(method, path, access, summary), target, [:])
    }

    private init(_ declaration: HTTPRoute, _ target: Target, _ sources: [String: Source]) {
        self.declaration = declaration
        self.target = target
        path = PathTemplate(declaration.path)
        let members = if case .message(let binding) = target { binding.members } else { [JSONSchema.Member]() }
        let others = members.filter { sources[$0.name] == nil }
        if let patch = sources.first(where: { $0.value == .body })?.key {
            body = .patch(patch)
            bodySchema = members.first { $0.name == patch }?.schema
        } else {
            body = declaration.method == .get || others.isEmpty ? .none : .members
            bodySchema = body == .members ? .object(others) : nil
        }
        additions = sources.filter { $0.value != .body }.sorted { $0.key < $1.key }.map { name, source in
            Addition(
                member: name, name: CanonicalJSON.bytes(of: .string(name)) + [UInt8(ascii: ":")], source: source,
                schema: members.first { $0.name == name }?.schema)
        }
    }

    subscript<Value>(dynamicMember member: KeyPath<HTTPRoute, Value>) -> Value { declaration[keyPath: member] }

    /// The message behind the route.
    var binding: MessageBinding? { if case .message(let binding) = target { binding } else { nil } }
}

/// What the gateway knows of a message: never its Swift type's members, only its schema and rules.
///
/// A class: a route is handed on several times a request, and of a structure each time copies every member.
final class MessageBinding: Sendable {
    let type: MessageType
    let version: UInt16
    let schema: JSONSchema
    let rules: MessageRules
    /// Of the schema, where it is an object's.
    var members: [JSONSchema.Member] { if case .object(let members) = schema { members } else { [] } }
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
