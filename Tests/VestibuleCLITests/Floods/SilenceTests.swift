import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// Who asks for a code learns nothing of whether the phone has an account: neither from the answer nor from its time.
@Suite struct SilenceTests {
    /// Phones of either kind; each is asked for in each round.
    private static let phones = Rounds.count(25, prove: 100)
    private static let rounds = Rounds.count(2, prove: 20)
    /// Seconds between the medians, as the product promises.
    private static let bound = 0.002

    @Test(.timed) func aPhoneWithAnAccountIsAnsweredAsOneWithout() throws {
        let system = try RunningSystem(
            scale: "auth=1",
            variables: [
                "GATEWAY_RATE_LIMIT": "off", "AUTH_OTP_PREFIX_BREAKER": "off", "AUTH_OTP_PER_ADDRESS_HOUR": "100000",
                "AUTH_SMS_PER_HOUR": "off", "AUTH_SMS_PER_HOUR_COUNTRY": "off",
            ])
        defer { system.stop() }
        let client = try HTTPClient(system.address)
        let known = (0..<Self.phones).map { "+1415555\(2000 + $0)" }
        let unknown = (0..<Self.phones).map { "+1415555\(4000 + $0)" }
        for phone in known { try system.signIn(phone, client) }

        var seconds: (known: [Double], unknown: [Double]) = ([], [])
        for round in 0..<Self.rounds {
            try system.sql("UPDATE auth.challenges SET created_at = created_at - interval '2 days'")
            for (index, pair) in zip(known, unknown).enumerated() {
                // Either kind comes first as often as the other.
                let knownFirst = (index + round) % 2 == 0
                let first = try timed(client, knownFirst ? pair.0 : pair.1)
                let second = try timed(client, knownFirst ? pair.1 : pair.0)
                try #require(first.seen == second.seen && first.seen.status == 202)
                seconds.known.append(knownFirst ? first.seconds : second.seconds)
                seconds.unknown.append(knownFirst ? second.seconds : first.seconds)
            }
        }
        let difference = abs(median(seconds.known) - median(seconds.unknown))
        #expect(
            difference < Self.bound,
            .time("\(median(seconds.known)) s with an account, \(median(seconds.unknown)) s without"))

        // Refused alike too: a minute has not passed.
        let refused = try [known[0], unknown[0]].map { try timed(client, $0).seen }
        #expect(refused[0].status == 429 && refused[0] == refused[1])
    }

    /// What an answer shows but for what differs from call to call by its nature.
    private struct Seen: Equatable {
        let status: Int
        let headers: [String: String]
        let members: [String]
        /// Bytes.
        let size: Int

        init(_ answer: HTTPAnswer) {
            status = answer.status
            headers = answer.headers.merging(["trace-id": "", "date": "", "retry-after": ""]) { $1 }
            members = (answer.body.objectValue ?? [:]).keys.sorted()
            size = CanonicalJSON.bytes(of: answer.body).count
        }
    }

    private func timed(_ client: HTTPClient, _ phone: String) throws -> (seen: Seen, seconds: Double) {
        let began = ContinuousClock.now
        let answer = try client.send("POST", "/auth/otp/send", body: ["phone": .string(phone)])
        return (Seen(answer), (ContinuousClock.now - began) / .seconds(1))
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
