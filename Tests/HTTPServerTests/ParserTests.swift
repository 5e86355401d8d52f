import Testing

@testable import HTTPServer

/// What a parser said of some bytes, and where it stopped.
struct Reading: Equatable {
    var events: [HTTPParser.Event] = []
    var refusal: HTTPRefusal?

    /// Feeds the pieces one after another and lets every head's body in.
    init(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits(), bodyLimit: Int = 65_536) {
        var parser = HTTPParser(limits: limits)
        for piece in pieces {
            parser.append(piece)
            do {
                while let event = try parser.next() {
                    events.append(event)
                    if case .head = event { parser.admit(bodyLimit: bodyLimit) }
                }
            } catch {
                refusal = error
                return
            }
        }
    }

    init(_ text: String, limits: HTTPLimits = HTTPLimits(), bodyLimit: Int = 65_536) {
        self.init([Array(text.utf8)], limits: limits, bodyLimit: bodyLimit)
    }

    var bodies: [String] {
        events.compactMap { if case .body(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil } }
    }
    var heads: [HTTPRequestHead] {
        events.compactMap { if case .head(let head) = $0 { head } else { nil } }
    }
}

@Suite("HTTP parser") struct ParserTests {
    @Test func readsARequest() throws {
        let reading = Reading(
            "POST /a%20b?x=1&y HTTP/1.1\r\nHost: h:80\r\nX-One:  a b \t\r\ncontent-length: 3\r\n\r\nabc")
        let head = try #require(reading.heads.first)
        #expect(head.method == "POST" && head.path == "/a%20b" && head.query == "x=1&y" && head.minorVersion == 1)
        #expect(head.headers.first("x-one") == "a b")
        #expect(reading.bodies == ["abc"])
    }

    @Test func readsChunksAndForgetsTrailers() {
        let reading = Reading(
            "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\nGET /n HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(reading.refusal == nil)
        #expect(reading.bodies == ["abc0123456789", ""])
        #expect(reading.heads.map(\.path) == ["/", "/n"])
    }

    @Test("absolute form is served where it names the same host")
    func absoluteForm() {
        #expect(Reading("GET http://H/a?b HTTP/1.1\r\nHost: h\r\n\r\n").heads.first?.path == "/a")
        #expect(Reading("GET http://evil/ HTTP/1.1\r\nHost: h\r\n\r\n").refusal?.status == 400)
    }

    @Test func lastingConnections() {
        func keeps(_ text: String) -> Bool? { Reading(text).heads.first?.keepsAlive }
        #expect(keeps("GET / HTTP/1.1\r\nHost: h\r\n\r\n") == true)
        #expect(keeps("GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n") == false)
        #expect(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") == false)
    }

    @Test func headLimitsAreExact() {
        func head(padding: Int) -> String {
            "GET / HTTP/1.1\r\nHost: h\r\nX: " + String(repeating: "a", count: padding) + "\r\n\r\n"
        }
        let bare = head(padding: 0).utf8.count
        #expect(Reading(head(padding: 16_384 - bare)).refusal == nil)
        #expect(Reading(head(padding: 16_385 - bare)).refusal == .headersTooLarge)
        #expect(Reading(String(repeating: "G", count: 16_385)).refusal == .headersTooLarge)
        func fields(_ count: Int) -> String {
            "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: count - 1) + "\r\n"
        }
        #expect(Reading(fields(100)).refusal == nil)
        #expect(Reading(fields(101)).refusal == .headersTooLarge)
    }

    @Test func bodyLimitIsExact() {
        func sized(_ count: Int) -> String {
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "b", count: count)
        }
        func chunked(_ count: Int) -> String {
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "1\r\nb\r\n", count: count) + "0\r\n\r\n"
        }
        for text in [sized, chunked] {
            #expect(Reading(text(10), bodyLimit: 10).bodies.first?.count == 10)
            #expect(Reading(text(11), bodyLimit: 10).refusal == .bodyTooLarge(limit: 10))
        }
        let huge = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999999999\r\n\r\n"
        #expect(Reading(huge).refusal == .bodyTooLarge(limit: 65_536), "before any byte of it")
    }

    @Test("trailers and chunk extensions are bounded")
    func boundsTrailersAndChunkExtensions() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let extensions = String(repeating: "1;" + String(repeating: "e", count: 500) + "\r\nb\r\n", count: 9)
        #expect(Reading(head + extensions).refusal?.status == 400)
        #expect(Reading(head + "0\r\n" + String(repeating: "T: x\r\n", count: 99)).refusal == .headersTooLarge)
        #expect(Reading(head + "0\r\nT: " + String(repeating: "x", count: 17_000)).refusal == .headersTooLarge)
    }
}
