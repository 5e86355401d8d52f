import BusProtocol
import JSONText

/// The OpenAPI 3.1 document of the route table that the gateway dispatches by.
struct OpenAPIDocument: Sendable {
    let table: RouteTable
    /// The schema of a person's export, which no message carries as a whole.
    let exportSchema: JSONSchema

    func value() -> JSONValue {
        let schemas = SchemaComponents()
        var answered: [String: [String: JSONValue]] = [:]
        // Replies first: their schemas have the plain names.
        for route in table.routes { answered[route.id] = responses(route, schemas) }
        var paths: [String: JSONValue] = [:]
        for (path, routes) in Dictionary(grouping: table.routes, by: \.path.text) {
            var item: [String: JSONValue] = [:]
            for route in routes {
                item[route.method.rawValue.lowercased()] =
                    operation(route, answered[route.id] ?? [:], schemas)
            }
            paths[path] = .object(item)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Vestibule", "version": "1", "description": .string(Self.description),
            ],
            "servers": [["url": "/", "description": "The system that serves this document."]],
            "tags": .array(OperationTag.all.map(\.value)),
            "paths": .object(paths), "webhooks": webhooks(schemas), "components": components(schemas),
        ]
    }

    private static let description = """
        Sign-in, profile, questionnaire, recovery. Every error is a problem document (RFC 9457) with a `code` for programs \
        and a `detail` for people. Any operation can also answer 417 (unsupported `Expect`), 501 (unsupported transfer \
        coding) or 505 (unsupported HTTP version). A JSON text that contains U+0000 or repeats a name in an object is \
        malformed.

        Every operation takes `Accept-Language`. Sentences of errors are in English or Swedish, and `Content-Language` \
        says in which. Without the header they are in English.

        Later releases may add members to answers and values to enumerations. A client ignores a member that it does not \
        know. It accepts an unknown value of an enumeration, and shows something general for it.
        """

    private func operation(
        _ route: Route, _ responses: [String: JSONValue], _ schemas: SchemaComponents
    ) -> JSONValue {
        var operation: [String: JSONValue] = [
            "operationId": .string(route.id), "summary": .string(route.summary),
            "description": .string(Self.description(of: route)), "security": Self.security(route.access),
            "responses": .object(responses),
            "x-problem-codes": .array(route.refusals.map(\.name).sorted().map { .string($0) }),
        ]
        if let tag = OperationTag.tag(of: route.path.text) { operation["tags"] = [.string(tag.name)] }
        let parameters = Self.parameters(route, schemas)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let schema = route.bodySchema { operation["requestBody"] = Self.requestBody(route, schema, schemas) }
        return .object(operation)
    }

    private static func description(of route: Route) -> String {
        let words = SchemaComponents.words(route.binding?.words ?? "")
        return words.isEmpty ? route.summary : words
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

    private static func parameters(_ route: Route, _ schemas: SchemaComponents) -> [JSONValue] {
        var parameters = route.path.parameters.map { name -> JSONValue in
            let addition = route.additions.first { $0.source == .path(name) }
            return Self.parameter(name, "path", addition, route, schemas)
        }
        for addition in route.additions {
            if case .query(let name) = addition.source {
                parameters.append(parameter(name, "query", addition, route, schemas))
            }
        }
        for addition in route.additions {
            if case .header(let name) = addition.source {
                parameters.append(parameter(name, "header", addition, route, schemas))
            }
        }
        if route.isRevalidated {
            parameters.append([
                "name": "if-none-match", "in": "header", "schema": ["type": "string"],
                "description": "The `ETag` of an earlier answer: 304 where it is still the same.",
            ])
        }
        if route.method == .post, route.binding != nil {
            parameters.append(["$ref": "#/components/parameters/IdempotencyKey"])
        }
        return parameters
    }

    private static func parameter(
        _ name: String, _ place: String, _ addition: Route.Addition?, _ route: Route, _ schemas: SchemaComponents
    ) -> JSONValue {
        let note = SchemaComponents.words(addition?.declaration?.note ?? "")
        let parameter: JSONValue = [
            "name": .string(name), "in": .string(place), "required": .bool(place == "path"),
            "description": .string(note.isEmpty ? "Name of what the path leads to." : note),
        ]
        // In a path, the segment before a parameter tells the kind of thing that the parameter names.
        let owner = route.path.text.split(separator: "/").prefix { $0 != "{\(name)}" }.last ?? ""
        let word = addition?.declaration?.example ?? ExampleWords.all["\(owner).\(name)"]
        // A route without a message has no schema to show.
        guard let schema = addition?.declaration?.schema else {
            return parameter.with("schema", ["type": "string"]).with("example", ExampleWords.all[name] ?? "example")
        }
        let named = schema.namingParts("\(route.id.capitalizedFirst)\(name.capitalizedFirst)", note)
        var exported = schemas.exported(named, .publicRequest)
        if let pattern = addition?.pattern { exported = exported.with("pattern", .string(pattern)) }
        let described = parameter.with("schema", exported)
        guard addition?.declaration?.inExamples != false else { return described }
        return described.with("example", schema.example(for: name, word, isWhole: false))
    }

    private static func requestBody(_ route: Route, _ schema: JSONSchema, _ schemas: SchemaComponents) -> JSONValue {
        let name = if case .patch(let member) = route.body { member } else { "" }
        let media: JSONValue = [
            "schema": schemas.exported(schema, .publicRequest),
            "example": schema.example(for: name, isWhole: false),
        ]
        var content: [String: JSONValue] = ["application/json": media]
        if route.method == .patch { content["application/merge-patch+json"] = media }
        return ["required": .bool(schema.hasRequiredMembers), "content": .object(content)]
    }
}
