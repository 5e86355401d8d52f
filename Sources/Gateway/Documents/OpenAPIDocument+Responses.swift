import BusProtocol
import JSONText

// Lists exactly the responses that each route can give, so that a client's author sees every code to handle.
extension OpenAPIDocument {
    func responses(_ route: Route, _ schemas: SchemaComponents) -> [String: JSONValue] {
        var responses: [String: JSONValue] = [:]
        for problem in Self.problems(route) { responses[String(problem.status)] = problem.reference }
        if let success = success(of: route, schemas) {
            responses[String(route.success)] = success
            if let other = route.otherSuccess { responses[String(other)] = success }
        }
        if route.isRevalidated {
            responses["304"] = [
                "description": "The client already has the current version.", "headers": headers(route),
            ]
        }
        return responses
    }

    private func success(of route: Route, _ schemas: SchemaComponents) -> JSONValue? {
        switch route.target {
        case .local(.metrics): answer("The metrics.", "text/plain", ["schema": ["type": "string"]], route)
        case .local(.docs), .local(.guide): answer("The page.", "text/html", ["schema": ["type": "string"]], route)
        case .local(let local):
            local.schema.map { answer("The answer.", "application/json", Self.media($0, schemas), route) }
        case .webSession(.renew):
            answer("The answer.", "application/json", Self.media(WebSessionAct.replySchema, schemas), route)
        case .webSession(.end): ["description": "Done.", "headers": headers(route)]
        case .export: answer("The answer.", "application/json", Self.media(exportSchema, schemas), route)
        case .message:
            if let reply = route.binding, !reply.replyIsEmpty {
                answer("The answer.", "application/json", Self.media(reply.replySchema, schemas), route)
            } else {
                ["description": "Done.", "headers": headers(route)]
            }
        }
    }

    private func answer(_ description: String, _ type: String, _ media: JSONValue, _ route: Route) -> JSONValue {
        ["description": .string(description), "headers": headers(route), "content": .object([type: media])]
    }

    private static func media(_ schema: JSONSchema, _ schemas: SchemaComponents) -> JSONValue {
        ["schema": schemas.exported(schema), "example": schema.example(isWhole: true)]
    }

    private func headers(_ route: Route) -> JSONValue {
        var names = ["Trace-Id"]
        if route.method == .post, route.binding != nil { names.append("Idempotency-Replayed") }
        if isConditional(route) { names.append("ETag") }
        if route.isRevalidated { names.append("Content-Language") }
        return Self.headers(names)
    }

    /// Whether the response has an entity tag. It has one if the route, or another route of the same path, accepts the
    /// tag in a condition. The response to a deletion has none.
    private func isConditional(_ route: Route) -> Bool {
        route.isRevalidated
            || route.method != .delete
                && table.routes.contains {
                    $0.path == route.path && $0.additions.contains { $0.source == .header("if-match") }
                }
    }

    private static func headers(_ names: [String]) -> JSONValue {
        .object(
            Dictionary(
                uniqueKeysWithValues: names.map { ($0, ["$ref": .string("#/components/headers/\($0)")]) }))
    }

    // MARK: Problems

    /// All error codes of a route with one HTTP status. Routes with the same codes share the component.
    private struct Refusals: Hashable {
        let status: Int
        /// In alphabetical order.
        let codes: [String]

        var name: String { codes.joined(separator: "-or-") }
        var reference: JSONValue { ["$ref": .string("#/components/responses/\(name)")] }
    }

    private static func problems(_ route: Route) -> [Refusals] {
        Dictionary(grouping: route.refusals, by: \.httpStatus).map { status, codes in
            Refusals(status: status, codes: codes.map(\.name).sorted())
        }
    }

    /// The components that the responses of all routes refer to.
    func problems() -> JSONValue {
        let all = Set(table.routes.flatMap(Self.problems))
        return .object(Dictionary(all.map { ($0.name, Self.problem($0)) }) { first, _ in first })
    }

    private static func problem(_ refusals: Refusals) -> JSONValue {
        var names = ["Trace-Id", "Content-Language"]
        if [429, 503, 504].contains(refusals.status) { names.append("Retry-After") }
        if refusals.status == 401 { names.append("WWW-Authenticate") }
        let codes = refusals.codes.map { JSONValue.string($0) }
        return [
            "description": .string(refusals.codes.map { "`\($0)`" }.joined(separator: ", ") + "."),
            "headers": headers(names),
            "content": [
                "application/problem+json": [
                    "schema": ["$ref": "#/components/schemas/Problem"]
                ]
            ],
            "x-problem-codes": .array(codes),
        ]
    }
}
