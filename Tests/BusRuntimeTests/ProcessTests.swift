import BusProtocol
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import BusRuntime

/// Replicas in their own processes, which are killed, stopped, continued and replaced under load.
@Suite("Replicas as processes", .serialized) struct ProcessTests {
    @Loop private func ready(_ client: Bus) -> Int {
        client.replicas(of: .auth).count { $0.isAlive && $0.state == .ready }
    }

    @Test(.timed) func oneOfThreeIsKilledAndNoCallFails() async throws {
        try await BusLab.run { lab in
            let replicas = try (0..<3).map { _ in try lab.process() }
            let client = try lab.client()
            #expect(try await eventually { ready(client) == 3 })
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(5))
            let run = load.begin(perSecond: 2000)
            #expect(try await eventually { load.outcomes.count > 2000 })
            let killed = MonotonicClock.now()
            replicas[0].send(SIGKILL)
            #expect(try await eventually { ready(client) == 2 })
            let noticed = Duration.nanoseconds(MonotonicClock.now() - killed)
            let most = load.outcomes.count + Rounds.count(2000, prove: 58_000)
            #expect(try await eventually(within: .seconds(60)) { load.outcomes.count > most })
            try await load.finish()
            try await run.value
            print(
                "kill -9: noticed in \(noticed), \(load.outcomes.count) calls, \(load.outcomes.failed.count) failed, "
                    + "\(client.retries) retried, slowest \(load.outcomes.took(1))")
            load.outcomes.expectNoFailure()
            #expect(replicas.allSatisfy { !$0.begun.isEmpty })
        }
    }

    /// A replica is stopped until its callers give it up. When it continues, their old requests are waiting.
    @Test(.timed) func freezingOneOfThreeReplicasFailsNoCallAndRunsNoOldOne() async throws {
        try await BusLab.run { lab in
            let replicas = try (0..<3).map { _ in try lab.process() }
            let client = try lab.client()
            #expect(try await eventually { ready(client) == 3 })
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(3))
            let run = load.begin(perSecond: 1000)
            #expect(try await eventually { load.outcomes.count > 500 })

            let frozen = replicas[0]
            let stopped = MonotonicClock.now()
            try await frozen.freeze()
            #expect(try await eventually { ready(client) == 2 })
            let out = Duration.nanoseconds(MonotonicClock.now() - stopped)
            let parked = client.retries
            let count = load.outcomes.count
            #expect(try await eventually { load.outcomes.count > count + 500 })

            let thawed = MonotonicClock.now()
            frozen.send(SIGCONT)
            #expect(try await eventually { frozen.begun.contains { $0.at > thawed } })
            let back = Duration.nanoseconds(MonotonicClock.now() - thawed)
            try await load.finish()
            try await run.value

            let ended = Dictionary(uniqueKeysWithValues: load.outcomes.map { ($0.id, $0) })
            let elsewhere = Set(replicas.dropFirst().flatMap { $0.begun.map(\.id) })
            let late = frozen.begun.filter { $0.at > thawed }
            let stale = late.filter { begun in
                elsewhere.contains(begun.id) || (ended[begun.id].map { $0.ended < begun.at } ?? true)
            }
            print(
                "SIGSTOP: out in \(out), \(parked) parked, back in \(back), \(late.count) after it, \(stale.count) stale"
            )
            #expect(out < .seconds(1) && back < .seconds(2), .time)
            // More can be waiting if the machine stood still, because the other replicas then refuse what may be old.
            #expect(parked <= 64, .time("\(parked)"))
            #expect(stale.isEmpty, "\(stale.first.debugDescription)")
            load.outcomes.expectNoFailure()
        }
    }

    /// A replica that was stopped refuses all requests that waited, because their caller may be gone.
    @Test(arguments: [300, 1500]) func aThawedReplicaRunsNoRequestThatWaited(pauseMs: Int) async throws {
        try await BusLab.run { lab in
            let replica = try lab.process()
            let peer = RawPeer.caller(of: replica.endpoint)
            try await peer.greet()
            let work = Array(#"{"id":1,"burnMs":0,"waitMs":0}"#.utf8)
            peer.send(.workRequest(1), work)
            _ = try #require(try await peer.receive(.reply))
            try await replica.freeze()
            for id in 2...500 { peer.send(.workRequest(UInt64(id)), work) }
            // The pause is what this test is about.
            try await Loop.sleep(for: .milliseconds(pauseMs))
            replica.send(SIGCONT)
            let (header, body) = try #require(try await peer.receive(.reply, .error))
            #expect(header.kind == .error && String(decoding: body, as: UTF8.self).contains(#""executed":"no""#))
            // After a new HELLO, requests are executed again.
            try await peer.greet()
            peer.send(.workRequest(1000), work)
            while let (header, _) = try await peer.receive(.reply, .error), header.correlationID != 1000 {
                #expect(header.kind == .error)
            }
            #expect(replica.begun.count == 2)
        }
    }

    @Test(.timed) func scalingFromOneToFourAndBackFailsNoCall() async throws {
        try await BusLab.run { lab in
            let first = try lab.process()
            let client = try lab.client { $0.discoveryInterval = .milliseconds(500) }
            #expect(try await eventually { ready(client) == 1 })
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(3))
            let run = load.begin(perSecond: 1000)
            #expect(try await eventually { load.outcomes.count > 200 })
            let began = MonotonicClock.now()
            let more = try (0..<3).map { _ in try lab.process() }
            #expect(try await eventually { more.allSatisfy { !$0.begun.isEmpty } })
            let served = more.compactMap { $0.begun.first }.map { Duration.nanoseconds($0.at - began) }
            let all = [first] + more

            // The shares are even once the new replicas have ramped up.
            let rampUp = load.outcomes.count
            #expect(try await eventually { load.outcomes.count > rampUp + 2000 })
            let before = all.map { $0.begun.count }
            let even = load.outcomes.count
            #expect(try await eventually { load.outcomes.count > even + 2000 })
            let shares = zip(all, before).map { $0.begun.count - $1 }

            for replica in more { replica.send(SIGTERM) }
            #expect(try await eventually { more.allSatisfy { $0.exitCode == 0 } })
            #expect(try await eventually { client.replicas(of: .auth).count == 1 })
            try await load.finish()
            try await run.value
            let ratio = Double(shares.max() ?? 0) / Double(max(1, shares.min() ?? 0))
            print("1→4→1: first served after \(served), shares \(shares), \(load.outcomes.failed.count) failed")
            #expect(served.allSatisfy { $0 < .seconds(3) }, .time)
            #expect(ratio <= 1.25, .time("\(shares)"))
            load.outcomes.expectNoFailure()
        }
    }

    @Test(.timed) func eachIsRestartedInTurnAndNoCallFails() async throws {
        try await BusLab.run { lab in
            var replicas = try (0..<2).map { _ in try lab.process() }
            let client = try lab.client()
            #expect(try await eventually { ready(client) == 2 })
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(5))
            let run = load.begin(perSecond: 1000)
            var stops: [Duration] = []
            for round in 0..<Rounds.count(2, prove: 40) {
                let index = round % replicas.count
                let asked = MonotonicClock.now()
                replicas[index].send(SIGTERM)
                #expect(try await eventually { replicas[index].exitCode == 0 })
                stops.append(.nanoseconds(MonotonicClock.now() - asked))
                replicas[index] = try lab.process()
                #expect(try await eventually { ready(client) == 2 && !replicas[index].begun.isEmpty })
            }
            try await load.finish()
            try await run.value
            print(
                "rolling restart: \(load.outcomes.count) calls, \(load.outcomes.failed.count) failed, stopped in \(stops)"
            )
            load.outcomes.expectNoFailure()
        }
    }

    /// The next build knows one more version of a message, and replaces this build one replica at a time. Both versions
    /// are answered as soon as a replica knows them.
    @Test(.timed) func eachIsUpgradedInTurnAndNoCallFails() async throws {
        try await BusLab.run { lab in
            var replicas = try (0..<2).map { _ in try lab.process() }
            let client = try lab.client()
            #expect(try await eventually { ready(client) == 2 })
            let unknown = await failure { () throws(BusError) in
                try await client.call(ShiftWork(id: 1, shift: "night"), .standard)
            }
            #expect(unknown?.code == "unknown_message" && unknown?.executed == .no)
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(5))
            let run = load.begin(perSecond: 500)
            for index in replicas.indices {
                replicas[index].send(SIGTERM)
                #expect(try await eventually { replicas[index].exitCode == 0 })
                replicas[index] = try lab.process(variables: ["BUILD": "next"])
                #expect(try await eventually { ready(client) == 2 && !replicas[index].begun.isEmpty })
            }
            #expect(Set(client.replicas(of: .auth).filter(\.isAlive).map(\.build)) == ["next"])
            for id in 0..<100 { _ = try await client.call(ShiftWork(id: id, shift: "night"), .standard) }
            try await load.finish()
            try await run.value
            load.outcomes.expectNoFailure()
        }
    }

    /// Two replicas have different keys, and one key is removed from the list.
    @Test(.timed) func oneIsRevokedAndNoCallFails() async throws {
        try await BusLab.run { lab in
            let keys = try BusKeys(in: lab.directory)
            let own = try #require(try keys.publicKey(of: .auth))
            let security = try keys.security(of: .gateway)
            let other = try BusKey.newSecret()
            try keys.add(try other.publicKey(), as: .auth)
            let variables = ["BUS_ALLOWED": keys.list, "BUS_KEY": keys.secret(of: .auth)]
            let revoked = try lab.process(variables: variables)
            let kept = try lab.process(variables: variables.merging(["BUS_KEY": other.base64]) { $1 })
            let client = try lab.client { $0.security = security }
            #expect(try await eventually { ready(client) == 2 })
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(5))
            let run = load.begin(perSecond: 500)
            #expect(try await eventually { !revoked.begun.isEmpty && !kept.begun.isEmpty })
            try keys.revokeOwn(.auth)
            let asked = MonotonicClock.now()
            #expect(try await eventually { !security.allowed.keys(of: .auth).contains(own) })
            #expect(!client.replicas(of: .auth).contains { $0.endpoint == revoked.endpoint && $0.isAlive })
            let out = Duration.nanoseconds(MonotonicClock.now() - asked)
            // Earlier calls may have been on their way to the revoked replica.
            let (since, done) = (load.nextID, load.outcomes.count)
            #expect(try await eventually { load.outcomes.count > done + 500 })
            #expect(revoked.begun.allSatisfy { $0.id < since })
            try keys.allow(.auth)
            let allowed = MonotonicClock.now()
            #expect(try await eventually { ready(client) == 2 && revoked.begun.contains { $0.id >= since } })
            let back = Duration.nanoseconds(MonotonicClock.now() - allowed)
            try await load.finish()
            try await run.value
            print(
                "revoked: out in \(out), back in \(back), \(load.outcomes.count) calls, \(load.outcomes.failed.count) failed"
            )
            #expect(out < .seconds(1.5), .time("a second, and the look at the list that begins it"))
            #expect(back < .seconds(5), .time("five seconds"))
            load.outcomes.expectNoFailure()
        }
    }

    /// Ends every connection to one of three replicas and blocks new ones for a while, as in a network partition.
    @Test(.timed) func oneIsCutOffAndComesBackAndNoCallFails() async throws {
        try await BusLab.run { lab in
            let near = try (0..<2).map { _ in try lab.process() }
            let hidden = "\(lab.directory)/hidden.sock"
            let far = try lab.process(at: "ipc://\(hidden)")
            #expect(try await eventually { FileManager.default.fileExists(atPath: hidden) })
            let place = try BusConfiguration(service: .auth).endpoint(inDirectory: lab.directory)
            let link = try CutLink(at: String(place.dropFirst(6)), to: hidden)
            defer { link.cut() }
            let client = try lab.client()
            #expect(try await eventually { ready(client) == 3 })
            let load = Load(on: client, TestWork(id: 0, waitMs: 5), timeout: .seconds(5))
            let run = load.begin(perSecond: 1000)
            var back: [Duration] = []
            for _ in 0..<3 {
                #expect(try await eventually { !far.begun.isEmpty && near.allSatisfy { !$0.begun.isEmpty } })
                link.cut()
                #expect(try await eventually { ready(client) == 2 })
                let (since, done) = (load.nextID, load.outcomes.count)
                #expect(try await eventually { load.outcomes.count > done + 300 })
                try link.mend()
                let mended = MonotonicClock.now()
                #expect(try await eventually { ready(client) == 3 && far.begun.contains { $0.id >= since } })
                back.append(.nanoseconds(MonotonicClock.now() - mended))
            }
            try await load.finish()
            try await run.value
            print("cut off: back after \(back), \(load.outcomes.count) calls, \(client.retries) tried again")
            load.outcomes.expectNoFailure()
        }
    }

    /// The caller starts first, or the replica does, or a replica is replaced at the same address before the first
    /// call.
    @Test(arguments: ["caller", "replica", "twice"]) func servicesStartInAnyOrder(first: String) async throws {
        try await BusLab.run { lab in
            let endpoint = try BusConfiguration(service: .auth).endpoint(inDirectory: lab.directory)
            var replica: ReplicaProcess?
            if first != "caller" {
                replica = try lab.process(at: endpoint)
                #expect(try await eventually { FileManager.default.fileExists(atPath: String(endpoint.dropFirst(6))) })
            }
            if first == "twice" {
                replica?.send(SIGKILL)
                #expect(try await eventually { replica?.exitCode != nil })
            }
            let client = try lab.client { $0.grace = .seconds(25) }
            let call = Loop.spawn { try await client.call(TestWork(id: 1), .within(.seconds(30))) }
            if first != "replica" { replica = try lab.process(at: endpoint) }
            #expect(try await call.value.process == replica.map { Int($0.process) })
        }
    }
}

extension FrameHeader {
    fileprivate static func workRequest(_ correlationID: UInt64) -> FrameHeader {
        var header = FrameHeader(kind: .request, correlationID: correlationID)
        header.messageType = TestWork.type
        header.messageID = .ordered()
        header.budgetMs = 5000
        return header
    }
}
