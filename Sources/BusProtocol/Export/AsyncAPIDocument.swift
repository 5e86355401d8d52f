import JSONText

/// The whole bus as an AsyncAPI 3.0 document: a server for each service, a channel and an operation for each message
/// type, and in `x-zmtp` the frames, byte by byte, so that a peer can be written from it alone.
public enum AsyncAPIDocument {
    /// - Parameter folder: of the ``MessageDocument``s, as a reference from the document's own place.
    public static func value(messagesIn folder: String) -> JSONValue {
        let messages = Catalogue.all.map { (document: MessageDocument($0), message: $0) }
        var (channels, operations): ([String: JSONValue], [String: JSONValue]) = ([:], [:])
        for (document, message) in messages {
            channels[document.name] = channel(document.name, message, folder)
            operations[document.name] = operation(document.name)
        }
        let services = Set(messages.map { $0.message.rules.service.rawValue })
        let servers = services.map { ($0, server($0)) }
        return [
            "asyncapi": "3.0.0", "defaultContentType": "application/json",
            "info": [
                "title": "Vestibule bus", "version": "1",
                "description":
                    "Requests, replies and events between the services. An event is a request too: it is told again until it is acknowledged.",
            ],
            "servers": .object(Dictionary(uniqueKeysWithValues: servers)), "channels": .object(channels),
            "operations": .object(operations), "x-zmtp": FrameDocument.value,
        ]
    }

    private static func server(_ service: String) -> JSONValue {
        [
            "host": .string(service), "protocol": "zmtp",
            "description": .string("A ROUTER socket for each replica of \(service); who asks holds a DEALER for each."),
        ]
    }

    private static func channel(_ name: String, _ message: any BusRequest.Type, _ folder: String) -> JSONValue {
        func payload(_ part: String) -> JSONValue {
            [
                "payload": [
                    "schemaFormat": "application/schema+json;version=draft-2020-12",
                    "schema": ["$ref": .string("\(folder)/\(name).json#/$defs/\(part)")],
                ]
            ]
        }
        return [
            "address": .string(message.type.rawValue),
            "servers": [["$ref": .string("#/servers/\(message.rules.service)")]],
            "messages": ["request": payload("request"), "reply": payload("reply")],
        ]
    }

    private static func operation(_ name: String) -> JSONValue {
        let channel: JSONValue = ["$ref": .string("#/channels/\(name)")]
        func message(_ part: String) -> JSONValue { [["$ref": .string("#/channels/\(name)/messages/\(part)")]] }
        return [
            "action": "receive", "channel": channel, "messages": message("request"),
            "reply": ["channel": channel, "messages": message("reply")],
        ]
    }
}

/// The layout of a frame for who has no ``FrameHeader``.
enum FrameDocument {
    static var value: JSONValue {
        [
            "parts": [
                "1": "Wire version 1: the header is a part of the message, the body is another.",
                "2": "Wire version 2: one part, the body behind the header; the body's length says where it begins.",
                "3": .string(
                    "Wire version 3: as 2, or up to \(FrameBundle.mostFrames) frames in one part: the magic, 3, then each frame in its form of version 2 behind its length (4 bytes)."
                ),
            ],
            "byteOrder": "little-endian",
            "fixed": .array(fixed.map { ["name": .string($0), "offset": .integer($1), "bytes": .integer($2)] }),
            "magic": .array(FrameHeader.magic.map { .integer(Int64($0)) }),
            "kinds": .object(
                Dictionary(uniqueKeysWithValues: FrameKind.allCases.map { ("\($0)", .integer(Int64($0.rawValue))) })),
            "fields": .object(
                Dictionary(
                    uniqueKeysWithValues: FrameHeader.Field.allCases.map {
                        ("\($0)", ["id": .integer(Int64($0.rawValue)), "content": .string($0.content)])
                    })),
            "fieldLayout":
                "id (1 byte), length (2 bytes), then so many bytes. A field of an unknown id is skipped, unless its id is 128 or more: then the frame is refused. A field stands at most once.",
            "body":
                "JSON in UTF-8. Unknown members are skipped. The body of an error frame has status, code, detail, executed (no, yes or unknown), and where it helps retryAfterMs, errors and details.",
            "beginning":
                "Both sides say hello first, in wire version 1: {service, instance, build, wire: [from, to], catalogue, credit, heartbeatMs}. Everything else is said in the newest wire version that both understand. A ping is answered by a pong {state, queueDepth, inFlight}; only a replica in state ready is asked. At most `credit` requests are in flight on a connection.",
        ]
    }

    /// Name, offset, bytes.
    private static let fixed: [(String, Int64, Int64)] = [
        ("magic", 0, 3), ("wire version", 3, 1), ("kind", 4, 1),
        ("flags: 1 replayed, 2 wants hello, 4 as operator", 5, 1),
        ("attempt", 6, 1),
        ("reserved, 0", 7, 1), ("correlation id, chosen by who asks", 8, 8), ("body length", 16, 4),
        ("budget: milliseconds that the caller still waits", 20, 4),
        ("sent at: milliseconds of the sender's clock", 24, 8),
    ]
}

extension FrameHeader.Field {
    fileprivate var content: String {
        switch self {
        case .message: "message type in ASCII, then its version (2 bytes)"
        case .messageID: "16 bytes, the same in every attempt"
        case .idempotencyKey: "1 to \(FrameHeader.longestKey) bytes of visible ASCII"
        case .traceparent: "W3C traceparent"
        case .actor: "id of the person (16 bytes), id of the session (16 bytes), role; it counts from a gateway only"
        case .clientAddress: "address of the public client; it counts from a gateway only"
        case .hints: "of a reply: queue depth, requests in flight, microseconds in the handler (4 bytes each)"
        case .entityRevision: "of a reply: the state of the resource that it shows (8 bytes)"
        case .accessToken:
            "the access token of the public request, for acts that want it; it counts from a gateway only"
        case .entityTag: "of a reply: the name of that state, where it has one of its own"
        }
    }
}
