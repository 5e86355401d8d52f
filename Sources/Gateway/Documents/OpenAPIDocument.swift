import BusProtocol
import JSONText

/// The OpenAPI 3.1 document of the route table that the gateway dispatches by.
struct OpenAPIDocument: Sendable {
    let table: RouteTable
    /// Of a person's export, which no message carries as a whole.
    let exportSchema: JSONSchema

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
                "title": "Vestibule", "version": "1", "description": .string(Self.description),
            ],
            "paths": .object(paths), "components": components,
        ]
    }

    private static let description = """
        Sign-in, profile, questionnaire, recovery. Every error is a problem document (RFC 9457) with a `code` for programs \
        and a `detail` for people. Any operation can also answer 417 (unsupported `Expect`), 501 (unsupported transfer \
        coding) or 505 (unsupported HTTP version). A JSON text that contains U+0000 or repeats a name in an object is \
        malformed.
        """

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

    /// For example `put_users_me_devices_id` for `PUT /users/me/devices/{id}`.
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
            let addition = route.additions.first { $0.source == .path(name) }
            return Self.parameter(name, "path", addition?.schema, isRequired: true)
        }
        for addition in route.additions {
            if case .query(let name) = addition.source { parameters.append(parameter(name, "query", addition.schema)) }
        }
        for addition in route.additions {
            if case .header(let name) = addition.source {
                parameters.append(parameter(name, "header", addition.schema))
            }
        }
        if route.isRevalidated {
            parameters.append(["name": "if-none-match", "in": "header", "schema": ["type": "string"]])
        }
        if route.method == .post { parameters.append(["$ref": "#/components/parameters/IdempotencyKey"]) }
        return parameters
    }

    private static func parameter(
        _ name: String, _ place: String, _ schema: JSONSchema?, isRequired: Bool = false
    ) -> JSONValue {
        // A route that is not built yet has no schema to show.
        guard let schema else {
            return ["name": .string(name), "in": .string(place), "required": true, "schema": ["type": "string"]]
        }
        return [
            "name": .string(name), "in": .string(place), "required": .bool(isRequired),
            "schema": schema.exported(.publicRequest),
            "example": schema.example(for: name, isWhole: false),
        ]
    }

    private static func requestBody(_ route: Route, _ schema: JSONSchema) -> JSONValue {
        let name = if case .patch(let member) = route.body { member } else { "" }
        let media: JSONValue = [
            "schema": schema.exported(.publicRequest), "example": schema.example(for: name, isWhole: false),
        ]
        var content: [String: JSONValue] = ["application/json": media]
        if route.method == .patch { content["application/merge-patch+json"] = media }
        return ["required": .bool(schema.hasRequiredMembers), "content": .object(content)]
    }
}
