import BusProtocol
import Testing

@Suite("Frame header") struct FrameHeaderTests {
    /// Every field, with bytes that are easy to recognise.
    static let full: FrameHeader = {
        var header = FrameHeader(kind: .request, correlationID: 0x0807_0605_0403_0201, bodyLength: 0x0102)
        header.isReplay = true
        header.attempt = 2
        header.budgetMs = 5000
        header.sentAtMs = 0x0a0b
        header.messageType = "auth.echo"
        header.messageVersion = 3
        header.messageID = Identifier("00112233-4455-6677-8899-aabbccddeeff")
        header.idempotencyKey = "k1"
        header.traceparent = "00-t"
        header.actor = Identifier("00000000-0000-0000-0000-000000000001").flatMap { user in
            Identifier("00000000-0000-0000-0000-000000000002").map { Actor(userID: user, sessionID: $0, role: .user) }
        }
        header.clientAddress = "::1"
        header.hints = .init(queueDepth: 6, inFlight: 7, handlerMicroseconds: 8)
        header.entityRevision = 9
        header.accessToken = "t.o.k"
        header.entityTag = EntityTag(rawValue: "r9")
        header.contentLanguage = "sv"
        return header
    }()

    /// The bytes of version 1. They never change, because another layout is another wire version. Fields may be added.
    static let golden: [UInt8] =
        [0x56, 0x53, 0x54, 1, 4, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 0, 0, 0x88, 0x13, 0, 0, 0x0b, 0x0a]
        + [0, 0, 0, 0, 0, 0, 1, 11, 0] + Array("auth.echo".utf8) + [3, 0, 2, 16, 0, 0x00, 0x11, 0x22, 0x33, 0x44]
        + [0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 3, 2, 0] + Array("k1".utf8)
        + [4, 4, 0] + Array("00-t".utf8) + [5, 36, 0] + [UInt8](repeating: 0, count: 15) + [1]
        + [UInt8](repeating: 0, count: 15) + [2] + Array("user".utf8) + [6, 3, 0] + Array("::1".utf8)
        + [7, 12, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0] + [8, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0]
        + [9, 5, 0] + Array("t.o.k".utf8) + [10, 2, 0] + Array("r9".utf8) + [11, 2, 0] + Array("sv".utf8)

    @Test func theBytesOfVersionOneStay() throws {
        #expect(Self.full.encoded() == Self.golden)
        #expect(try FrameHeader.decoded(Self.golden).get() == Self.full)
    }

    /// Version 2 has the same layout, except for the version number and the body that follows in the same part.
    @Test func theBytesOfVersionTwoStay() throws {
        let body = [UInt8](repeating: 0x7b, count: 0x0102)
        var golden = Self.golden + body
        golden[3] = 2
        #expect(Self.full.encoded(before: body) == golden)
        let (header, read) = try golden.withUnsafeBytes { bytes in
            let frame = try FrameHeader.read(bytes)
            return (frame.header, Array(frame.body))
        }
        #expect(header == Self.full && read == body)
    }

    @Test func theAppFollowsItsActor() throws {
        var header = Self.full
        header.actor?.app = "pk_realsingles-1"
        let field = [12, 16, 0] + Array("pk_realsingles-1".utf8)
        let bytes = header.encoded()
        #expect(bytes.count == Self.golden.count + field.count)
        #expect(try FrameHeader.decoded(bytes).get() == header)
        // Without an actor it says nothing of anybody.
        var alone = FrameHeader(kind: .request).encoded()
        alone += field
        #expect(throws: FrameError.self) { try FrameHeader.decoded(alone).get() }
        header.actor?.app = ""
        #expect(!header.isWritable)
    }

    @Test func aRoleOfANewerReleaseIsPassedOnAndGivesNoRights() throws {
        var header = Self.full
        header.actor?.role = "support"
        let read = try FrameHeader.decoded(header.encoded()).get()
        #expect(read == header && read.actor?.role.rawValue == "support")
        #expect(read.actor?.isStaff == false && read.actor?.isAdmin == false)
    }

