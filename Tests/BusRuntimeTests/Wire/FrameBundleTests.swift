import BusProtocol
import Testing

@Suite("Frame bundle") struct FrameBundleTests {
    private static let a = FrameHeader(kind: .ping, correlationID: 1, bodyLength: 1)
    private static let b = FrameHeader(kind: .cancel, correlationID: 2)

    /// The bytes of version 3. They never change, because another layout is another wire version.
    private static let golden: [UInt8] =
        [0x56, 0x53, 0x54, 3]
        + [33, 0, 0, 0, 0x56, 0x53, 0x54, 2, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
        + [UInt8](repeating: 0, count: 12) + [0x7b]
        + [32, 0, 0, 0, 0x56, 0x53, 0x54, 2, 7, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        + [UInt8](repeating: 0, count: 12)

    private func frames(of message: [UInt8]) -> (frames: [[UInt8]], isWhole: Bool) {
        var frames: [[UInt8]] = []
        let isWhole = message.withUnsafeBytes { FrameBundle.read($0) { frames.append(Array($0)) } }
        return (frames, isWhole)
    }

    @Test func theBytesOfVersionThreeStay() {
        var bundle = FrameBundle()
        bundle.append(Self.a, [0x7b])
        bundle.append(Self.b, [])
        #expect(bundle.withMessage { Array($0) } == Self.golden)
        let read = frames(of: Self.golden)
        #expect(read.isWhole && read.frames == [Self.a.encoded(before: [0x7b]), Self.b.encoded(before: [])])
    }

    @Test func aBundleOfOneFrameIsThatFrame() {
        var bundle = FrameBundle()
        bundle.append(Self.a, [0x7b])
        let message = bundle.withMessage { Array($0) }
        #expect(message == Self.a.encoded(before: [0x7b]))
        #expect(frames(of: message).frames == [message])
    }

    @Test func anEmptiedBundleCanBeFilledAgain() {
        var bundle = FrameBundle()
        for body in [[0x7b], [UInt8](repeating: 0x7b, count: 200_000)] as [[UInt8]] {
            bundle.append(Self.b, body)
            bundle.append(Self.b, [])
            bundle.removeAll()
            #expect(bundle.isEmpty && bundle.hasRoom(for: 0))
        }
        bundle.append(Self.a, [0x7b])
        bundle.append(Self.b, [])
        #expect(bundle.withMessage { Array($0) } == Self.golden)
    }

    @Test(arguments: [0, 3000])
    func aFullBundleIsStillRead(bodyBytes: Int) {
        var bundle = FrameBundle()
        var header = Self.b
        let body = [UInt8](repeating: 0x20, count: bodyBytes)
        header.bodyLength = UInt32(bodyBytes)
        while bundle.hasRoom(for: bodyBytes) { bundle.append(header, body) }
        #expect(bundle.count == (bodyBytes == 0 ? FrameBundle.mostFrames : 10))
        let read = bundle.withMessage { frames(of: Array($0)) }
        #expect(read.isWhole && read.frames == Array(repeating: header.encoded(before: body), count: bundle.count))
    }

    /// Together with other frames, it would exceed the message size of the receiver's libzmq, which would close the
    /// connection.
    @Test func aLargeFrameIsAlone() {
        var bundle = FrameBundle()
        #expect(bundle.hasRoom(for: 1_000_000))
        bundle.append(Self.b, [])
        #expect(!bundle.hasRoom(for: 1_000_000) && bundle.hasRoom(for: 1000))
        bundle.removeAll()
        bundle.append(Self.b, [UInt8](repeating: 0x20, count: 1_000_000))
        #expect(!bundle.hasRoom(for: 0))
    }

    @Test func aCutBundleIsIncompleteAndYieldsOnlyWholeFrames() {
        for length in 4..<Self.golden.count {
            let read = frames(of: Array(Self.golden.prefix(length)))
            // Cut between its two frames, it is a bundle of one frame.
            #expect(read.isWhole == (length == 41), "cut at \(length)")
            #expect(read.frames == (length < 41 ? [] : [Self.a.encoded(before: [0x7b])]), "cut at \(length)")
        }
    }
}
