import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

@Suite("what a load decides") struct LoadRuleTests {
    // MARK: Histogram

    /// For times of every magnitude, each quantile equals the sorted one, or exceeds it by less than a thousandth.
    @Test(arguments: [10, 2_047, 5_000, 1_000_000, 100_000_000_000] as [UInt64])
    func quantilesAreThoseOfSortedTimes(most: UInt64) {
        for count in [1, 2, 10, 999, 20_000] {
            var histogram = LatencyHistogram()
            // Cubed, so that small times are frequent.
            let times = (0..<count).map { _ in UInt64(pow(Double.random(in: 0...1), 3) * Double(most)) }
            for time in times { histogram.note(microseconds: time) }
            let sorted = times.sorted()
            for share in [0, 0.001, 0.5, 0.9, 0.99, 0.999, 1] {
                let exact = sorted[max(1, Int((share * Double(count)).rounded(.up))) - 1]
                let found = histogram.quantile(share)
                #expect(found >= exact && Double(found) <= Double(exact) * 1.001, "\(share) of \(count) up to \(most)")
            }
            #expect(histogram.count == count && histogram.greatest == sorted.last)
        }
    }

    @Test func aBucketEndsWhereTheNextBegins() {
        for power in 1..<40 {
            for time in [(1 << power) - 1, 1 << power, (1 << power) + 1] as [UInt64] {
                var histogram = LatencyHistogram()
                histogram.note(microseconds: time)
                // A greater time does not bound the bucket's.
                histogram.note(microseconds: 1 << 41)
                let found = histogram.quantile(0.5)
                #expect(found >= time && Double(found) <= Double(time) * 1.001)
            }
        }
    }

    @Test func withoutTimesEveryQuantileIsZero() {
        #expect(LatencyHistogram().quantile(0.5) == 0 && LatencyHistogram().greatest == 0)
    }

    // MARK: Plan

    private func plan(
        _ scenario: String? = "read", rate: String? = "100", time: String? = "10s", connections: String? = nil
    ) throws -> LoadPlan {
        try LoadPlan(scenario: scenario, rate: rate, time: time, connections: connections)
    }

    @Test(arguments: [("10", 10), ("10s", 10), ("2m", 120), ("1s", 1), ("10m", 600)])
    func aTimeHasSecondsOrMinutes(text: String, seconds: Int) throws {
        #expect(try plan(time: text).seconds == seconds)
    }

