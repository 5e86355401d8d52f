/// What a frame is for.
public enum FrameKind: UInt8, Sendable, CaseIterable {
    case hello = 1, ping, pong, request, reply, error, cancel, goAway
}

/// How a frame lies in a ZeroMQ message.
public enum WireVersion: UInt8, Sendable, Comparable {
    /// The header is a part, and the body is another.
    case twoParts = 1
    /// The body follows the header in one part: each part is queued, counted and encrypted by itself. And libzmq 4.3.4
    /// aborts the process where a connection breaks just when its socket is closed and half of a message is on its way
    /// (`session_base.cpp:260`, libzmq#3442); one part has no half.
    case onePart = 2
    /// As ``onePart``, and several frames may lie in one part: see ``FrameBundle``.
    case bundles = 3

    public static func < (a: WireVersion, b: WireVersion) -> Bool { a.rawValue < b.rawValue }
}

/// What stands before the JSON body of every frame on the bus.
///
/// Fixed part, little-endian: magic and wire version (4 bytes), kind (1), flags (1), attempt (1), reserved (1),
/// correlation id (8), body length (4), remaining budget in ms (4), sent-at in ms (8). Then fields, each an id
/// (1), a length (2) and so many bytes. An unknown field is skipped, unless its id has the high bit: "must understand".
public struct FrameHeader: Sendable, Equatable {
    /// The wire version follows it.
    static let magic: [UInt8] = [0x56, 0x53, 0x54]
    public static let fixedLength = 32
    /// Bytes of the texts that fields hold: a longer one is not written and not read.
    static let longestType = 64
    static let longestKey = 255
    static let longestTrace = 128
    static let longestAddress = 64
    static let longestRole = 16
    static let longestToken = 2048
    static let longestTag = 64

    public var kind: FrameKind
    /// The reply is a stored one, given again.
    public var isReplay = false
    /// Of a HELLO: the sender does not know the receiver (any more) and wants its HELLO.
    public var wantsHello = false
    /// Of a REQUEST: an operator means to do what only programs do. It counts with an operator's key only.
    public var isAsOperator = false
    /// Of a REPLY: the request made what it shows.
    public var isCreated = false
    /// From 1.
    public var attempt: UInt8 = 1
    /// Chosen by who asks, unique on its connection.
    public var correlationID: UInt64
    public var bodyLength: UInt32
    /// Milliseconds that the caller still waits, as of sending.
    public var budgetMs: UInt32 = 0
    /// Milliseconds of the sender's own clock, which nobody sets: only differences mean something. 0 where it is not told.
    public var sentAtMs: UInt64 = 0

    public var messageType: MessageType?
    public var messageVersion: UInt16 = 1
    /// The same in every attempt.
    public var messageID: Identifier?
    public var idempotencyKey: String?
    /// W3C Trace Context.
    public var traceparent: String?
    /// Counts on a gateway's connection only.
    public var actor: Actor?
    /// Counts on a gateway's connection only.
    public var clientAddress: String?
    /// The access token of the public request, where the act wants it. Counts on a gateway's connection only.
    public var accessToken: String?
    public var hints: Hints?
    /// Of a REPLY: the state of the resource that it shows, from 1.
    public var entityRevision: Int64?
    /// Of a REPLY: the name of that state, where it has one of its own.
    public var entityTag: EntityTag?

    /// How busy the answering replica is.
    public struct Hints: Sendable, Equatable {
        /// Requests whose handlers have not begun.
        public var queueDepth: UInt32
        public var inFlight: UInt32
        /// Microseconds between arrival and answer.
        public var handlerMicroseconds: UInt32
        public init(queueDepth: UInt32, inFlight: UInt32, handlerMicroseconds: UInt32) {
            (self.queueDepth, self.inFlight, self.handlerMicroseconds) = (queueDepth, inFlight, handlerMicroseconds)
        }
    }

    public init(kind: FrameKind, correlationID: UInt64 = 0, bodyLength: UInt32 = 0) {
        (self.kind, self.correlationID, self.bodyLength) = (kind, correlationID, bodyLength)
    }

    /// Whether every text is one that a reader takes: not empty, not too long, visible ASCII and spaces.
    public var isWritable: Bool {
        func fits(_ text: String?, _ limit: Int) -> Bool { text.map { Self.isText($0.utf8, limit) } ?? true }
        return fits(messageType?.rawValue, Self.longestType) && fits(idempotencyKey, Self.longestKey)
            && fits(traceparent, Self.longestTrace) && fits(clientAddress, Self.longestAddress)
            && fits(actor?.role, Self.longestRole) && fits(accessToken, Self.longestToken)
            && fits(entityTag?.rawValue, Self.longestTag)
    }

    static func isText(_ bytes: some Collection<UInt8>, _ limit: Int) -> Bool {
        !bytes.isEmpty && bytes.count <= limit && bytes.allSatisfy { (0x20...0x7e).contains($0) }
    }

    enum Field: UInt8, CaseIterable {
        case message = 1, messageID, idempotencyKey, traceparent, actor, clientAddress, hints, entityRevision,
            accessToken, entityTag
    }
}

/// Why bytes are no frame header.
public enum FrameError: Error, Sendable, Equatable {
    case tooShort, wrongMagic
    /// From here on the fixed part was read, so that an answer can name the correlation id.
    case unknownKind(UInt8, correlationID: UInt64)
    case malformedField(UInt8, correlationID: UInt64)
    case mustUnderstand(UInt8, correlationID: UInt64)
    /// The body has not the length that the header says.
    case wrongLength(correlationID: UInt64)

    /// Of the frame that was refused, where it could be read.
    public var correlationID: UInt64? {
        switch self {
        case .tooShort, .wrongMagic: nil
        case .unknownKind(_, let id), .malformedField(_, let id), .mustUnderstand(_, let id), .wrongLength(let id): id
        }
    }
}
