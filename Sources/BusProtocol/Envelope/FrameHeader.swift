/// What a frame is for.
public enum FrameKind: UInt8, Sendable, CaseIterable {
    case hello = 1, ping, pong, request, reply, error, cancel, goAway
}

/// The first of the two parts of every frame on the bus; the second is the JSON body.
///
/// Fixed part, little-endian: magic and wire version (4 bytes), kind (1), flags (1), attempt (1), reserved (1),
/// correlation id (8), body length (4), remaining budget in ms (4), sent-at in ms since 1970 (8). Then fields, each an id
/// (1), a length (2) and so many bytes. An unknown field is skipped, unless its id has the high bit: "must understand".
public struct FrameHeader: Sendable, Equatable {
    public static let magic: [UInt8] = [0x56, 0x53, 0x54, 1]
    public static let fixedLength = 32

    public var kind: FrameKind
    /// The reply is a stored one, given again.
    public var isReplay = false
    /// From 1.
    public var attempt: UInt8 = 1
    /// Chosen by who asks, unique on its connection.
    public var correlationID: UInt64
    public var bodyLength: UInt32
    /// Milliseconds that the caller still waits, as of sending.
    public var budgetMs: UInt32 = 0
    /// Milliseconds since 1970 by the sender's clock.
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
    public var hints: Hints?

    /// How busy the answering replica is.
    public struct Hints: Sendable, Equatable {
        public var inFlight: UInt32
        /// Microseconds between arrival and answer.
        public var handlerMicroseconds: UInt32
        public init(inFlight: UInt32, handlerMicroseconds: UInt32) {
            (self.inFlight, self.handlerMicroseconds) = (inFlight, handlerMicroseconds)
        }
    }

    public init(kind: FrameKind, correlationID: UInt64 = 0, bodyLength: UInt32 = 0) {
        (self.kind, self.correlationID, self.bodyLength) = (kind, correlationID, bodyLength)
    }

    enum Field: UInt8 {
        case message = 1, messageID, idempotencyKey, traceparent, actor, clientAddress, hints
    }
}

/// Why bytes are no frame header.
public enum FrameError: Error, Sendable, Equatable {
    case tooShort, wrongMagic
    /// From here on the fixed part was read, so that an answer can name the correlation id.
    case unknownKind(UInt8, correlationID: UInt64)
    case malformedField(UInt8, correlationID: UInt64)
    case mustUnderstand(UInt8, correlationID: UInt64)

    /// Of the frame that was refused, where it could be read.
    public var correlationID: UInt64? {
        switch self {
        case .tooShort, .wrongMagic: nil
        case .unknownKind(_, let id), .malformedField(_, let id), .mustUnderstand(_, let id): id
        }
    }
}
