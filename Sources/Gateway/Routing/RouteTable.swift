import BusProtocol

/// All routes, and the search for the route of a request.
struct RouteTable: Sendable {
    enum Match: Sendable {
        case route(Route, [String: String])
        /// The path exists, but not with this method. The value lists its methods, including `HEAD` and `OPTIONS`.
        case otherMethods([String])
        case unknown
    }

    let routes: [Route]
    /// Routes by the number of segments of their path, then grouped by template. The most exact template comes first.
    private let byLength: [Int: [[Route]]]
    /// Routes of paths without parameters. No other template can match such a path better.
    private let byPath: [String: [Route]]

    init(_ routes: [Route]) {
        self.routes = routes
        let templates = Dictionary(grouping: routes, by: \.path)
        byLength = Dictionary(grouping: templates.sorted { $0.key.isMoreExact(than: $1.key) }) {
            $0.key.segments.count
        }.mapValues { $0.map(\.value) }
        byPath = Dictionary(grouping: routes.filter { $0.path.parameters.isEmpty }) { $0.path.text }
    }

    /// The public API: the newest version of each message that has a route, and the routes without a message.
    static let vestibule: RouteTable = {
        let messages = MessageCatalogue.all.compactMap { $0 as? any PublicRequest.Type }
        let newest = Dictionary(grouping: messages) { $0.type }.values.compactMap { $0.max { $0.version < $1.version } }
        return RouteTable(newest.map { Route($0) } + withoutMessage)
    }()

    private static let withoutMessage: [Route] = [
        Route(
            .get, "/.well-known/jwks.json", .public, .local(.signingKeys), "getSigningKeys",
            "The keys that access tokens are signed with."),
        Route(
            .post, "/auth/web-session", .public, .webSession(.renew), "renewWebSession",
            "Renews the session of a web app of this address. A cookie that no script can read keeps the refresh token.",
            body: WebSessionAct.requestSchema),
        Route(
            .delete, "/auth/web-session", .public, .webSession(.end), "endWebSession",
            "Ends the session of a web app, and takes its cookie away.", success: 204),
        Route(.get, "/users/me/export", .user, .export, "exportAccount", "Everything that is held about the person."),
        Route(.get, "/healthz", .public, .local(.health), "getHealth", "200 while the process lives."),
        Route(
            .get, "/readyz", .public, .local(.readiness), "getReadiness",
            "200 when every required service has a ready replica."),
        Route(.get, "/metrics", .ops, .local(.metrics), "getMetrics", "Prometheus text of every replica."),
        Route(.get, "/ops/services", .ops, .local(.services), "listServices", "What is known of every replica."),
        Route(.get, "/openapi.json", .public, .local(.openAPI), "getDocument", "This document."),
        Route(.get, "/docs", .public, .local(.docs), "getDocumentPage", "The document as a page for people."),
        Route(
            .get, "/docs/guide/{page}", .public, .local(.guide), "getGuidePage",
            "A page of the guide for app developers."),
    ]

    /// - Parameter path: percent-encoded, without the query. `HEAD` finds the route of `GET`.
    func match(method: String, path: String) -> Match {
        guard let (routes, parameters) = resource(at: path) else { return .unknown }
        let sought = method == "HEAD" ? "GET" : method
        if let route = routes.first(where: { $0.method.rawValue == sought }) { return .route(route, parameters) }
        var others = routes.map(\.method.rawValue)
        if others.contains("GET") { others.append("HEAD") }
        return .otherMethods(others + ["OPTIONS"])
    }

    /// Finds the routes of the most exact template that matches a path, for all methods.
    ///
    /// So `send` in `/auth/otp/send` is never taken for the `{challengeId}` of `/auth/otp/{challengeId}`.
    private func resource(at path: String) -> ([Route], [String: String])? {
        if let routes = byPath[path] { return (routes, [:]) }
        let parts = PathTemplate.split(path)
        for routes in byLength[parts.count] ?? [] {
            if let parameters = routes[0].path.match(parts) { return (routes, parameters) }
        }
        return nil
    }
}