    @Test func aBodyOfAnotherLengthIsRefused() throws {
        let body = [UInt8](repeating: 0x7b, count: 0x0102)
        let whole = FrameHeader(kind: .ping, bodyLength: 0x0102).encoded(before: body)
        for length in 0..<whole.count {
            #expect(throws: FrameError.self, "cut at \(length)") {
                try whole.prefix(length).withUnsafeBytes { _ = try FrameHeader.read($0) }
            }
        }
        var bare = FrameHeader(kind: .ping, correlationID: 7)
        bare.bodyLength = 1
        #expect(throws: FrameError.wrongLength(correlationID: 7)) {
            try bare.encoded(before: []).withUnsafeBytes { _ = try FrameHeader.read($0) }
        }
    }

    @Test(arguments: FrameKind.allCases) func aBareHeaderOfEveryKindDecodesAsEncoded(kind: FrameKind) throws {
        var header = FrameHeader(kind: kind, correlationID: .max, bodyLength: .max)
        header.wantsHello = true
        #expect(header.encoded().count == FrameHeader.fixedLength)
        #expect(try FrameHeader.decoded(header.encoded()).get() == header)
    }

    @Test func unknownFieldsAreSkippedUnlessTheyMustBeUnderstood() throws {
        let skipped = Self.golden + [0x7f, 2, 0, 1, 2]
        #expect(try FrameHeader.decoded(skipped).get() == Self.full)
        let demanded = Self.golden + [0x80, 0, 0]
        #expect(
            FrameHeader.decoded(demanded) == .failure(.mustUnderstand(0x80, correlationID: Self.full.correlationID)))
    }

    @Test func aRepeatedFieldIsRefused() {
        let twice = Self.golden + [3, 1, 0, 0x41]
        #expect(FrameHeader.decoded(twice) == .failure(.malformedField(3, correlationID: Self.full.correlationID)))
    }

    @Test func everyCutIsRefusedOrEndsAtAField() {
        for length in 0..<Self.golden.count {
            guard case .success(let header) = FrameHeader.decoded(Array(Self.golden.prefix(length))) else { continue }
            #expect(Self.golden.starts(with: header.encoded()), "cut at \(length)")
        }
    }

    @Test func otherMagicAndOtherVersionsAreForeign() {
        for index in 0..<4 {
            var bytes = Self.golden
            bytes[index] ^= 1
            #expect(FrameHeader.decoded(bytes) == .failure(.wrongMagic))
        }
    }

    @Test func textsThatNoReaderAcceptsAreNotWritable() {
        #expect(Self.full.isWritable)
        for text in ["", String(repeating: "k", count: 256), "a\nb", "é"] {
            var header = Self.full
            header.idempotencyKey = text
            #expect(!header.isWritable)
        }
    }

    /// A header that can be read from mutated bytes stays the same when it is written and read again.
    @Test func aHundredThousandMutatedHeadersAreReadOrRefused() throws {
        var random = SystemRandomNumberGenerator()
        var readable = 0
        for _ in 0..<100_000 {
            var bytes = Self.golden
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.removeLast(Int.random(in: 0...min(20, bytes.count), using: &random))
                case 1: bytes.append(.random(in: 0...255, using: &random))
                case 2: bytes.insert(.random(in: 0...255, using: &random), at: bytes.indices.randomElement() ?? 0)
                default: if let index = bytes.indices.randomElement() { bytes[index] = .random(in: 0...255) }
                }
            }
            guard case .success(let header) = FrameHeader.decoded(bytes) else { continue }
            readable += 1
            #expect(header.isWritable)
            #expect(try FrameHeader.decoded(header.encoded()).get() == header)
        }
        #expect(readable > 1000)
    }
}