    @Test(
        arguments: [
            ("write", "100", "10s", nil), (nil, "100", "10s", nil), ("read", nil, "10s", nil),
            ("read", "0", "10s", nil),
            ("read", "-1", "10s", nil), ("read", "nan", "10s", nil), ("read", "50001", "10s", nil),
            ("read", "fast", "10s", nil),
            ("read", "100", nil, nil), ("read", "100", "0", nil), ("read", "100", "11m", nil),
            ("read", "100", "1h", nil),
            ("read", "100", "9223372036854775807m", nil), ("read", "100", "", nil), ("read", "100", "10s", "0"),
            ("read", "100", "10s", "4097"), ("read", "100", "10s", "many"),
        ] as [(String?, String?, String?, String?)])
    func anOptionOutOfBoundsIsRefused(scenario: String?, rate: String?, time: String?, connections: String?) {
        let error = #expect(throws: CommandError.self) {
            try plan(scenario, rate: rate, time: time, connections: connections)
        }
        #expect(error?.code == 64)
    }

    @Test(arguments: [("0.1", "10s", 1), ("0.1", "1s", 1), ("3", "7s", 21), ("50000", "10m", 30_000_000)])
    func startsAreEvenlySpread(rate: String, time: String, count: Int) throws {
        let plan = try plan(rate: rate, time: time)
        #expect(plan.count == count && plan.start(of: 0) == 0)
        #expect(Double(plan.start(of: count - 1)) < Double(plan.seconds) * 1e9)
        for index in stride(from: 0, to: count, by: max(1, count / 1_000)) {
            let exact = Double(index) / plan.rate * 1e9
            #expect(abs(Double(plan.start(of: index)) - exact) <= 1_000)
        }
    }

    @Test func ofAHundredMixedActionsEachKindHasItsShare() {
        for first in [0, 17, 4_200] {
            let actions = (first..<(first + 100)).map { LoadScenario.mixed.action(at: $0) }
            let counts = Dictionary(grouping: actions) { $0 }.mapValues(\.count)
            #expect(counts == [.read: 80, .autosave: 15, .login: 4, .onboarding: 1])
        }
        for action in LoadAction.allCases {
            #expect(LoadScenario(rawValue: action.rawValue)?.action(at: 7) == action)
        }
    }

    // MARK: Verdict

    private static func times(_ pairs: [(count: Int, microseconds: UInt64)]) -> LatencyHistogram {
        var times = LatencyHistogram()
        for (count, microseconds) in pairs { for _ in 0..<count { times.note(microseconds: microseconds) } }
        return times
    }

    private static func flaws(
        lag: [(Int, UInt64)] = [(1_000, 50)], times: [(Int, UInt64)] = [(1_000, 2_000)], waits: Int = 0,
        calls: Int = 1_000, busy: Double = 0.5
    ) -> [GeneratorLimit] {
        LoadVerdict.flaws(lag: Self.times(lag), times: Self.times(times), waits: waits, calls: calls, busy: busy)
    }

    @Test func aRunIsValidIfTheGeneratorAddedLittleTime() {
        #expect(Self.flaws() == [])
        // A lag below a millisecond is no flaw, even of a quick answer.
        #expect(Self.flaws(lag: [(1_000, 1_000)], times: [(1_000, 1_200)]) == [])
        // A quarter of the measured time is the most.
        #expect(Self.flaws(lag: [(1_000, 5_000)], times: [(1_000, 20_000)]) == [])
        // The server was paused, and the generator was not.
        #expect(Self.flaws(times: [(500, 2_000), (500, 1_000_000)]) == [])
        #expect(Self.flaws(waits: 1) == [])
        #expect(Self.flaws(busy: 0.9) == [])
    }

    @Test func aRunIsInvalidIfTheGeneratorWasTheLimit() {
        #expect(
            Self.flaws(lag: [(1_000, 5_001)], times: [(1_000, 20_000)])
                == [.late(share: 0.5, lag: 5_001, measured: 20_000)]
        )
        // The generator was paused: both have the same tail.
        #expect(
            Self.flaws(lag: [(980, 50), (20, 1_000_000)], times: [(980, 2_000), (20, 1_002_000)])
                == [.late(share: 0.99, lag: 1_000_000, measured: 1_002_000)])
        #expect(Self.flaws(waits: 2) == [.noConnection(calls: 2)])
        #expect(Self.flaws(busy: 0.91) == [.busy(0.91)])
        let all = Self.flaws(lag: [(1_000, 9_000)], times: [(1_000, 9_000)], waits: 10, busy: 1)
        #expect(all.count == 3 && all.allSatisfy { !$0.sentence.isEmpty })
    }

    // MARK: Calls

    @Test func aCallIsNamedByTheTemplateOfItsPath() {
        let id = UUID().uuidString
        #expect(LoadCall.name("GET", "/users/me") == "GET /users/me")
        #expect(
            LoadCall.name("POST", "/verification/session/\(id)/capture") == "POST /verification/session/{id}/capture")
        #expect(
            LoadCall.name("PUT", "/questionnaires/yoked-compat/sessions/\(id.lowercased())/answers/pace")
                == "PUT /questionnaires/yoked-compat/sessions/{id}/answers/{id}")
    }

    @Test func aFailureIsNamedByItsCode() {
        func code(_ status: Int, _ body: String) -> String? {
            LoadCall.code(of: HTTPAnswer(status: status, headers: [:], bytes: Array(body.utf8)))
        }
        #expect(code(200, "") == nil && code(204, "") == nil)
        #expect(code(429, #"{"code":"rate_limited"}"#) == "rate_limited")
        #expect(code(502, "<html>") == "http_502")
    }

    @Test func aHeadIsReadOnceItIsWhole() throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nETag:  \"a\" \r\nContent-Length: 7\r\n\r\n{\"a\":1}".utf8)
        let whole = bytes.count - 7
        for count in 0..<whole { #expect(try HTTPAnswerHead(Array(bytes[..<count])) == nil) }
        for count in whole...bytes.count {
            let head = try #require(try HTTPAnswerHead(Array(bytes[..<count])))
            #expect(head.status == 200 && head.length == whole && head.bodyLength == 7)
            #expect(head.headers["etag"] == "\"a\"")
        }
    }

    // MARK: Report

    @Test func aReportHasEachKindOfCallAndEachError() throws {
        var (read, login) = (LoadTally(), LoadTally())
        for _ in 0..<98 { read.note(microseconds: 1_500, error: nil) }
        for _ in 0..<2 { read.note(microseconds: 10_000_000, error: "no_answer_in_time") }
        login.note(microseconds: 300, error: "rate_limited")
        let report = LoadReport(
            plan: try plan("mixed", rate: "10"), span: .init(seconds: 10, busy: 0.125), actions: read,
            calls: ["GET /users/me": read, "POST /auth/otp/send": login], lag: LatencyHistogram(), waits: 0,
            connections: 7)
        #expect(report.achieved == 9.8)
        let lines = report.text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "mixed: 10.0 actions a second intended for 10 s, 9.8 succeeded")
        let row = try #require(lines.first { $0.hasPrefix("GET /users/me") })
        #expect(
            row.split(separator: " ").joined(separator: " ")
                == "GET /users/me 100 10.0 1.50 ms 1.50 ms 10.00 s 10.00 s 10.00 s 2")
        #expect(lines.contains("GET /users/me: 2 no_answer_in_time"))
        #expect(lines.contains("POST /auth/otp/send: 1 rate_limited"))
        #expect(report.text.contains("start it with the variables"))
        let json = report.json
        #expect(json["valid"] == true && json["achievedRate"] == 9.8 && json["generator"]?["connections"] == 7)
        #expect(json["calls"]?["GET /users/me"]?["times"]?["p99.9"] == 10_000_000)
        #expect(json["calls"]?["POST /auth/otp/send"]?["errors"] == ["rate_limited": 1])
    }
}
