import JSONText

extension OpenAPIDocument {
    var components: JSONValue {
        [
            "securitySchemes": [
                "accessToken": ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"],
                "recoveryToken": [
                    "type": "http", "scheme": "bearer", "description": "From the recovery request's answer.",
                ],
                "operatorKey": ["type": "http", "scheme": "bearer", "description": "The operator's key."],
            ],
            "parameters": [
                "IdempotencyKey": [
                    "name": "Idempotency-Key", "in": "header",
                    "description": "The same key, path and body within 24 h repeat the first answer.",
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
            "required": true, "description": "Seconds; equal to `retryAfterSeconds`.",
            "schema": ["type": "integer", "minimum": 1],
        ],
        "WWW-Authenticate": ["required": true, "schema": ["const": "Bearer"]],
        "Idempotency-Replayed": [
            "description": "The first answer of this `Idempotency-Key` again.", "schema": ["const": "true"],
        ],
        "ETag": [
            "description": "The state that is shown.",
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
            "code": ["type": "string", "description": "What programs act on."],
            "detail": ["type": "string", "description": "A sentence that a person may be shown."],
            "traceId": ["type": "string", "pattern": "^[0-9a-f]{32}$"],
            "retryAfterSeconds": ["type": "integer", "minimum": 1],
            "attemptsRemaining": ["type": "integer", "minimum": 0],
            "alternatives": [
                "type": "array", "items": ["type": "string"],
                "description":
                    "Ways that are open while this one is not. `known_device`: ask on a device that signed in before; it proves itself with its secret. `linked_identity`: sign in with Apple or Google. `try_later`: open to everybody; ask again when `retryAfterSeconds` are over.",
            ],
            "options": [
                "type": "array", "items": ["type": "string"],
                "description":
                    "Of recovery_required: `recover` the account, or `new_account`, with `newAccount: true` beside the same code.",
            ],
            "eligibleOn": ["type": "string", "format": "date"],
            "errors": ["type": "array", "items": ["$ref": "#/components/schemas/FieldProblem"]],
        ],
    ]
}
