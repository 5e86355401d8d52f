import BusProtocol
import BusRuntime
import Foundation
import Testing

@testable import VestibuleCLI

@Suite("vestibule top") struct TopTests {
    private static let (first, second) = (Identifier.ordered(), Identifier.ordered())
    private static let began = Date(timeIntervalSince1970: 1_800_000_000)

    /// A replica of auth that answered so many requests in 2 ms each, and failed at so many more.
    private func look(
        _ instance: Identifier, after seconds: Double, ok: Int, failed: Int, gauges: [String: Double] = [:],
        message: String = "auth.send-otp/v1"
    ) throws -> ServiceLoad.Look {
        var took = Histogram()
        for _ in 0..<(ok + failed) { took.note(nanoseconds: 2_000_000) }
        let histogram = String(decoding: try JSONEncoder().encode(took), as: UTF8.self)
        let none = String(decoding: try JSONEncoder().encode(Histogram()), as: UTF8.self)
        let traffic = """
            {"message":"\(message)","partner":"gateway","inFlight":1,"ended":{"ok":\(ok),"rate_limited":\(failed)},
             "took":\(histogram),"waited":\(none),"retries":0,"shed":0}
            """
        var report = BusReport()
        report.uptimeMs = Int64(seconds * 1000)
        report.served = [try JSONDecoder().decode(Traffic.self, from: Data(traffic.utf8))]
        report.gauges = gauges
        return ServiceLoad.Look(
            service: .auth, instance: instance, isReady: true, at: Self.began.addingTimeInterval(seconds),
            report: report)
    }

    @Test func ratesCoverTheTimeBetweenTwoLooks() throws {
        let before = [try look(Self.first, after: 10, ok: 100, failed: 10)]
        let gauges = ["database_connections": 16.0, "outbox_due": 7, "outbox_dead": 2, "outbox_oldest_seconds": 0.5]
        let after = [
            try look(Self.first, after: 12, ok: 140, failed: 20, gauges: gauges),
            // New since the first look: all that it did is of its two seconds.
            try look(Self.second, after: 2, ok: 20, failed: 0, gauges: gauges),
        ]
        let load = try #require(ServiceLoad.between(before, after).first)
        #expect(load.replicas == 2 && load.ready == 2 && load.inFlight == 2)
        #expect(load.requests == 35 && load.errors == 5)
        #expect(load.took.count == 70)
        #expect(load.gauges["database_connections"] == 32)
        #expect(load.gauges["outbox_due"] == 7 && load.gauges["outbox_dead"] == 2)
        let lines = TopCommand.table([load]).split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 2)
        #expect(lines[1].starts(with: ["auth", "2", "of", "2", "35", "5"]))
    }

    /// How long it takes says nothing of how fast the service is.
    @Test func aLongPollIsNotShown() throws {
        let look = try look(Self.first, after: 2, ok: 40, failed: 0, message: "auth.follow-revocations/v1")
        let load = try #require(ServiceLoad.between([], [look]).first)
        #expect(load.ready == 1 && load.requests == 0 && load.inFlight == 0 && load.took.count == 0)
    }

    @Test func aSilentReplicaIsCountedWithoutLoad() throws {
        let dead = ServiceLoad.Look(service: .profile, instance: nil, isReady: false, at: Self.began, report: nil)
        let load = try #require(ServiceLoad.between([], [dead]).first)
        #expect(load.replicas == 1 && load.ready == 0 && load.requests == 0)
        #expect(TopCommand.table([load]).contains("0 of 1"))
    }
}
