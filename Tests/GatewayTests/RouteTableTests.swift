import BusProtocol
import BusRuntime
import Testing

@testable import Gateway

/// The paths of the public API contract, one a line.
private let contract = """
    POST /auth/otp/send
    GET /auth/otp/{challengeId}
    POST /auth/otp/verify
    POST /auth/social/nonce
    POST /auth/social/apple
    POST /auth/social/google
    POST /auth/social/apple/notifications
    POST /auth/token/refresh
    POST /auth/logout
    GET /auth/sessions
    DELETE /auth/sessions/{id}
    DELETE /auth/sessions
    GET /users/me/devices
    PUT /users/me/devices/{id}
    DELETE /users/me/devices/{id}
    GET /auth/identities
    DELETE /auth/identities/{provider}
    POST /admin/people/search
    POST /auth/phone/change
    POST /auth/phone/undo
    GET /.well-known/jwks.json
    GET /profile/fields
    GET /users/me
    PATCH /users/me
    POST /users/me/skips
    GET /users/me/completion
    GET /users/me/requirements
    GET /users/me/onboarding
    POST /users/me/waitlist
    GET /users/{id}
    POST /admin/users/{id}/date-of-birth
    POST /admin/users/{id}/suspend
    POST /admin/users/{id}/restore
    GET /cities
    GET /users/me/export
    DELETE /users/me
    POST /events
    GET /admin/funnel
    GET /compatibility/questions
    POST /compatibility/responses
    GET /questionnaires
    GET /questionnaires/{key}
    GET /questionnaires/{key}/versions/{n}
    POST /questionnaires/{key}/sessions
    GET /questionnaires/{key}/sessions
    GET /questionnaires/{key}/sessions/{id}
    PUT /questionnaires/{key}/sessions/{id}/answers/{question}
    DELETE /questionnaires/{key}/sessions/{id}/answers/{question}
    POST /questionnaires/{key}/sessions/{id}/answers:batch
    PUT /questionnaires/{key}/sessions/{id}/subjects/{uuid}
    DELETE /questionnaires/{key}/sessions/{id}/subjects/{uuid}
    POST /questionnaires/{key}/sessions/{id}/complete
    POST /questionnaires/{key}/sessions/{id}/reopen
    POST /questionnaires/{key}/sessions/{id}/stop
    POST /questionnaires/{key}/sessions/{id}/migrations
    POST /questionnaires/{key}/sessions/{id}/migrations/undo
    GET /admin/questionnaires/{key}
    POST /admin/questionnaires/{key}/drafts
    GET /admin/questionnaires/{key}/drafts/{n}
    PUT /admin/questionnaires/{key}/drafts/{n}
    POST /admin/questionnaires/{key}/drafts/{n}/check
    POST /admin/questionnaires/{key}/drafts/{n}/publish
    POST /admin/questionnaires/{key}/versions/{n}/retire
    GET /admin/questionnaires/{key}/diff
    GET /admin/questionnaires/{key}/versions/{n}/statistics
    POST /auth/recovery/request
    GET /auth/recovery/{id}
    POST /auth/recovery/{id}/dispute
    POST /auth/recovery/{id}/cancel
    POST /auth/recovery/{id}/identity
    POST /auth/recovery/{id}/complete
    GET /users/me/recovery-cases
    POST /users/me/recovery-cases/{id}/evidence
    PUT /users/me/recovery-lock
    GET /admin/recovery
    GET /admin/recovery/{id}
    POST /admin/recovery/{id}/claim
    POST /admin/recovery/{id}/release
    POST /admin/recovery/{id}/approve
    POST /admin/recovery/{id}/reject
    GET /visual-preferences/session
    POST /visual-preferences/choices
    GET /visual-preferences/profile
    POST /verification/session
    POST /verification/session/{id}/complete
    GET /healthz
    GET /readyz
    GET /metrics
    GET /ops/services
    GET /openapi.json
    GET /docs
    """

@Suite("Route table") struct RouteTableTests {
    private let table = RouteTable.vestibule

    @Test func isTheContract() {
        let routes = table.routes.map { "\($0.method.rawValue) \($0.path.text)" }
        let paths = contract.split(separator: "\n").map(String.init)
        #expect(Set(routes) == Set(paths))
        #expect(routes.count == Set(routes).count, "no route stands twice")
    }

    /// `VestibuleCLITests/AnswerTimeTests` measures what a stranger learns by their times.
    @Test func answersAboutAnAccountThatMayNotBeHideTheirTime() {
        let hiding = table.routes.filter(\.hidesItsTime).map { "\($0.method.rawValue) \($0.path.text)" }
        #expect(
            Set(hiding) == [
                "POST /auth/otp/send", "POST /auth/otp/verify", "POST /auth/phone/undo", "POST /auth/recovery/request",
                "GET /auth/recovery/{id}", "POST /auth/recovery/{id}/dispute", "POST /auth/recovery/{id}/cancel",
                "POST /auth/recovery/{id}/identity", "POST /auth/recovery/{id}/complete",
            ])
    }

    @Test func aGatewayDoesNotStartWithARouteThatShowsWhatIsNotPublic() async throws {
        func start(_ type: MessageType) async throws {
            let table = RouteTable([Route(.post, "/x", .public, .message(type), "X.")])
            _ = try await GatewayServer(
                GatewayConfiguration(), bus: Bus(BusConfiguration(service: .gateway)), table: table)
        }
        await #expect(throws: RouteTableError.privateReply("auth.check-bearer")) {
            try await start("auth.check-bearer")
        }
        await #expect(throws: RouteTableError.unknownMessage("auth.nonsense")) { try await start("auth.nonsense") }
    }

    @Test func messagesAreKnownAndMayLeaveTheHouse() throws {
        for route in table.routes {
            guard case .message(let type) = route.target else { continue }
            let binding = try #require(route.binding, "no message \(type)")
            #expect(binding.rules.callers.contains(.gateway), "\(type)")
            #expect(binding.replyIsEmpty == (route.success == 204), "\(type)")
            for name in route.sources.keys { #expect(route.memberSchema(name) != nil, "\(type) has no \(name)") }
            if route.body != .none { #expect(route.bodySchema != nil, "\(type)") }
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

    @Test func headIsFoundWhereGetIs() {
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

    @Test("a path that has a template of its own is no parameter of another's, whichever its method")
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
