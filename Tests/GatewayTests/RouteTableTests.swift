import BusProtocol
import TestSupport
import Testing

@testable import Gateway

@Suite("Route table") struct RouteTableTests {
    private let table = RouteTable.vestibule

    @Test func noRouteIsListedTwice() {
        let routes = table.routes.map { "\($0.method.rawValue) \($0.path.text)" }
        #expect(routes.count == Set(routes).count)
    }

    @Test("the gateway may send each route's message, which has the path's parameters")
    func messages() throws {
        for route in table.routes {
            guard let binding = route.binding else { continue }
            #expect(binding.rules.callers.contains(.gateway), "\(binding.type)")
            for addition in route.additions {
                #expect(addition.declaration?.schema != nil, "\(binding.type) \(addition.member)")
            }
            let parameters = route.additions.compactMap { if case .path(let name) = $0.source { name } else { nil } }
            #expect(parameters.sorted() == route.path.parameters.sorted(), "\(binding.type)")
        }
    }

    @Test("a literal goes before a parameter", arguments: [("/users/me", "/users/me"), ("/users/x", "/users/{id}")])
    func precedence(path: String, template: String) {
        guard case .route(let route, _) = table.match(method: "GET", path: path) else {
            Issue.record("no route")
            return
        }
        #expect(route.path.text == template)
    }

    @Test func headIsAllowedWhereGetIsAndNowhereElse() {
        if case .route = table.match(method: "HEAD", path: "/healthz") {} else { Issue.record("no HEAD") }
        guard case .otherMethods(let methods) = table.match(method: "DELETE", path: "/users/me/onboarding") else {
            Issue.record("a method that is not there")
            return
        }
        #expect(Set(methods) == ["GET", "HEAD", "OPTIONS"])
        guard case .otherMethods(let posts) = table.match(method: "HEAD", path: "/auth/logout") else {
            Issue.record("HEAD without GET")
            return
        }
        #expect(Set(posts) == ["POST", "OPTIONS"])
    }

    @Test("a path with its own template is no parameter of another")
    func ownTemplates() {
        for (method, path, allowed) in [
            ("GET", "/auth/otp/send", ["POST", "OPTIONS"]), ("GET", "/auth/recovery/request", ["POST", "OPTIONS"]),
            ("DELETE", "/users/me/export", ["GET", "HEAD", "OPTIONS"]),
        ] {
            guard case .otherMethods(let methods) = table.match(method: method, path: path) else {
                Issue.record("\(method) \(path) was taken")
                continue
            }
            #expect(methods == allowed)
        }
    }

    @Test(
        "no second spelling of a path",
        arguments: ["/healthz/", "//healthz", "/Healthz", "/health%7a", "/users//devices", "/"])
    func otherSpellings(path: String) {
        if case .unknown = table.match(method: "GET", path: path) {} else { Issue.record("\(path) was found") }
    }

    @Test func parametersAreDecodedOnce() {
        guard case .route(_, let parameters) = table.match(method: "GET", path: "/questionnaires/a%2Fb%2525") else {
            Issue.record("no route")
            return
        }
        #expect(parameters == ["key": "a/b%25"])
        if case .unknown = table.match(method: "GET", path: "/questionnaires/%ff") {} else { Issue.record("not UTF-8") }
    }
}
