import BusProtocol
import HTTPServer

/// Why a gateway does not start with its routes.
enum RouteTableError: Error, Equatable, CustomStringConvertible {
    case unknownMessage(MessageType)
    /// The reply is no `PublicReply`.
    case privateReply(MessageType)

    var description: String {
        switch self {
        case .unknownMessage(let type): "a route sends \(type), which is no message of this build"
        case .privateReply(let type): "a route shows the reply to \(type), which is not for the public"
        }
    }
}

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

    /// The public API.
    static let vestibule = RouteTable(auth + profile + questionnaire + recovery + laterServices + operations)

    /// Holds every route to what a gateway may do, before the first request comes.
    ///
    /// - Throws: ``RouteTableError`` for the first route that asks what nobody answers, or would show what stays in the house.
    func check() throws(RouteTableError) {
        for route in routes {
            guard case .message(let type) = route.target else { continue }
            guard let binding = route.binding else { throw .unknownMessage(type) }
            guard binding.replyIsPublic else { throw .privateReply(type) }
        }
    }

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
