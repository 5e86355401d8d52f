import HTTPServer
import ServiceRuntime
import Testing

@testable import Gateway

@Suite("Client address") struct ClientAddressTests {
    private let finder = ClientAddress(
        trustedProxies: ["10.0.0.0/8", "192.0.2.7", "fd00::/8"].compactMap { Network($0) })

    private func find(_ peer: String, _ lines: String...) throws -> String {
        var headers = HTTPHeaders()
        for line in lines { headers.append("X-Forwarded-For", line) }
        return try finder.find(peer: peer, headers: headers)
    }

    @Test func aStrangerIsWhoConnects() throws {
        #expect(try find("203.0.113.9", "1.2.3.4") == "203.0.113.9")
        #expect(
            try ClientAddress(trustedProxies: []).find(peer: "10.0.0.1", headers: ["X-Forwarded-For": "1.1.1.1"])
                == "10.0.0.1")
    }

    @Test func theRightmostThatIsNoProxyCounts() throws {
        #expect(try find("10.1.1.1", "6.6.6.6, 198.51.100.4 ,10.2.2.2") == "198.51.100.4")
        #expect(try find("fd00::1", "6.6.6.6", "2001:db8::1", "192.0.2.7") == "2001:db8::1")
    }

    @Test(
        "a proxy that names nobody",
        arguments: ["", "10.0.0.2", "unknown", "1.2.3.4:80", "[::1]", "1.2.3", "a, 10.0.0.2", "1.1.1.1,,10.0.0.2 x"])
    func namesNobody(line: String) {
        #expect(throws: ClientAddress.Unknown.self) { try find("10.1.1.1", line) }
        #expect(throws: ClientAddress.Unknown.self) { try find("10.1.1.1") }
    }

    @Test func networks() throws {
        let network = try #require(Network("10.16.0.0/12"))
        #expect(network.contains(try #require(NetworkAddress("10.31.255.255"))))
        #expect(!network.contains(try #require(NetworkAddress("10.32.0.0"))))
        #expect(try #require(Network("::/0")).contains(try #require(NetworkAddress("1.2.3.4"))))
        for text in ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "x/8", "", "::1/129"] { #expect(Network(text) == nil) }
        #expect(NetworkAddress("2001:db8::1")?.household == NetworkAddress("2001:db8::ffff")?.household)
    }
}

@Suite("Rate limiter") struct RateLimiterTests {
    private let second: UInt64 = 1_000_000_000

    @Test func refillsByTheSecond() {
        var limiter = RateLimiter<Int>(perMinute: 60)
        for _ in 0..<60 { #expect(limiter.refusal(for: 1, now: 0) == nil) }
        #expect(limiter.refusal(for: 1, now: 0) == 1)
        #expect(limiter.refusal(for: 2, now: 0) == nil, "another caller has a bucket of its own")
        #expect(limiter.refusal(for: 1, now: second) == nil)
        #expect(limiter.refusal(for: 1, now: second) == 1)
    }

    @Test func saysHowLongToWait() {
        var limiter = RateLimiter<Int>(perMinute: 1)
        #expect(limiter.refusal(for: 1, now: 0) == nil)
        #expect(limiter.refusal(for: 1, now: 0) == 60)
        #expect(limiter.refusal(for: 1, now: 59 * second) == 1)
        #expect(limiter.refusal(for: 1, now: 60 * second) == nil)
    }
}
