import HTTPServer

/// All routes, and how a request finds its own.
struct RouteTable: Sendable {
    enum Match: Sendable {
        case route(Route, [String: String])
        /// The path is known, the method is not one of its own; these are, `HEAD` and `OPTIONS` included.
        case otherMethods([String])
        case unknown
    }

    let routes: [Route]
    private let byLength: [Int: [Route]]
    /// Routes of paths without parameters, which no other template can match better.
    private let byPath: [String: [Route]]

    init(_ routes: [Route]) {
        let routes = routes.map { $0.resolved() }
        self.routes = routes
        byLength = Dictionary(grouping: routes) { $0.path.segments.count }
            .mapValues { $0.sorted { $0.path.isMoreExact(than: $1.path) } }
        byPath = Dictionary(grouping: routes.filter { $0.path.parameters.isEmpty }) { $0.path.text }
    }

    /// The public API.
    static let vestibule = RouteTable(auth + profile + questionnaire + recovery + laterServices + operations)

    /// - Parameter path: percent-encoded, without the query. `HEAD` finds the route of `GET`.
    func match(method: String, path: String) -> Match {
        let sought = method == "HEAD" ? "GET" : method
        if let route = byPath[path]?.first(where: { $0.method.rawValue == sought }) { return .route(route, [:]) }
        let parts = PathTemplate.split(path)
        var others: [String] = []
        for route in byLength[parts.count] ?? [] {
            guard let parameters = route.path.match(parts) else { continue }
            if route.method.rawValue == sought { return .route(route, parameters) }
            others.append(route.method.rawValue)
        }
        guard !others.isEmpty else { return .unknown }
        if others.contains("GET") { others.append("HEAD") }
        return .otherMethods(others + ["OPTIONS"])
    }
}
