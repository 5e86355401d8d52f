import Testing

@testable import HTTPServer

/// Messages that two readers could read in two ways, or that no reader should take, with the status of the answer.
let refusedMessages: [(text: String, status: Int)] = [
    // Two lengths.
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\ncontent-length: 4\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\nabc", 400),
    // A sign of Kelvin, whose small form is a k.
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n0\r\n\r\n", 400),
    // Lengths that are no decimal numbers.
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3 3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\nabc", 400),
    // Transfer codings.
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    // Line ends, folds, spaces, control characters.
    ("GET / HTTP/1.1\nHost: h\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\u{7f}b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nNo colon\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX\u{1}: x\r\n\r\n", 400),
    ("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    // The request line.
    ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
    ("GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    (" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /\r\n\r\n", 400),
    ("G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /%4 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /é HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET /\\ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / http/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.2\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/1.10\r\nHost: h\r\n\r\n", 400),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    // The host.
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    // Expectations.
    ("GET / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\n\r\n", 417),
    // Chunks.
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n000000003\r\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\nabc", 413),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nBad trailer\r\n\r\n", 400),
]

/// Messages that are served, alone and one after another.
private let servedMessages: [String] = [
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "\r\nGET /x?y HTTP/1.1\r\nhost: [::1]:8080\r\nX: \u{e9}\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhelloOPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x=\"y\"\r\nhe\r\n3\r\nllo\r\n0\r\nT: 1\r\n\r\n",
    "HEAD / HTTP/1.0\r\n\r\n",
]

@Suite("One way to read a message") struct SmugglingTests {
    @Test(arguments: refusedMessages) func isRefused(text: String, status: Int) {
        let reading = Reading(text)
        #expect(reading.refusal?.status == status)
        #expect(reading.bodies.isEmpty)
    }

    @Test("a message reads the same however it is cut")
    func cutAnywhere() {
        for text in servedMessages + refusedMessages.map(\.text) {
            let bytes = Array(text.utf8)
            let whole = Reading([bytes])
            for cut in 1..<bytes.count {
                #expect(Reading([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "cut at \(cut): \(text)")
            }
            #expect(Reading(bytes.map { [$0] }) == whole, "byte by byte: \(text)")
        }
    }

    @Test("random bytes read the same whole and byte by byte")
    func randomBytes() {
        var generator = SplitMix(state: 7)
        let pool = Array("GET / HTTP/1.1\r\nHost:Transfer-Encodingchunked0123;,\t \u{0}\u{7f}".utf8)
        for _ in 0..<2000 {
            let count = Int(generator.next() % 200)
            let bytes = (0..<count).map { _ in pool[Int(generator.next() % UInt64(pool.count))] }
            #expect(Reading([bytes]) == Reading(bytes.map { [$0] }))
        }
    }
}

/// Numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
}
