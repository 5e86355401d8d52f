import JSONText

extension OpenAPIDocument {
    var components: JSONValue {
        [
            "securitySchemes": [
                "accessToken": ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"],
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
            "schemas": ["Problem": Self.problemSchema, "FieldProblem": Self.fieldProblemSchema],
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
        "WWW-Authenticate": ["required": true, "schema": ["const": "Bearer"]],
        "Idempotency-Replayed": [
            "description": "This is the first response to this `Idempotency-Key`, repeated.",
            "schema": ["const": "true"],
        ],
        "ETag": [
            "description": "The version of the state in the response.",
            "schema": ["type": "string", "pattern": "^\"(r[0-9]+|[0-9a-f]{64})\"$"],
        ],
    ]

    private static let fieldProblemSchema: JSONValue = [
        "type": "object", "required": ["field", "code", "message"],
        "properties": [
            "field": ["type": "string"], "code": ["type": "string"], "message": ["type": "string"],
        ],
    ]

    private static let problemSchema: JSONValue = [
        "type": "object",
        "required": ["type", "title", "status", "code", "detail", "traceId"],
        "properties": [
            "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
            "code": ["type": "string", "description": "The code that a program acts on."],
            "detail": ["type": "string", "description": "A sentence to show to a person."],
            "traceId": ["type": "string", "pattern": "^[0-9a-f]{32}$"],
            "retryAfterSeconds": ["type": "integer", "minimum": 1],
            "attemptsRemaining": ["type": "integer", "minimum": 0],
            "alternatives": [
                "type": "array", "items": ["type": "string"],
                "description":
                    "Other ways to go on. `known_device`: ask on a device that signed in before; it proves itself with its secret. `linked_identity`: sign in with Apple or Google. `try_later`: ask again after `retryAfterSeconds`; everybody can do this.",
            ],
            "options": [
                "type": "array", "items": ["type": "string"],
                "description":
                    "With the code recovery_required. `recover`: recover the account. `new_account`: send the same code again with `newAccount: true`.",
            ],
            "eligibleOn": ["type": "string", "format": "date"],
            "errors": ["type": "array", "items": ["$ref": "#/components/schemas/FieldProblem"]],
        ],
    ]
}
