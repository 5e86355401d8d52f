/// How the public API reaches a message: a method, a path, and what the gateway does with the request. The OpenAPI
/// document is made from it.
public struct HTTPRoute: Sendable {
    /// The HTTP methods that the public API uses.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }

    /// The access that an operation requires.
    public enum Access: Sendable, Equatable {
        /// Anybody.
        case `public`
        /// Anybody. If the request carries an access token, the gateway verifies it and passes on the person.
        case anybody
        /// A person with an access token of this role or a higher one.
        case user, staff, admin
        /// A caller with the operator's key.
        case ops
        /// A caller with a recovery token in `Authorization`. The service compares it with the case.
        case recoveryToken
        /// A person with an access token, or a caller with a secret in this member of the body.
        case userOrMember(String)
    }

    /// Where a member of a message comes from.
    public enum Source: Sendable, Equatable {
        /// The parameter of the path with this name.
        case path(String)
        /// The request header with this name.
        case header(String)
        /// The query parameter with this name. It may be left out.
        case query(String)
        /// The recovery token in `Authorization`.
        case recoveryToken
        /// The whole body is this member, as in a merge patch.
        case body
    }

    /// The HTTP method.
    public let method: Method
    /// The path with its parameters in braces: `/auth/sessions/{id}`.
    public let path: String
    /// The access that the operation requires.
    public let access: Access
    /// One sentence for the reader of the API.
    public let summary: String
    /// The HTTP status of a reply that is not an error; `nil` for 204 with ``NoContent``, and 200 with any other reply.
    public let success: Int?
    /// The reply depends on its entity tag alone. A client may ask with `If-None-Match` whether its copy is still
    /// current.
    public let isRevalidated: Bool
    /// The service receives the access token itself and checks it. For such an act the gateway's word is not enough.
    public let carriesToken: Bool
    /// The response time could reveal whether an account exists. The gateway sends each response at a fixed time after
    /// its request arrived.
    public let hidesItsTime: Bool
    /// A second status of success, for replies with ``BusReply/hasOtherSuccess``: 201 if the operation created what the
    /// reply shows, 202 if it goes on.
    public let otherSuccess: Int?
    /// The largest body that is accepted, in bytes.
    public let bodyLimit: Int

    /// Takes the method, the path, the access and the summary. By default, each flag is false, and the status follows
    /// from the reply.
    public init(
        _ method: Method, _ path: String, _ access: Access, _ summary: String, success: Int? = nil,
        isRevalidated: Bool = false, carriesToken: Bool = false, hidesItsTime: Bool = false, otherSuccess: Int? = nil,
        bodyLimit: Int = 65_536
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.summary = summary
        self.success = success
        self.isRevalidated = isRevalidated
        self.carriesToken = carriesToken
        self.hidesItsTime = hidesItsTime
        self.otherSuccess = otherSuccess
        self.bodyLimit = bodyLimit
    }
}
