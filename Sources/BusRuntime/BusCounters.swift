import BusProtocol

/// What a process saw on the bus since it started.
public struct BusCounters: Sendable {
    public struct Key: Hashable, Sendable {
        public let type: String
        public let code: String
        public init(type: String, code: String) { (self.type, self.code) = (type, code) }
    }

    /// Frames that could not be read, or not in their place.
    public var malformedFrames = 0
    /// Messages that are not of this bus: another magic or another wire version.
    public var foreignFrames = 0
    /// Attempts of calls beyond the first.
    public var retries = 0
    /// Times that a replica was lost: gone, silent, or another process.
    public var lostReplicas = 0
    /// Answers whose asker was gone.
    public var undeliverable = 0
    /// Errors of handlers that had no words for the wire.
    public var internalErrors = 0
    /// Requests answered, by message type and code (`ok` for a reply).
    public private(set) var answered: [Key: Int] = [:]

    /// - Parameter type: one that has a handler; `nil` for any other, whose names are without number.
    mutating func count(_ type: MessageType?, code: String) {
        answered[Key(type: type?.rawValue ?? "unknown", code: code), default: 0] += 1
    }
}
