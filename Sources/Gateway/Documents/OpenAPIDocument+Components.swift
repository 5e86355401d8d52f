import BusProtocol
import JSONText

extension OpenAPIDocument {
    func components(_ schemas: SchemaComponents) -> JSONValue {
        problemSchemas(schemas)
        return [
            "securitySchemes": [
                "accessToken": [
                    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description": "From a sign-in or a refresh.",
                ],
                "recoveryToken": [
                    "type": "http", "scheme": "bearer",
                    "description": "The token in the response to the recovery request.",
                ],
                "operatorKey": ["type": "http", "scheme": "bearer", "description": "The operator's key."],
            ],
            "parameters": [
                "IdempotencyKey": [
                    "name": "Idempotency-Key", "in": "header",
                    "description":
                        "Within 24 h, the same key with the same path and body gets the first response again.",
                    "schema": ["type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"],
                ]
            ],
            "headers": Self.headers,
            "responses": problems(),
            "schemas": .object(schemas.schemas),
        ]
    }

    private static let headers: JSONValue = [
        "Trace-Id": [
            "required": true, "description": "Equal to `traceId` in problems and in every log record of the request.",
            "schema": ["type": "string", "pattern": "^[0-9a-f]{32}$"],
        ],
        "Retry-After": [
            "required": true, "description": "Seconds to wait; equal to `retryAfterSeconds`.",
            "schema": ["type": "integer", "minimum": 1],
        ],
        "WWW-Authenticate": [
            "required": true, "description": "What the caller has to send.",
            "schema": ["type": "string", "const": "Bearer"],
        ],
        "Idempotency-Replayed": [
            "description": "The first answer of this `Idempotency-Key` again.",
            "schema": ["type": "string", "const": "true"],
        ],
        "Content-Language": [
            "description": "The language of the texts, if they are all in one.", "schema": ["type": "string"],
        ],
        "ETag": [
            "description": "The version of the state in the response.",
            "schema": ["type": "string", "pattern": "^\"(r[0-9]+|[0-9a-f]{64})\"$"],
        ],
    ]

    /// One problem for every refusal and failure. The codes that an operation can answer are in its `x-problem-codes`.
    private func problemSchemas(_ schemas: SchemaComponents) {
        _ = schemas.exported(problemSchema)
        schemas.allowMoreMembers(of: "Problem")
    }

    private var problemSchema: JSONSchema {
        let codes = Set(table.routes.flatMap { $0.refusals.map(\.name) }).sorted()
        return JSONSchema.object([
            .required("type", .string(1...200), "`urn:vestibule:problem:` and the code."),
            .required("title", .string(1...200), "The code in words; the same for each problem of the code."),
            .required("status", .integer(400...599), "The HTTP status.", example: 422),
            .required(
                "code",
                JSONSchema.string(.init(known: codes)).named("ProblemCode", "What a program acts on. An open set."),
                "What a program acts on."),
            .required("detail", .string(1...4096), "A sentence that a person may be shown."),
            .required("traceId", .string(32...32), "Names the request in logs; equal to the header `Trace-Id`."),
            .optional(
                "retryAfterSeconds", .integer(1...Int64(Int32.max)), "When to try again; equal to `Retry-After`."),
            .optional("attemptsRemaining", .integer(0...1000), "How often a code can still be entered."),
            .optional(
                "alternatives",
                .array(of: .open(1...64, "known_device", "linked_identity", "try_later"), count: 0...16),
                """
                Ways that are open while this one is not. `known_device`: ask on a device that signed in before; it proves \
                itself with its secret. `linked_identity`: sign in with Apple or Google. `try_later`: open to everybody; ask \
                again when `retryAfterSeconds` are over.
                """),
            .optional(
                "options", .array(of: .open(1...64, "recover", "new_account"), count: 0...16),
                """
                Of `recovery_required`: `recover` the account, or `new_account`, with `newAccount: true` beside the same code.
                """),
            .optional("eligibleOn", .date, "The day on which a person who is too young is old enough."),
            .optional(
                "errors", .array(of: FieldProblem.schema, count: 0...500), "What is wrong with which member."),
        ]).named("Problem", "A refusal or a failure (RFC 9457). Some codes have further members.")
    }
}

extension Route.LocalAnswer {
    /// The schema of an answer in JSON; `nil` for other answers.
    var schema: JSONSchema? {
        switch self {
        case .health: Self.status("Health", "ok", "The process lives.")
        case .readiness: Self.status("Readiness", "ready", "Every required service has a ready replica.")
        case .openAPI:
            JSONSchema.map(of: .any, count: 1...64).named("OpenAPIObject", "A document as OpenAPI 3.1 describes it.")
        case .signingKeys: SigningKeys.schema
        case .services: Self.listing
        case .metrics, .docs, .guide: nil
        }
    }

    private static func status(_ name: String, _ value: String, _ words: String) -> JSONSchema {
        JSONSchema.object([.required("status", .open(1...32, value), words)]).named(name, words)
    }

    private static let listing = JSONSchema.object([
        .required(
            "services",
            .array(
                of: JSONSchema.object([
                    .required("service", .string(1...64), "Name of the service."),
                    .required(
                        "replicas", .array(of: .map(of: .any, count: 1...64), count: 0...10_000),
                        "What each replica tells of itself."),
                ]).named("ServiceReplicas", "One service and its replicas."), count: 0...64), "Every service.")
    ]).named("ServiceListing", "What is known of every replica.")
}
