import BusProtocol
import BusRuntime
import EventLoop
import HTTPServer
import JSONText
import TestSupport
import Testing

@testable import Gateway

@Suite("Gateway: operations") @Loop struct OperationsTests {
    private nonisolated static let key = "operators-key-operators-key-operators"
    private nonisolated static let authorization = ["Authorization": "Bearer \(key)"]

    private func withKey(_ configuration: inout GatewayConfiguration) { configuration.operators.key = Self.key }

    @Test(
        arguments: [
            // Key set, development profile, headers, peer: admitted.
            (true, false, ["authorization": "Bearer \(key)"], "192.0.2.1", true),
            (true, false, ["authorization": "Bearer \(key)x"], "127.0.0.1", false),
            (true, false, ["authorization": "Basic \(key)"], "127.0.0.1", false),
            (true, false, [:], "127.0.0.1", false), (false, false, ["authorization": "Bearer "], "127.0.0.1", false),
            (false, true, [:], "127.0.0.1", true), (true, true, [:], "::1", true),
            (false, true, [:], "192.0.2.1", false),
            (false, true, ["x-forwarded-for": "127.0.0.1"], "127.0.0.1", false),
            (false, true, ["forwarded": "for=127.0.0.1"], "127.0.0.1", false),
        ] as [(Bool, Bool, [String: String], String, Bool)])
    func admitsTheKeyOrInDevelopmentTheOwnMachine(
        hasKey: Bool, isDevelopment: Bool, given: [String: String], peer: String, expected: Bool
    ) {
        var headers = HTTPHeaders()
        for (name, value) in given { headers.set(name, value) }
        let access = OperatorAccess(key: hasKey ? Self.key : nil, isOpenToThisMachine: isDevelopment)
        #expect(access.admits(headers, peer: peer) == expected)
    }

    @Test func strangersGetNoMetricsAndTheirTriesAreLimited() async throws {
        try await onStage({ ($0.operators.key, $0.rateLimit) = (Self.key, 1) }) { stage async throws in
            for path in ["/metrics", "/ops/services"] {
                let answer = try await stage.get(path)
                #expect(answer.status == 401 && answer.json["code"] == "unauthorized")
                #expect(answer.headers["www-authenticate"] == "Bearer")
            }
            var statuses: [Int] = []
            for _ in 0..<5 {
                statuses.append(try await stage.get("/metrics", ["Authorization": "Bearer wrong"]).status)
            }
            #expect(statuses == [401, 401, 401, 429, 429])
            #expect(try await stage.get("/metrics", Self.authorization).status == 200)
        }
    }

