/// Frames for one receiver that travel as one ZeroMQ message: libzmq queues, wakes, encrypts and decrypts once for all of them,
/// which costs more than the frames themselves.
///
/// One frame goes as it is, in one part. Several stand behind the magic and the wire version ``WireVersion/bundles``, each in
/// its form of one part, behind its length (4 bytes, little-endian).
public struct FrameBundle: Sendable {
    /// Frames that one message may have.
    public static let mostFrames = 32
    /// Bytes that frames share a message up to; a larger frame has one to itself, as libzmq bounds the whole message.
    static let fullBytes = 32_768

    private static let prefix = FrameHeader.magic + [WireVersion.bundles.rawValue]

    private var bytes = Self.prefix
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// Whether one more frame fits, with a body of so many bytes.
    public func hasRoom(for bodyBytes: Int) -> Bool {
        isEmpty || count < Self.mostFrames && bytes.count + bodyBytes < Self.fullBytes
    }

    /// Adds a frame; the header must be writable, and give the length of `body`.
    public mutating func append(_ header: FrameHeader, _ body: [UInt8]) {
        let start = bytes.count
        bytes.reserveCapacity(start + 512 + body.count)
        bytes.appendInteger(UInt32(0))
        header.write(to: &bytes, .onePart, body)
        let length = UInt32(bytes.count - start - 4)
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
        count += 1
    }

    /// Keeps the memory, unless a large frame made it grow.
    public mutating func removeAll() {
        guard bytes.capacity <= 2 * Self.fullBytes else { return self = Self() }
        bytes.removeSubrange(Self.prefix.count...)
        count = 0
    }

    /// The message, of at least one frame.
    public func withMessage<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            body(count == 1 ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Self.prefix.count + 4)) : bytes)
        }
    }

    /// Tells the frames of a message, in their order: the message itself where it is no bundle.
    ///
    /// - Returns: false where it is a bundle that cannot be read to its end; the frames before that were told.
    public static func read(_ message: UnsafeRawBufferPointer, _ tell: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard message.count >= prefix.count, message[..<prefix.count].elementsEqual(prefix) else {
            tell(message)
            return true
        }
        var position = prefix.count
        for _ in 0..<mostFrames {
            guard position + 4 <= message.count else { return false }
            let length = Int(message.integer(at: position) as UInt32)
            position += 4
            guard length <= message.count - position else { return false }
            tell(UnsafeRawBufferPointer(rebasing: message[position..<(position + length)]))
            position += length
            if position == message.count { return true }
        }
        return false
    }
}
