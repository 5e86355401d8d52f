import BusProtocol

/// All routes, and how a request finds its own.
struct RouteTable: Sendable {
    enum Match: Sendable {
        case route(Route, [String: String])
        /// The path is known, the method is not one of its own; these are, `HEAD` and `OPTIONS` included.
        case otherMethods([String])
        case unknown
    }

    let routes: [Route]
    /// By how many segments a path has: the routes of each template, the most exact template first.
    private let byLength: [Int: [[Route]]]
    /// Routes of paths without parameters, which no other template can match better.
    private let byPath: [String: [Route]]

    init(_ routes: [Route]) {
        self.routes = routes
        let templates = Dictionary(grouping: routes, by: \.path)
        byLength = Dictionary(grouping: templates.sorted { $0.key.isMoreExact(than: $1.key) }) {
            $0.key.segments.count
        }.mapValues { $0.map(\.value) }
        byPath = Dictionary(grouping: routes.filter { $0.path.parameters.isEmpty }) { $0.path.text }
    }

    /// The public API: the newest version of each message that has a route, and what is no message.
    static let vestibule: RouteTable = {
        let messages = Catalogue.all.compactMap { $0 as? any PublicRequest.Type }
        let newest = Dictionary(grouping: messages) { $0.type }.values.compactMap { $0.max { $0.version < $1.version } }
        return RouteTable(newest.map { Route($0) } + withoutMessage)
    }()

    private static let withoutMessage: [Route] = [
        Route(
            .get, "/.well-known/jwks.json", .public, .local(.signingKeys),
            "The keys that access tokens are signed with."),
        Route(.get, "/users/me/export", .user, .export, "Everything that is held about the person."),
        Route(.get, "/visual-preferences/session", .user, .later, "A session of visual choices."),
        Route(.post, "/visual-preferences/choices", .user, .later, "Saves visual choices."),
        Route(.get, "/visual-preferences/profile", .user, .later, "The visual preference profile."),
        Route(.post, "/verification/session", .user, .later, "Begins a photo verification."),
        Route(.post, "/verification/session/{id}/complete", .user, .later, "Ends a photo verification."),
        Route(.get, "/healthz", .public, .local(.health), "200 while the process lives."),
        Route(.get, "/readyz", .public, .local(.readiness), "200 when every required service has a ready replica."),
        Route(.get, "/metrics", .ops, .local(.metrics), "Prometheus text of every replica."),
        Route(.get, "/ops/services", .ops, .local(.services), "What is known of every replica."),
        Route(.get, "/openapi.json", .public, .local(.openAPI), "This document."),
        Route(.get, "/docs", .public, .local(.docs), "The document as a page for people."),
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

    /// The routes of the most exact template that a path fits, whichever methods it takes: `/auth/otp/send` is never the
    /// `{challengeId}` of `/auth/otp/{challengeId}`.
    private func resource(at path: String) -> ([Route], [String: String])? {
        if let routes = byPath[path] { return (routes, [:]) }
        let parts = PathTemplate.split(path)
        for routes in byLength[parts.count] ?? [] {
            if let parameters = routes[0].path.match(parts) { return (routes, parameters) }
        }
        return nil
    }
}
