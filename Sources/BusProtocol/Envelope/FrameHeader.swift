/// The purpose of a frame.
public enum FrameKind: UInt8, Sendable, CaseIterable {
    case hello = 1, ping, pong, request, reply, error, cancel, goAway
}

/// How a frame is laid out in a ZeroMQ message.
public enum WireVersion: UInt8, Sendable, Comparable {
    /// The header is one part, the body another.
    case twoParts = 1
    /// The body follows the header in the same part, because each part is queued, counted and encrypted separately.
    ///
    /// It also avoids a crash of libzmq 4.3.4 (`session_base.cpp:260`, libzmq#3442). libzmq aborts the process if a
    /// connection breaks while its socket closes in the middle of a message.
    case onePart = 2
    /// As ``onePart``, but one part may hold several frames: see ``FrameBundle``.
    case bundles = 3

    public static func < (a: WireVersion, b: WireVersion) -> Bool { a.rawValue < b.rawValue }
}

/// The header before the JSON body of every frame on the bus.
///
/// The fixed part is little-endian. It has magic and wire version (4 bytes), kind (1), flags (1), attempt (1), a
/// reserved byte and correlation ID (8). Then come body length (4), remaining budget in ms (4) and sent-at in ms (8).
///
/// Fields follow, each with an ID (1 byte), a length (2 bytes) and its content. A reader skips an unknown field, unless
/// the high bit of its ID is set: "must understand".
public struct FrameHeader: Sendable, Equatable {
    /// The first bytes of every frame. The wire version follows them.
    static let magic: [UInt8] = [0x56, 0x53, 0x54]
    /// Bytes of the fixed part.
    public static let fixedLength = 32
    /// The most bytes of each text. A longer one is neither written nor read.
    static let longestType = 64
    static let longestKey = 255
    static let longestTrace = 128
    static let longestAddress = 64
    static let longestRole = 16
    static let longestApp = 64
    static let longestToken = 2048
    static let longestTag = 64
    static let longestLanguage = 64

    /// The purpose of the frame.
    public var kind: FrameKind
    /// The reply is a stored reply, sent again.
    public var isReplay = false
    /// Of a HELLO: the sender does not know the receiver, or no longer does, and wants its HELLO.
    public var wantsHello = false
    /// Of a REQUEST: an operator sends what normally only programs send. Valid only on a connection with an operator's
    /// key.
    public var isAsOperator = false
    /// Of a REPLY: over HTTP it has the second status of success of its route.
    public var hasOtherSuccess = false
    /// The number of this attempt, from 1.
    public var attempt: UInt8 = 1
    /// Chosen by the caller; unique on its connection.
    public var correlationID: UInt64
    /// Bytes of the body.
    public var bodyLength: UInt32
    /// How long the caller still waits when the frame is sent, in milliseconds.
    public var budgetMs: UInt32 = 0
    /// When the frame was sent, in milliseconds of the sender's monotonic clock; 0 if unknown. Only differences have a
    /// meaning.
    public var sentAtMs: UInt64 = 0

    /// The wire name of the message, of a REQUEST.
    public var messageType: MessageType?
    /// The version of the message's shape, from 1.
    public var messageVersion: UInt16 = 1
    /// Identifies the message. It is the same in every attempt.
    public var messageID: Identifier?
    /// The key under which the request has its effect once.
    public var idempotencyKey: String?
    /// The trace that the frame belongs to (W3C Trace Context).
    public var traceparent: String?
    /// The person behind a public request. Valid only on a gateway's connection.
    public var actor: Actor?
    /// The address of the public client. Valid only on a gateway's connection.
    public var clientAddress: String?
    /// The access token of the public request, if the message wants it. Valid only on a gateway's connection.
    public var accessToken: String?
    /// Of a REPLY: how busy the replica is.
    public var hints: Hints?
    /// Of a REPLY: the revision of the resource that it shows, from 1.
    public var entityRevision: Int64?
    /// Of a REPLY: the name of that revision, if it has its own.
    public var entityTag: EntityTag?
    /// Of a REPLY: the language of its texts (RFC 5646), if they are all in one. Of a REQUEST: the language that the
    /// person reads, if the public request says one.
    public var contentLanguage: String?

    /// How busy the answering replica is.
    public struct Hints: Sendable, Equatable {
        /// Requests that wait for their handlers to start.
        public var queueDepth: UInt32
        /// Requests that were received and not yet answered.
        public var inFlight: UInt32
        /// Time between arrival and reply, in microseconds.
        public var handlerMicroseconds: UInt32
        /// Takes the two numbers of requests and the time in microseconds.
        public init(queueDepth: UInt32, inFlight: UInt32, handlerMicroseconds: UInt32) {
            (self.queueDepth, self.inFlight, self.handlerMicroseconds) = (queueDepth, inFlight, handlerMicroseconds)
        }
    }

    /// Makes a header without optional fields.
    public init(kind: FrameKind, correlationID: UInt64 = 0, bodyLength: UInt32 = 0) {
        (self.kind, self.correlationID, self.bodyLength) = (kind, correlationID, bodyLength)
    }

    /// Whether a reader accepts every text: not empty, not too long, visible ASCII characters and spaces only.
    public var isWritable: Bool {
        func fits(_ text: String?, _ limit: Int) -> Bool {
            guard var text else { return true }
            return text.withUTF8 { Self.isText(UnsafeRawBufferPointer($0), limit) }
        }
        return fits(messageType?.rawValue, Self.longestType) && fits(idempotencyKey, Self.longestKey)
            && fits(traceparent, Self.longestTrace) && fits(clientAddress, Self.longestAddress)
            && fits(actor?.role.rawValue, Self.longestRole) && fits(actor?.app, Self.longestApp)
            && fits(accessToken, Self.longestToken)
            && fits(entityTag?.rawValue, Self.longestTag) && fits(contentLanguage, Self.longestLanguage)
    }

    static func isText(_ bytes: UnsafeRawBufferPointer, _ limit: Int) -> Bool {
        (1...limit).contains(bytes.count) && PrintableASCII.prefix(of: bytes) == bytes.count
    }

    enum Field: UInt8, CaseIterable {
        case message = 1, messageID, idempotencyKey, traceparent, actor, clientAddress, hints, entityRevision,
            accessToken, entityTag, contentLanguage, app
    }
}

/// Why bytes are not a frame header.
public enum FrameError: Error, Sendable, Equatable {
    case tooShort, wrongMagic
    /// No kind has this number. In this and the following cases the fixed part was read, so the error can name the
    /// correlation ID.
    case unknownKind(UInt8, correlationID: UInt64)
    /// The field with this ID is cut off, repeated or not well-formed.
    case malformedField(UInt8, correlationID: UInt64)
    /// The field with this ID is unknown and must be understood.
    case mustUnderstand(UInt8, correlationID: UInt64)
    /// The body's length differs from the one in the header.
    case wrongLength(correlationID: UInt64)

    /// The correlation ID of the refused frame, if it could be read.
    public var correlationID: UInt64? {
        switch self {
        case .tooShort, .wrongMagic: nil
        case .unknownKind(_, let id), .malformedField(_, let id), .mustUnderstand(_, let id), .wrongLength(let id): id
        }
    }
}
