/// How the public API reaches a message: a method of a path, and what the gateway does with it. The OpenAPI document is written
/// from it.
public struct HTTPRoute: Sendable {
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }

    /// Who may call.
    public enum Access: Sendable, Equatable {
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

    /// Where a member of a message comes from.
    public enum Source: Sendable, Equatable {
        /// The parameter of the path that has this name.
        case path(String)
        case header(String)
        /// A parameter of the query; it may be left out.
        case query(String)
        case recoveryToken
        /// The whole body is this member: a merge patch.
        case body
    }

    public let method: Method
    /// Parameters stand in braces: `/auth/sessions/{id}`.
    public let path: String
    public let access: Access
    /// One sentence for the reader of the API.
    public let summary: String
    /// The status of an answer that is no error.
    public let success: Int
    /// The answer follows from its entity tag alone: who has it may ask whether it is still that (`If-None-Match`).
    public let isRevalidated: Bool
    /// The act matters so much that its service sees the access token itself, and not the gateway's word only.
    public let carriesToken: Bool
    /// Its time could tell whether there is an account: each answer leaves at a fixed distance from its request's arrival.
    public let hidesItsTime: Bool
    /// It makes something new, or answers with what is there already: 201 or ``success``.
    public let mayCreate: Bool
    /// Bytes.
    public let bodyLimit: Int

    public init(
        _ method: Method, _ path: String, _ access: Access, _ summary: String, success: Int = 200,
        isRevalidated: Bool = false, carriesToken: Bool = false, hidesItsTime: Bool = false, mayCreate: Bool = false,
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
        self.mayCreate = mayCreate
        self.bodyLimit = bodyLimit
    }
}
