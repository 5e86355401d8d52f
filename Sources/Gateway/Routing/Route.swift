import BusProtocol
import JSONText

/// One line of the route table: everything that the gateway does with one method of one path. The OpenAPI document is
/// written from the same lines.
///
/// A class: a route is handed on several times a request, and of a structure each time copies every member.
@dynamicMemberLookup final class Route: Sendable {
    enum Method: String, Sendable, CaseIterable {
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }

    /// Who may call.
    enum Access: Sendable, Equatable {
        case `public`
        /// Anybody, and a person by their access token where one is given.
        case anybody
        /// An access token with this role, or with a higher one.
        case user, staff, admin
        /// The operator's key.
        case ops
        /// A recovery token in `Authorization`; the service holds it against the case.
        case recoveryToken
        /// An access token, or a secret in this member of the body.
        case userOrMember(String)
    }

    enum Target: Sendable {
        /// A message of the bus, by its wire name.
        case message(MessageType)
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

    /// Where a member of the message comes from, beside the body.
    enum Source: Sendable, Equatable {
        case path(String)
        case header(String)
        /// A parameter of the query; it may be left out.
        case query(String)
        case recoveryToken
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

    /// What the table says of it.
    struct Line: Sendable {
        var method: Method
        var path: PathTemplate
        var access: Access
        var target: Target
        var summary: String
        var success = 200
        var body = Body.none
        var sources: [String: Source] = [:]
        /// The answer follows from its entity tag alone: who has it may ask whether it is still that (`If-None-Match`).
        var isRevalidated = false
        /// The act matters so much that its service sees the access token itself, and not the gateway's word only.
        var carriesToken = false
        /// Its time could tell whether there is an account: each answer leaves at a fixed distance from its request's arrival.
        var hidesItsTime = false
        /// It makes something new, or answers with what is there already: 201 or ``success``.
        var mayCreate = false
        /// Bytes.
        var bodyLimit = 65_536
    }

    /// A member of the message that the body does not have.
    struct Addition: Sendable {
        let member: String
        /// The member's name in JSON, with its colon.
        let name: [UInt8]
        let source: Source
        let schema: JSONSchema?
    }

    private let line: Line
    /// The message behind the route.
    let binding: MessageBinding?
    /// What the body must look like: the message's schema without the members that come from elsewhere.
    let bodySchema: JSONSchema?
    /// In the order of the members' names.
    let additions: [Addition]

    convenience init(_ method: Method, _ path: String, _ access: Access, _ target: Target, _ summary: String) {
        self.init(Line(method: method, path: PathTemplate(path), access: access, target: target, summary: summary))
    }

    private init(_ line: Line) {
        self.line = line
        if case .message(let type) = line.target { binding = MessageBinding.all[type] } else { binding = nil }
        let members = binding?.members ?? []
        bodySchema =
            switch line.body {
            case _ where binding == nil: nil
            case .none: nil
            case .members: .object(members.filter { line.sources[$0.name] == nil })
            case .patch(let name): members.first { $0.name == name }?.schema
            }
        additions = line.sources.sorted { $0.key < $1.key }.map { name, source in
            Addition(
                member: name, name: CanonicalJSON.bytes(of: .string(name)) + [UInt8(ascii: ":")], source: source,
                schema: members.first { $0.name == name }?.schema)
        }
    }

    subscript<Value>(dynamicMember member: KeyPath<Line, Value>) -> Value { line[keyPath: member] }

    /// Another route with one thing changed, so that a table reads as one expression a line.
    func with(_ change: (inout Line) -> Void) -> Route {
        var line = line
        change(&line)
        return Route(line)
    }

    /// The schema of one member of the message.
    func memberSchema(_ name: String) -> JSONSchema? { binding?.members.first { $0.name == name }?.schema }
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
    /// The reply may leave the house.
    let replyIsPublic: Bool
    let replyIsEmpty: Bool

    init<Request: BusRequest>(_ request: Request.Type) {
        type = request.type
        version = request.version
        schema = request.schema
        rules = request.rules
        replySchema = Request.Reply.schema
        replyIsPublic = Request.Reply.self is any PublicReply.Type
        replyIsEmpty = Request.Reply.self == NoContent.self
    }

    /// The newest version of each public message of the catalogue.
    static let all: [MessageType: MessageBinding] = {
        var bindings: [MessageType: MessageBinding] = [:]
        for type in Catalogue.all where (bindings[type.type]?.version ?? 0) < type.version {
            bindings[type.type] = MessageBinding(type)
        }
        return bindings
    }()
}
