/// Frames for one receiver that travel as one ZeroMQ message.
///
/// libzmq queues, wakes, encrypts and decrypts once for all of them. That work costs more than the frames themselves.
///
/// A single frame is sent as it is, in one part. Several frames follow the magic bytes and the wire version
/// ``WireVersion/bundles``. Each has its one-part form, preceded by its length (4 bytes, little-endian).
public struct FrameBundle: Sendable {
    /// The most frames in one message.
    public static let mostFrames = 32
    /// The most bytes that several frames share in one message. A larger frame has a message to itself, because libzmq
    /// limits the size of the whole message.
    static let fullBytes = 32_768

    private static let prefix = FrameHeader.magic + [WireVersion.bundles.rawValue]

    private var bytes = Self.prefix
    /// The number of frames that were added.
    public private(set) var count = 0

    /// Makes an empty bundle.
    public init() {}

    /// Whether no frame was added.
    public var isEmpty: Bool { count == 0 }

    /// Whether another frame fits whose body has this many bytes.
    public func hasRoom(for bodyBytes: Int) -> Bool {
        isEmpty || count < Self.mostFrames && bytes.count + bodyBytes < Self.fullBytes
    }

    /// Adds a frame. The header must be writable and must give the length of `body`.
    public mutating func append(_ header: FrameHeader, _ body: [UInt8]) {
        let start = bytes.count
        bytes.reserveCapacity(start + 512 + body.count)
        bytes.appendInteger(UInt32(0))
        header.write(to: &bytes, .onePart, body)
        let length = UInt32(bytes.count - start - 4)
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
        count += 1
    }

    /// Removes the frames. The memory is kept, unless a large frame made it grow.
    public mutating func removeAll() {
        guard bytes.capacity <= 2 * Self.fullBytes else { return self = Self() }
        bytes.removeSubrange(Self.prefix.count...)
        count = 0
    }

    /// Calls `body` with the bytes of the message. The bundle must have at least one frame.
    public func withMessage<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            body(count == 1 ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Self.prefix.count + 4)) : bytes)
        }
    }

    /// Calls `deliver` with each frame of a message, in order. A message that is no bundle is a single frame.
    ///
    /// - Returns: false if the bundle is malformed. The frames before the malformed one were passed to `deliver`.
    public static func read(_ message: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard message.count >= prefix.count, message[..<prefix.count].elementsEqual(prefix) else {
            deliver(message)
            return true
        }
        var position = prefix.count
        for _ in 0..<mostFrames {
            guard position + 4 <= message.count else { return false }
            let length = Int(message.integer(at: position) as UInt32)
            position += 4
            guard length <= message.count - position else { return false }
            deliver(UnsafeRawBufferPointer(rebasing: message[position..<(position + length)]))
            position += length
            if position == message.count { return true }
        }
        return false
    }
}