    @Test func metricsOfBothEndsAgreeAndAreWellFormed() async throws {
        try await onStage(withKey) { stage async throws in
            let json = ["Content-Type": "application/json"]
            for _ in 0..<3 { _ = try await stage.send("POST", "/auth/otp/send", json, body: #"{"phone":"+1"}"#) }
            stage.backstage.failure = BusError(.rateLimited, "Wait.")
            _ = try await stage.send("POST", "/auth/otp/send", json, body: #"{"phone":"+1"}"#)
            _ = try await stage.send("BREW", "/nowhere")
            let answer = try await stage.get("/metrics", Self.authorization)
            #expect(answer.status == 200 && answer.headers["content-type"] == "text/plain; version=0.0.4")

            let metrics = try Metrics(answer.body)
            for (code, count) in [("ok", 3), ("rate_limited", 1)] as [(String, Double)] {
                let message = ["message": "auth.send-otp/v1", "code": code]
                let asked = message.merging(["service": "gateway", "callee": "auth"]) { $1 }
                let served = message.merging(["service": "auth", "caller": "gateway"]) { $1 }
                #expect(metrics.sum("vestibule_bus_asked_total", asked) == count)
                #expect(metrics.sum("vestibule_bus_served_total", served) == count)
            }
            #expect(metrics.sum("vestibule_bus_served_seconds_count", ["message": "auth.send-otp/v1"]) == 4)
            #expect(metrics.sum("vestibule_up", [:]) == Double(ServiceName.services.count))
            #expect(metrics.sum("vestibule_outbox_dead", ["service": "auth"]) == 3)
            #expect(metrics.sum("vestibule_sms_budget_used", ["service": "auth"]) == 0.5)
            #expect(metrics.sum("vestibule_database_waiting", [:]) == 0.5 * Double(ServiceName.services.count))
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("a_later_one"))
            let sent = ["route": "/auth/otp/send", "method": "POST"]
            #expect(metrics.sum("vestibule_http_requests_total", sent.merging(["status": "202"]) { $1 }) == 3)
            #expect(metrics.sum("vestibule_http_requests_total", ["route": "none", "method": "other"]) == 1)
            #expect(metrics.sum("vestibule_http_request_seconds_count", sent) == 4)
        }
    }

    @Test func everyReplicaIsListedAndADeadOneAsDead() async throws {
        try await onStage(withKey) { stage async throws in
            func auth() async throws -> JSONValue? {
                let answer = try await stage.get("/ops/services", Self.authorization)
                #expect(answer.status == 200)
                return answer.json["services"]?.arrayValue?.first { $0["service"] == "auth" }?["replicas"]?.arrayValue?
                    .first
            }
            let alive = try #require(try await auth())
            #expect(alive["state"] == "ready" && (alive["requests"]?.integerValue ?? 0) > 0)
            #expect(alive["errors"] == 0 && alive["p99Ms"] != nil && alive["uptimeSeconds"] != nil)
            stage.lose(.auth)
            #expect(try await eventually { try await auth()?["state"] == "dead" })
        }
    }
}

/// Reads the text format and refuses what Prometheus would: a family in pieces, a sample without a type, buckets that fall.
private struct Metrics {
    private struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    private struct Malformed: Error { let line: Substring }

    private var samples: [Sample] = []

    init(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasSuffix("\n"))
        var (closed, family, kind) = (Set<String>(), "", "")
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                #expect(closed.insert(String(words[2])).inserted, "\(words[2]) comes twice")
                (family, kind) = (String(words[2]), "")
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == family)
                kind = String(words[3])
            } else {
                guard let open = line.firstIndex(of: "{"), let close = line.lastIndex(of: "}"),
                    let value = Double(line[line.index(close, offsetBy: 2)...])
                else { throw Malformed(line: line) }
                let name = String(line[..<open])
                let suffixes = kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                #expect(suffixes.contains { name == family + $0 }, "\(name) stands under \(family)")
                let labels = try line[line.index(after: open)..<close].split(separator: "\",").map {
                    let parts = $0.split(separator: "=\"", maxSplits: 1, omittingEmptySubsequences: false)
                    guard parts.count == 2 else { throw Malformed(line: line) }
                    return (String(parts[0]), parts[1].last == "\"" ? String(parts[1].dropLast()) : String(parts[1]))
                }
                samples.append(Sample(name: name, labels: Dictionary(uniqueKeysWithValues: labels), value: value))
            }
        }
        let buckets = samples.filter { $0.name.hasSuffix("_bucket") }
        let series = Dictionary(grouping: buckets) { bucket in
            bucket.name + bucket.labels.filter { $0.key != "le" }.sorted { $0.key < $1.key }.description
        }
        #expect(!series.isEmpty)
        for buckets in series.values {
            #expect(buckets.last?.labels["le"] == "+Inf")
            let bounds = buckets.dropLast().compactMap { $0.labels["le"].flatMap { Double($0) } }
            #expect(bounds.count == buckets.count - 1 && bounds == bounds.sorted() && bounds.first == 0.0001)
            #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
        }
    }

    /// The sum of all samples that have these labels.
    func sum(_ name: String, _ labels: [String: String]) -> Double {
        samples.filter { sample in sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value } }
            .reduce(0) { $0 + $1.value }
    }
}
