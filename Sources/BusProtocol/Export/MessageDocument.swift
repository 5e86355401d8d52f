import JSONText

/// One message type as a JSON Schema 2020-12 document: the shapes of its request and its reply, and its rules.
public struct MessageDocument: Sendable {
    /// The type and the version: `auth.send-otp.v1`.
    public let name: String
    /// The JSON of the document.
    public let value: JSONValue

    /// Describes one message type.
    public init(_ message: any BusRequest.Type) { self = Self.open(message) }

    private init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }

    private static func open<Message: BusRequest>(_ message: Message.Type) -> MessageDocument {
        let name = "\(Message.type).v\(Message.version)"
        let definitions: JSONValue = [
            "request": Message.schema.exported(.bus),
            "reply": Message.Reply.schema.exported(.bus),
        ]
        let value: JSONValue = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .string("urn:vestibule:message:\(name)"),
            "title": .string("\(Message.type), version \(Message.version)"), "$defs": definitions,
            "x-vestibule": rules(of: message),
        ]
        return MessageDocument(name: name, value: value)
    }

    private static func rules<Message: BusRequest>(of message: Message.Type) -> JSONValue {
        let rules = Message.rules
        var others: [String: JSONValue] = [:]
        if !rules.alsoTold.isEmpty { others["alsoAnsweredBy"] = names(rules.alsoTold) }
        if rules.delivery == .untilTaken { others["delivery"] = .string(rules.delivery.rawValue) }
        let members: [String: JSONValue] = [
            "kind": message is any BusEvent.Type ? "event" : "request", "answeredBy": .string(rules.service.rawValue),
            "callers": names(rules.callers),
            "effect": .string(rules.effect.rawValue), "errors": .array(rules.errors.map(described)),
            "largestBodyBytes": .integer(Int64(rules.largestBody)),
        ]
        return .object(members.merging(others) { first, _ in first })
    }

    private static func names(_ services: some Collection<ServiceName>) -> JSONValue {
        .array(services.map(\.rawValue).sorted().map { .string($0) })
    }

    static func described(_ code: ErrorCode) -> JSONValue {
        [
            "code": .string(code.name), "status": .string(code.status.rawValue),
            "httpStatus": .integer(Int64(code.httpStatus)), "title": .string(code.title),
        ]
    }
}
