import HTTPServer
import ProcessRuntime
import TestSupport
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

    @Test func withoutATrustedProxyTheCallerIsThePeer() throws {
        #expect(try find("203.0.113.9", "1.2.3.4") == "203.0.113.9")
        #expect(
            try ClientAddress(trustedProxies: []).find(peer: "10.0.0.1", headers: ["X-Forwarded-For": "1.1.1.1"])
                == "10.0.0.1")
    }

    @Test func theRightmostAddressThatIsNoProxyCounts() throws {
        #expect(try find("10.1.1.1", "6.6.6.6, 198.51.100.4 ,10.2.2.2") == "198.51.100.4")
        #expect(try find("fd00::1", "6.6.6.6", "2001:db8::1", "192.0.2.7") == "2001:db8::1")
    }

    @Test(
        "a proxy that names no client is refused",
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
    }

    @Test func anIPv6AddressCountsForItsHouseholdAndItsSite() throws {
        func sharers(_ text: String) throws -> [NetworkAddress.Sharer] { try #require(NetworkAddress(text)).sharers }
        let (first, second) = (try sharers("2001:db8:0:1::1"), try sharers("2001:db8:0:2::1"))
        #expect(try sharers("2001:db8:0:1::ffff") == first)
        #expect(first[0] != second[0] && first[1] == second[1])
        #expect(first.map(\.shares) == [1, 8])
        #expect(try sharers("2001:db8:1::1")[1] != first[1])
        #expect(try sharers("192.0.2.1").map(\.shares) == [1])
        #expect(try sharers("192.0.2.1") != sharers("192.0.2.2"))
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

    @Test func aRefusalNamesTheSecondsToWait() {
        var limiter = RateLimiter<Int>(perMinute: 1)
        #expect(limiter.refusal(for: 1, now: 0) == nil)
        #expect(limiter.refusal(for: 1, now: 0) == 60)
        #expect(limiter.refusal(for: 1, now: 59 * second) == 1)
        #expect(limiter.refusal(for: 1, now: 60 * second) == nil)
    }

    @Test func aSharerOfManyHasManyTimesTheLimit() {
        var limiter = RateLimiter<Int>(perMinute: 2)
        for _ in 0..<6 { #expect(limiter.refusal(for: 1, shares: 3, now: 0) == nil) }
        #expect(limiter.refusal(for: 1, shares: 3, now: 0) == 10)
    }

    @Test("a caller over its limit stays refused among many strangers")
    func theLimiterKeepsCallersOverTheirLimit() {
        var limiter = RateLimiter<Int>(perMinute: 60, mostCallers: 100)
        for _ in 0..<60 { _ = limiter.refusal(for: -1, now: 0) }
        for _ in 0..<30 { _ = limiter.refusal(for: -2, now: 0) }
        for stranger in 0..<10_000 {
            #expect(limiter.refusal(for: stranger, now: 0) == nil)
            if stranger % 100 == 0 { #expect(limiter.refusal(for: -1, now: 0) == 1) }
        }
        for _ in 0..<30 { #expect(limiter.refusal(for: -2, now: 0) == nil) }
        #expect(limiter.refusal(for: -2, now: 0) == 1)
    }

    @Test("the limiter forgets callers as a plain search would")
    func forgetsInOrder() {
        var generator = SystemRandomNumberGenerator()
        var limiter = RateLimiter<Int>(perMinute: 600, mostCallers: 50)
        var (fullAt, now): ([Int: UInt64], UInt64) = ([:], 0)
        for _ in 0..<20_000 {
            now += UInt64.random(in: 0..<second / 10, using: &generator)
            let caller = Int.random(in: 0..<80, using: &generator)
            let mustPass = max(fullAt[caller] ?? 0, now) + second / 10 <= now + 60 * second
            if mustPass {
                if fullAt[caller] == nil, fullAt.count == 50, let least = fullAt.values.min() {
                    // If several callers are full again first, any of them may be forgotten. So that case is skipped.
                    guard fullAt.values.count(where: { $0 == least }) == 1 else { continue }
                    fullAt = fullAt.filter { $0.value != least }
                }
                fullAt[caller] = max(fullAt[caller] ?? 0, now) + second / 10
            }
            #expect((limiter.refusal(for: caller, now: now) == nil) == mustPass)
        }
    }

    @Test(.timed) func aRequestCostsTheSameHoweverManyCallersThereAre() {
        var limiter = RateLimiter<Int>(perMinute: 600, mostCallers: 20_000)
        let clock = ContinuousClock()
        for caller in 0..<20_000 { _ = limiter.refusal(for: caller, now: 0) }
        let took = clock.measure { for caller in 20_000..<21_000 { _ = limiter.refusal(for: caller, now: 1) } }
        // A look at 20,000 callers for each request takes seconds.
        #expect(took < .milliseconds(200), .time)
    }
}
