import BusProtocol
import JSONText

// The requests to the operator's own servers, if these send SMS, emails and pushes. The app finds `data` in its push.
extension OpenAPIDocument {
    func webhooks(_ schemas: SchemaComponents) -> JSONValue {
        [
            "sms": Self.webhook("sendSMS", "Sends an SMS.", SMSWebhook.schema, "2XX: the SMS is sent.", [:], schemas),
            "email": Self.webhook(
                "sendEmail", "Sends an email.", EmailWebhook.schema, "2XX: the email is sent.", [:], schemas),
            "push": Self.webhook(
                "sendPush", "Sends a push to one device.", PushWebhook.schema, "2XX: the push is sent.",
                ["410": ["description": "Nobody is behind the push token any more."]], schemas),
        ]
    }

    private static func webhook(
        _ id: String, _ summary: String, _ schema: JSONSchema, _ taken: String, _ others: [String: JSONValue],
        _ schemas: SchemaComponents
    ) -> JSONValue {
        let parameters = [
            header("Idempotency-Key", "ID of the message. The receiver ignores what it has seen."),
            header("Vestibule-Timestamp", "Seconds since 1970. The receiver refuses an old one."),
            header(
                "Vestibule-Signature",
                "`v1=` and the HMAC-SHA-256, in hexadecimal digits, of `Vestibule-Timestamp`, a dot and the body."),
        ]
        let responses = others.merging(["2XX": ["description": .string(taken)]]) { $1 }
        return [
            "post": [
                "operationId": .string(id), "summary": .string(summary), "tags": ["Operations"],
                "description": "Posted to the operator's own server, signed. Another answer is tried again.",
                "parameters": .array(parameters), "responses": .object(responses),
                "requestBody": [
                    "required": true,
                    "content": [
                        "application/json": [
                            "schema": schemas.exported(schema), "example": schema.example(isWhole: true),
                        ]
                    ],
                ],
            ]
        ]
    }

    private static func header(_ name: String, _ words: String) -> JSONValue {
        [
            "name": .string(name), "in": "header", "required": true, "description": .string(words),
            "schema": ["type": "string"],
        ]
    }
}
