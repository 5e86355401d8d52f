import JSONText

/// The whole bus as an AsyncAPI 3.0 document.
///
/// It has a server for each service, and a channel and an operation for each message type. `x-zmtp` describes the
/// frames byte by byte. `docs/architecture/bus.md` says who sends which frame when.
public enum AsyncAPIDocument {
    /// The document.
    ///
    /// - Parameter folder: the folder of the ``MessageDocument``s, as a reference relative to this document.
    public static func value(messagesIn folder: String) -> JSONValue {
        let messages = MessageCatalogue.all.map { (document: MessageDocument($0), message: $0) }
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
                    "Requests, replies and events between the services. An event is also a request: it is sent again until it is acknowledged.",
            ],
            "servers": .object(Dictionary(uniqueKeysWithValues: servers)), "channels": .object(channels),
            "operations": .object(operations), "x-zmtp": FrameDocument.value,
        ]
    }

    private static func server(_ service: String) -> JSONValue {
        [
            "host": .string(service), "protocol": "zmtp",
            "description": .string("A ROUTER socket for each replica of \(service); a caller has one DEALER for each."),
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
            "servers": .array(message.rules.receivers.map { ["$ref": .string("#/servers/\($0)")] }),
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

/// The layout of a frame, for peers that are not written in Swift.
enum FrameDocument {
    static var value: JSONValue {
        [
            "parts": [
                "1": "Wire version 1: the header is one part of the message, the body another.",
                "2": "Wire version 2: one part, the body after the header; the body's length says where it begins.",
                "3": .string(
                    "Wire version 3: as 2, or up to \(FrameBundle.mostFrames) frames in one part: the magic, 3, then each frame in its form of version 2, preceded by its length (4 bytes)."
                ),
            ],
            "byteOrder": "little-endian",
            "fixed": .array(
                fixed.map {
                    ["name": .string($0.name), "bytes": .integer($0.bytes), "content": .string($0.content)]
                }),
            "magic": .array(FrameHeader.magic.map { .integer(Int64($0)) }),
            "kinds": .object(
                Dictionary(uniqueKeysWithValues: FrameKind.allCases.map { ("\($0)", .integer(Int64($0.rawValue))) })),
            "flags": .object(
                Dictionary(
                    uniqueKeysWithValues: flags.map {
                        ($0.name, ["bit": .integer($0.bit), "content": .string($0.content)])
                    })),
            "fields": .object(
                Dictionary(
                    uniqueKeysWithValues: FrameHeader.Field.allCases.map {
                        ("\($0)", ["id": .integer(Int64($0.rawValue)), "content": .string($0.content)])
                    })),
            "fieldLayout":
                "ID (1 byte), length (2 bytes), then that many bytes. A field with an unknown ID is skipped. If its ID is 128 or more, the frame is refused instead. A field occurs at most once. A text is visible ASCII and spaces. An ID of 16 bytes is a UUID in network byte order (RFC 9562).",
            "bodies": FrameBodies.schemas,
            "errors": .array(errors.map(MessageDocument.described)),
        ]
    }

    /// The fixed part, in the order of its bytes.
    private static let fixed: [(name: String, bytes: Int64, content: String)] = [
        ("magic", 3, "the bytes of `magic`"),
        ("wireVersion", 1, "1 in two parts, else 2"),
        ("kind", 1, "a number of `kinds`"),
        ("flags", 1, "the sum of the bits of `flags`"),
        ("attempt", 1, "of a request: the number of the attempt, from 1"),
        ("reserved", 1, "0"),
        (
            "correlationID", 8,
            "of a request: chosen by the caller, and unused by its requests in flight; of a reply or an error: the request's; of a cancel: that of the request which the caller gives up; else 0"
        ),
        ("bodyLength", 4, "bytes of the body"),
        ("budget", 4, "of a request: how many milliseconds the caller still waits; else 0"),
        (
            "sentAt", 8,
            "milliseconds of the sender's monotonic clock, the same clock in all frames of a connection; 0 if unknown"
        ),
    ]

    private static let flags: [(name: String, bit: Int64, content: String)] = [
        ("replayed", 1, "of a reply: the stored reply to an earlier request with the same idempotency key"),
        ("wantsHello", 2, "of a HELLO: the sender wants the receiver's HELLO before anything else"),
        ("asOperator", 4, "of a request: an operator changes something; valid from an operator only"),
        ("created", 8, "of a reply: the request created what the reply shows"),
    ]

    /// The errors with which every service may answer any message. The last one answers events only.
    private static let errors: [ErrorCode] = [
        .invalidMessage, .unknownMessage, .callerNotAllowed, .serviceUnavailable, .overloaded, .deadlineExceeded,
        .internalError, .eventsAwaited,
    ]
}

extension FrameHeader.Field {
    fileprivate var content: String {
        switch self {
        case .message: "of a request: message type in ASCII, then its version (2 bytes)"
        case .messageID: "ID of the message (16 bytes), the same in every attempt; every request must have it"
        case .idempotencyKey: "1 to \(FrameHeader.longestKey) bytes of visible ASCII"
        case .traceparent: "W3C traceparent"
        case .actor:
            "ID of the person (16 bytes), ID of the session (16 bytes), role (`user`, `staff` or `admin`); valid from a gateway only"
        case .clientAddress: "address of the public client; valid from a gateway only"
        case .hints: "of a reply: queue depth, requests in flight, microseconds in the handler (4 bytes each)"
        case .entityRevision: "of a reply: the revision of the resource that it shows (8 bytes)"
        case .accessToken:
            "the access token of the public request, if the message wants it; valid from a gateway only"
        case .entityTag: "of a reply: the name of that revision, if it has its own"
        case .app: "the app that the actor signed in to, after the actor; absent for the default app"
        case .contentLanguage:
            "of a reply: the language of its texts, if they are all in one; of a request: the language that the person reads"
        }
    }
}
