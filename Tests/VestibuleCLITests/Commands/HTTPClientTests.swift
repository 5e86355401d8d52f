import Foundation
import Testing

@testable import VestibuleCLI

@Suite struct HTTPClientTests {
    private static func exchange(_ answer: String) throws -> (HTTPAnswer, String) {
        let server = try RawServer(answer: answer)
        server.serveOnce()
        let answer = try HTTPClient("127.0.0.1:\(server.port)").send(
            "POST", "/a", body: ["x": 1], headers: ["Idempotency-Key": "k"])
        return (answer, server.request)
    }

    @Test func aRequestIsWholeAndItsAnswerIsRead() throws {
        let (answer, request) = try Self.exchange(
            "HTTP/1.1 422 Unprocessable Content\r\nRetry-After:  7 \r\nContent-Length: 12\r\n\r\n{\"code\":\"c\"}")
        #expect(answer.status == 422)
        #expect(answer.headers["retry-after"] == "7")
        #expect(answer.body["code"] == "c")
        #expect(request.hasPrefix("POST /a HTTP/1.1\r\n"))
        #expect(request.contains("\r\nContent-Length: 7\r\n") && request.contains("\r\nIdempotency-Key: k\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"x\":1}"))
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\n", "nonsense\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "HTTP/1.1 200 OK\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ])
    func anAnswerThatIsCutShortOrAmbiguousIsRefused(_ answer: String) {
        let error = #expect(throws: CommandError.self) { try Self.exchange(answer) }
        #expect(error?.code == 69)
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", ":80", "1.2.3.4:5:6", ""])
    func anAddressHasAHostAndAPort(_ address: String) {
        let error = #expect(throws: CommandError.self) { try HTTPClient(address) }
        #expect(error?.code == 64)
    }

    @Test func aNameIsLookedUpForEachConnection() throws {
        let server = try RawServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
        server.serveOnce()
        #expect(try HTTPClient("http://localhost:\(server.port)").send("GET", "/").status == 204)
        let error = #expect(throws: CommandError.self) { try HTTPClient("nobody.invalid:80").send("GET", "/") }
        #expect(error?.code == 69)
    }
}
