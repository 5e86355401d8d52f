import JSONText

/// The bodies of frames that belong to no message, as JSON Schema 2020-12.
enum FrameBodies {
    static var schemas: JSONValue { ["hello": hello, "pong": pong, "error": error] }

    private static let hello = object(
        "Who the sender is.",
        required: [
            "service": shortText("The name that the list of allowed keys has for the sender's key."),
            "instance": ["type": "string", "format": "uuid", "description": "A new one at each start of the sender."],
            "build": shortText("The sender's build, for operators. It may be empty."),
            "wire": [
                "type": "array", "items": ["type": "integer"], "minItems": 2, "maxItems": 2,
                "description": "The oldest and the newest wire version that the sender understands.",
            ],
            "catalogue": shortText("The digest of the messages that the sender knows, for operators. It may be empty."),
            "credit": integer("The most requests in flight that the sender takes on a connection, from 1."),
            "heartbeatMs": integer("The silence after which the sender sends a PING."),
        ], optional: ["process": integer("The process ID, for operators.")])

    private static let pong = object(
        "How a replica is.",
        required: [
            "state": [
                "enum": ["starting", "ready", "draining"], "description": "Only a ready replica takes requests.",
            ],
            "queueDepth": integer("Requests that wait for their handlers to start."),
            "inFlight": integer("Requests without an answer yet."),
        ], optional: [:])

    private static let error = object(
        "A refusal or a failure.",
        required: [
            "status": text("How the request failed, for programs. It has gRPC's name where one fits."),
            "code": text("Which failure it is, for programs: one of the message's errors, or of `errors` here."),
            "detail": text("A sentence that a person may be shown."),
            "executed": ["enum": ["no", "yes", "unknown"], "description": "Whether the service did the work."],
        ],
        optional: [
            "retryAfterMs": integer("How long to wait before the request is repeated."),
            "errors": [
                "type": "array", "items": problem, "description": "What is wrong with single members of the request.",
            ],
            "details": ["type": "object", "description": "More members for programs, such as `attemptsRemaining`."],
        ])

    private static let problem = object(
        "What is wrong with one member.",
        required: [
            "field": text("The member; empty for the whole body."), "code": text("What is wrong, for programs."),
            "message": text("A sentence that a person may be shown."),
        ], optional: ["pointer": text("The member as a JSON pointer (RFC 6901).")])

    private static func integer(_ description: String) -> JSONValue {
        ["type": "integer", "description": .string(description)]
    }

    private static func text(_ description: String) -> JSONValue {
        ["type": "string", "description": .string(description)]
    }

    private static func shortText(_ description: String) -> JSONValue {
        ["type": "string", "maxLength": 64, "description": .string(description)]
    }

    private static func object(
        _ description: String, required: [String: JSONValue], optional: [String: JSONValue]
    ) -> JSONValue {
        [
            "type": "object", "description": .string(description), "additionalProperties": true,
            "properties": .object(required.merging(optional) { first, _ in first }),
            "required": .array(required.keys.sorted().map { .string($0) }),
        ]
    }
}
