import Foundation
import ProviderHTTP
import Testing

@testable import AuthService

@Suite("when a push is tried again") struct PushPolicyTests {
    @Test func pausesGrowToAnHourAndAreNeverShorterThanAskedFor() {
        for (attempt, seconds) in [(1, 1), (2, 3), (5, 81), (8, 2187), (9, 3600), (60, 3600)] as [(Int, Int64)] {
            let pause = PushPolicy.pause(afterAttempt: attempt, retryAfter: nil)
            #expect(pause >= .milliseconds(seconds * 800) && pause <= .milliseconds(seconds * 1200))
        }
        #expect(PushPolicy.pause(afterAttempt: 1, retryAfter: .seconds(90)) == .seconds(90))
        #expect(PushPolicy.pause(afterAttempt: 9, retryAfter: .seconds(90)) >= .seconds(2880))
        #expect(PushPolicy.pause(afterAttempt: 1, retryAfter: .seconds(1_000_000)) == .seconds(6 * 3600))
    }

    @Test(
        "Retry-After",
        arguments: [
            ("0", 0), ("120", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 60), ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
            ("-1", nil), ("soon", nil), ("", nil), ("99999999999999999", 31_536_000),
        ] as [(String, Int?)])
    func retryAfter(header: String, seconds: Int?) {
        let now = Date(timeIntervalSince1970: 784_111_717)
        #expect(RetryAfter.duration(header, now: now) == seconds.map { .seconds($0) })
    }
}
