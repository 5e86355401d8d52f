import BusProtocol
import JSONText

/// OpenAPI 3.1 of a route table: what it says is what is dispatched.
struct OpenAPIDocument: Sendable {
    let table: RouteTable

    func value() -> JSONValue {
        var paths: [String: JSONValue] = [:]
        for (path, routes) in Dictionary(grouping: table.routes, by: \.path.text) {
            var item: [String: JSONValue] = [:]
            for route in routes { item[route.method.rawValue.lowercased()] = operation(route) }
            paths[path] = .object(item)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Vestibule", "version": "1", "description": "Sign-in, profile, questionnaire, recovery.",
            ],
            "paths": .object(paths), "components": Self.components,
        ]
    }

    private func operation(_ route: Route) -> JSONValue {
        var operation: [String: JSONValue] = [
            "operationId": .string(Self.operationID(route)), "summary": .string(route.summary),
            "security": Self.security(route.access), "responses": responses(route),
        ]
        let parameters = Self.parameters(route)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let schema = route.bodySchema { operation["requestBody"] = Self.requestBody(route, schema) }
        if case .later = route.target { operation["description"] = "Not implemented yet: answers 501." }
        return .object(operation)
    }

    /// `PUT /users/me/devices/{id}` is `put_users_me_devices_id`.
    static func operationID(_ route: Route) -> String {
        let words = route.path.text.split { !$0.isLetter && !$0.isNumber }
        return ([route.method.rawValue.lowercased()] + words.map(String.init)).joined(separator: "_")
    }

    private static func security(_ access: Route.Access) -> JSONValue {
        switch access {
        case .public: []
        case .user, .staff, .admin: [["accessToken": []]]
        case .ops: [["operatorKey": []]]
        case .recoveryToken: [["recoveryToken": []]]
        case .anybody, .userOrMember: [["accessToken": []], [:]]
        }
    }

    private static func parameters(_ route: Route) -> [JSONValue] {
        var parameters = route.path.parameters.map { name -> JSONValue in
            let member = route.sources.first { $0.value == .path(name) }?.key
            let schema = member.flatMap { route.memberSchema($0)?.exported() } ?? ["type": "string"]
            return ["name": .string(name), "in": "path", "required": true, "schema": schema]
        }
        for case (let member, .query(let name)) in route.sources.sorted(by: { $0.key < $1.key }) {
            let schema = route.memberSchema(member)?.exported() ?? ["type": "string"]
            parameters.append(["name": .string(name), "in": "query", "required": false, "schema": schema])
        }
        for case .header(let name) in route.sources.values {
            parameters.append(["name": .string(name), "in": "header", "schema": ["type": "string"]])
        }
        if route.isRevalidated {
            parameters.append(["name": "if-none-match", "in": "header", "schema": ["type": "string"]])
        }
        if route.method == .post { parameters.append(["$ref": "#/components/parameters/IdempotencyKey"]) }
        return parameters
    }

    private static func requestBody(_ route: Route, _ schema: JSONSchema) -> JSONValue {
        let media: JSONValue = ["schema": schema.exported()]
        var content: [String: JSONValue] = ["application/json": media]
        if route.method == .patch { content["application/merge-patch+json"] = media }
        return ["required": .bool(schema.hasRequiredMembers), "content": .object(content)]
    }

    private func responses(_ route: Route) -> JSONValue {
        var responses: [String: JSONValue] = ["default": ["$ref": "#/components/responses/Problem"]]
        switch route.target {
        case .later: responses["501"] = ["$ref": "#/components/responses/Problem"]
        case .local(.metrics):
            responses["200"] = [
                "description": "The metrics.", "content": ["text/plain": ["schema": ["type": "string"]]],
            ]
        case .local: responses["200"] = Self.success([:])
        case .export:
            responses["200"] = Self.success(ExportDocument.schema.exported())
            responses.merge(Self.problems(ExportAccount.rules.errors)) { $1 }
        case .message:
            guard let binding = route.binding else { break }
            let success = binding.replyIsEmpty ? ["description": "Done."] : Self.success(binding.replySchema.exported())
            responses[String(route.success)] = success
            if route.isRevalidated { responses["304"] = ["description": "The client has it already."] }
            responses.merge(Self.problems(binding.rules.errors)) { $1 }
        }
        return .object(responses)
    }

    private static func problems(_ errors: [ErrorCode]) -> [String: JSONValue] {
        var problems: [String: JSONValue] = [:]
        for (status, codes) in Dictionary(grouping: errors, by: \.httpStatus) {
            let names = codes.map { "`\($0.name)`" }.sorted().joined(separator: ", ")
            problems[String(status)] = problem("\(names).")
        }
        return problems
    }

    private static func success(_ schema: JSONValue) -> JSONValue {
        ["description": "The answer.", "content": ["application/json": ["schema": schema]]]
    }

    private static func problem(_ description: String) -> JSONValue {
        [
            "description": .string(description),
            "content": ["application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]],
        ]
    }
}
