import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// Auth does each act once although its processes are killed: real processes on a real PostgreSQL.
@Suite("effect once, process by process", .serialized) struct EffectOnceTests {
    @Test func anotherReplicaAnswersForOneKilledAfterItsCommit() async throws {
        try await Fleet.run { fleet in
            let link = try LossyLink(to: fleet.cluster.folder)
            defer { link.close() }
            let victim = try fleet.start(.auth, through: link.folder)
            try await fleet.ready(.auth, 1)
            try await fleet.wait(until: "SELECT count(*) > 0 FROM auth.signing_keys", is: "t")
            link.holdCommits()
            let call = Loop.spawn {
                try await Self.send("+14155552671", key: "key-of-one-request", fleet.gateway, fleet)
            }
            // The transaction is committed, but its replica does not know: since before the call, no reply to a commit
            // has reached it.
            try await fleet.wait(until: "SELECT count(reply) FROM auth.inbox", is: "1")
            try fleet.start(.auth)
            try await fleet.ready(.auth, 2)
            fleet.kill(victim)

            let reply = try await call.value
            #expect(reply.isReplay)
            let sent = try WireJSON.decode(OTPSent.self, from: reply.body)
            #expect(try await fleet.sql("SELECT id FROM auth.challenges") == sent.challengeId.description)
            let error = await #expect(throws: BusError.self) {
                try await Self.send("+14155552672", key: "key-of-one-request", fleet.gateway, fleet)
            }
            #expect(error?.code == "idempotency_key_reused" && error?.executed == .no)
            #expect(try await fleet.sql("SELECT count(*) FROM auth.challenges") == "1")
        }
    }

    @Test func oneMessageAtThreeReplicasHasOneEffectAndReply() async throws {
        try await Fleet.run { fleet in
            for _ in 0..<3 { try fleet.start(.auth) }
            try await fleet.ready(.auth, 3)
            let replicas = try await fleet.eachReplica(of: .auth)
            for round in 0..<5 {
                let (phone, message) = ("+1415555267\(round)", Identifier.ordered())
                let copies = (0..<100).map { number in
                    Loop.spawn {
                        try await Self.insist {
                            try await Self.send(
                                phone, key: "key-of-round-\(round)", replicas[number % 3], fleet, message: message)
                        }
                    }
                }
                var replies: [RawReply] = []
                for copy in copies { replies.append(try await copy.value) }
                #expect(Set(replies.map(\.body)).count == 1)
                #expect(replies.count { !$0.isReplay } == 1)
            }
            for replica in replicas {
                let error = await #expect(throws: BusError.self) {
                    try await Self.send("+14155552680", key: "key-of-round-0", replica, fleet)
                }
                #expect(error?.code == "idempotency_key_reused")
            }
            try await fleet.wait(until: "SELECT count(*) FROM auth.outbox", is: "0")
            #expect(try await fleet.sql("SELECT count(*), count(DISTINCT phone_hash) FROM auth.challenges") == "5|5")
            #expect(fleet.sms().count == 5)
        }
    }

    @Test func signInsSurviveRestartsOfPostgreSQL() async throws {
        try await Fleet.run(server: "stream") { fleet in
            let link = try LossyLink(to: fleet.cluster.folder)
            defer { link.close() }
            try fleet.start(.auth, through: link.folder)
            try fleet.start(.auth)
            for _ in 0..<2 { try fleet.start(.profile) }
            for service: ServiceName in [.auth, .profile] { try await fleet.ready(service, 2) }
            let people = People(fleet)
            let work = (0..<6).map { caller in Loop.spawn { try await people.run(caller) } }
            for mode in ["fast", "immediate", "immediate"] {
                let known = people.sessions.count
                try #require(try await eventually(within: .seconds(60)) { people.sessions.count > known + 20 })
                // Something that was done is not known to be so when the server goes.
                link.holdCommits()
                try #require(try await eventually { link.heldCommits > 0 })
                try await Loop.offload { try fleet.cluster.restart(mode) }
                link.loseHeldCommits()
                try await fleet.endLeases()
            }
            let known = people.sessions.count
            try #require(try await eventually(within: .seconds(60)) { people.sessions.count > known + 20 })
            people.isStopped = true
            for caller in work { try await caller.value }
            try await fleet.endLeases()
            try await fleet.wait(until: "SELECT count(*) FROM auth.outbox", is: "0")

            try await Self.expectOneOfEach(people, fleet)
        }
    }

    @Test func signInsAndRecoveriesSurviveKillsOfEveryService() async throws {
        try await Fleet.run { fleet in
            let services: [ServiceName] = [.auth, .profile, .recovery]
            var running: [ServiceName: [pid_t]] = [:]
            for service in services { running[service] = try (0..<2).map { _ in try fleet.start(service) } }
            for service in services { try await fleet.ready(service, 2) }
            let people = People(fleet, areRobbed: true)
            let work = (0..<6).map { caller in Loop.spawn { try await people.run(caller) } }
            let kills = Rounds.count(15, prove: 200)
            for round in 0..<kills {
                let known = people.cases.count
                try #require(try await eventually(within: .seconds(60)) { people.cases.count > known + 2 })
                let (service, victim) = (services[round % services.count], Int.random(in: 0..<2))
                fleet.kill(try #require(running[service]?[victim]))
                running[service]?[victim] = try fleet.start(service)
                try await fleet.endLeases()
            }
            people.isStopped = true
            for caller in work { try await caller.value }
            for service in services {
                try await fleet.endLeases()
                try await fleet.wait(
                    until: "SELECT count(*) FROM \(service).outbox WHERE destination <> 'timer:neglected'", is: "0")
            }
            try await Self.expectOneOfEach(people, fleet)
            // Each hold has ended, once.
            #expect(try await fleet.ids("SELECT id FROM recovery.cases") == Set(people.cases))
            #expect(
                try await fleet.sql("SELECT count(*) FROM recovery.audit WHERE act = 'hold_ended'")
                    == "\(people.cases.count)")
            #expect(try await fleet.sql("SELECT DISTINCT status FROM recovery.cases") == "identity_required")
            print("\(kills) kills: \(people.sessions.count) sessions, \(people.cases.count) cases")
        }
    }

    @Test func killedRelaysKeepTheOrderOfEachPersonsEvents() async throws {
        try await Fleet.run { fleet in
            let listener = Listener()
            try fleet.answer(as: .profile, listener)
            var relays = try (0..<3).map { _ in try fleet.start(.auth) }
            try await fleet.ready(.auth, 3)
            let people = (0..<5).map { _ in Identifier.random() }
            for victims in 1...3 {
                listener.holdsBack = true
                try await fleet.publishEvents(about: (0..<20).flatMap { _ in people })
                // The head of each queue is delivered, and nobody knows.
                try #require(try await eventually { listener.inHand == people.count })
                for relay in relays.prefix(victims) { fleet.kill(relay) }
                relays = Array(relays.dropFirst(victims)) + (try (0..<victims).map { _ in try fleet.start(.auth) })
                listener.release()
                try await fleet.ready(.auth, 3)
                try await fleet.endLeases()
                try await fleet.wait(until: "SELECT count(*) FROM auth.outbox", is: "0")
            }
            let first = try await Self.firstNumber(fleet)
            for person in people {
                #expect(listener.heard[person]?.inOrder == Array(first..<first + 60))
            }
        }
    }

    @Test func aServiceWithAnotherSystemsKeysEndsWithAnError() async throws {
        try await Fleet.run { fleet in
            let first = try fleet.start(.auth)
            try await fleet.ready(.auth, 1)
            fleet.kill(first)
            let (keys, log) = (fleet.installation.state.keyRing("auth"), fleet.installation.state.log("auth"))
            try FileManager.default.removeItem(atPath: keys)
            try KeyRing.generate(id: "k1").write(toFile: keys, atomically: true, encoding: .utf8)
            let second = try fleet.start(.auth)
            #expect(try await fleet.end(of: second) == 78)
            let last = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").last
            #expect(last?.hasPrefix("auth: AUTH_KEYS and the data of auth do not belong together") == true)
        }
    }

    @Test func anEventRefusedTenTimesWaitsForAnOperator() async throws {
        try await Fleet.run { fleet in
            let listener = Listener()
            let (person, other) = (Identifier.random(), Identifier.random())
            listener.refused = person
            try fleet.answer(as: .profile, listener)
            for _ in 0..<2 { try fleet.start(.auth) }
            try await fleet.ready(.auth, 2)
            try await fleet.publishEvents(about: [person, other, person, other, person])
            let isGivenUp = try await eventually(within: .seconds(60)) {
                // The pauses between attempts are over at once.
                try await fleet.sql("UPDATE auth.outbox SET due_at = clock_timestamp() WHERE locked_until IS NULL")
                return try await fleet.sql("SELECT count(*) FROM auth.outbox WHERE dead_at IS NOT NULL") == "1"
            }
            try #require(isGivenUp)
            #expect(listener.refusals == 10)
            try await fleet.publishEvents(about: [other])
            try await fleet.wait(until: "SELECT count(*) FROM auth.outbox", is: "3")
            let first = try await Self.firstNumber(fleet)
            let three = Heard(sequences: Array(first..<first + 3))
            #expect(listener.heard == [other: three])

            // As in auth's container: the environment says where its tables are.
            let variables = ["AUTH_DATABASE_URL": fleet.url("scratch_runtime")]
            let installation = fleet.installation
            @Sendable func vestibule(_ words: String...) async throws -> (code: Int32, output: String) {
                try await Loop.offload { try installation.run(["dead-letters"] + words, variables: variables) }
            }
            let id = try await fleet.sql("SELECT id FROM auth.outbox WHERE dead_at IS NOT NULL")
            let list = try await vestibule("list")
            #expect(list.code == 0 && list.output.split(separator: "\n").count == 2)
            #expect(list.output.contains(id) && list.output.contains("internal_error"))
            let wrong = try await vestibule("replay", Identifier.random().description)
            #expect(wrong.code == 1 && wrong.output.hasPrefix("vestibule: no dead letter has the id"))
            #expect(listener.refusals == 10)

            listener.refused = nil
            let replay = try await vestibule("replay", id)
            #expect(replay.code == 0 && replay.output.contains("1 put back"))
            try await fleet.wait(until: "SELECT count(*) FROM auth.outbox", is: "0")
            #expect(listener.heard[person] == three)
            let again = try await vestibule("replay", id)
            #expect(again.code == 1 && again.output.contains(id))
            let none = try await vestibule("replay", "--all")
            #expect(none.code == 0 && none.output == "There are no dead letters.\n")
            #expect(listener.heard[person] == three)
        }
    }

    /// The number with which auth's events about each person begin.
    @Loop private static func firstNumber(_ fleet: Fleet) async throws -> Int64 {
        try #require(Int64(try await fleet.sql("SELECT first FROM auth.event_runs")))
    }

    /// Every session that was given stands, and nobody has two of anything.
    @Loop private static func expectOneOfEach(_ people: People, _ fleet: Fleet) async throws {
        let (signedIn, claims) = (people.sessions.count, people.cases.count)
        #expect(try await fleet.ids("SELECT id FROM auth.sessions") == Set(people.sessions.map(\.sessionId)))
        #expect(try await fleet.ids("SELECT id FROM auth.accounts") == Set(people.sessions.map(\.user.id)))
        #expect(try await fleet.sql("SELECT count(*) FROM auth.challenges") == "\(signedIn + claims)")
        // Every committed event was accepted once: its position is the first and the last of its person.
        #expect(try await fleet.ids("SELECT person_id FROM profile.profiles") == Set(people.sessions.map(\.user.id)))
        #expect(
            try await fleet.sql(
                """
                SELECT count(*), bool_and(last IN (SELECT first FROM auth.event_runs)) FROM profile.event_positions
                """) == "\(signedIn)|t")
    }

    // MARK: Asking

    @Loop private static func send(
        _ phone: String, key: String, _ bus: Bus, _ fleet: Fleet, message: Identifier = .ordered()
    ) async throws -> RawReply {
        var options = fleet.options(key: key)
        options.messageID = message
        return try await bus.callRaw(
            type: SendOTP.type, version: SendOTP.version, rules: SendOTP.rules,
            body: try WireJSON.encode(SendOTP(phone: phone)), options)
    }

    /// Repeats a request as an app does, while nobody can take it or nobody knows what became of it.
    @Loop static func insist<Reply: Sendable>(
        _ body: @Loop () async throws -> Reply
    ) async throws -> Reply {
        let end = MonotonicClock.now() + Duration.seconds(30).nanoseconds
        while true {
            do {
                return try await body()
            } catch let error as BusError where error.isForNow && MonotonicClock.now() < end {
                try await Loop.sleep(for: .milliseconds(20))
            }
        }
    }
}

extension BusError {
    fileprivate var isForNow: Bool {
        executed == .unknown || code == ErrorCode.requestInProgress.name
            || [.unavailable, .overloaded].contains(status)
    }
}

/// People who sign in one after another. Each repeats a request without an answer under the same key.
@Loop private final class People {
    private let fleet: Fleet
    /// Whether somebody claims the account of each.
    private let areRobbed: Bool
    private(set) var sessions: [Session] = []
    private(set) var cases: [Identifier] = []
    var isStopped = false

    init(_ fleet: Fleet, areRobbed: Bool = false) { (self.fleet, self.areRobbed) = (fleet, areRobbed) }

    func run(_ caller: Int) async throws {
        var number = 0
        while !isStopped {
            number += 1
            let phone = String(format: "+4670%d%06d", caller, number)
            sessions.append(try await signIn(phone))
            if areRobbed { cases.append(try await claim(phone, by: String(format: "+4673%d%06d", caller, number))) }
        }
    }

    private func signIn(_ phone: String) async throws -> Session {
        let (challenge, code) = try await code(for: phone, SendOTP(phone: phone))
        let request = VerifyOTP(
            challengeId: challenge, code: code, device: DeviceClaim(name: "Pixel 9", platform: "android"))
        return try await EffectOnceTests.insist {
            try await fleet.gateway.call(request, fleet.options(key: "sign-in-of-\(phone)"))
        }
    }

    /// Somebody with another number asks for the account.
    private func claim(_ account: String, by phone: String) async throws -> Identifier {
        let (challenge, code) = try await code(for: phone, SendOTP(phone: phone, purpose: "recovery"))
        let request = RequestRecovery(
            accountPhone: account, challengeId: challenge, code: code,
            device: DeviceClaim(name: "iPhone", platform: "ios"))
        return try await EffectOnceTests.insist {
            try await fleet.gateway.call(request, fleet.options(key: "claim-of-\(account)"))
        }.recoveryId
    }

    private func code(for phone: String, _ request: SendOTP) async throws -> (Identifier, String) {
        let sent = try await EffectOnceTests.insist {
            try await fleet.gateway.call(request, fleet.options(key: "send-code-to-\(phone)"))
        }
        var code = ""
        try #require(
            // An SMS that was claimed on a connection whose answer was lost waits for the end of its lease, 30 s.
            try await eventually(within: .seconds(45)) {
                code = fleet.sms().last { $0.to == phone }.map { String($0.body.prefix(6)) } ?? ""
                return !code.isEmpty
            }, "no SMS came")
        return (sent.challengeId, code)
    }
}

/// Sequence numbers as they were heard, repetitions included.
private struct Heard: Equatable {
    var sequences: [Int64] = []

    /// As a subscriber takes them in: each that is not behind what it knows.
    var inOrder: [Int64] {
        sequences.reduce(into: []) { known, sequence in if sequence > known.last ?? 0 { known.append(sequence) } }
    }
}

/// Replaces profile: it accepts events, refuses them or delays their senders.
@Loop private final class Listener: RequestHandler {
    private(set) var heard: [Identifier: Heard] = [:]
    /// The person whose events fail.
    var refused: Identifier?
    private(set) var refusals = 0
    /// Events are taken in, and that is not said before `release()`.
    var holdsBack = false
    private var waiting: [LoopPromise<Void>] = []

    var inHand: Int { waiting.count }

    func handle(_ request: AccountCreated, context: RequestContext) async throws -> Acknowledged {
        guard request.personID != refused else {
            refusals += 1
            throw BusError(.internalError, "Not this one.")
        }
        heard[request.personID, default: Heard()].sequences.append(request.personSequence)
        if holdsBack {
            let promise = LoopPromise<Void>()
            waiting.append(promise)
            try await promise.get()
        }
        return Acknowledged()
    }

    func release() {
        holdsBack = false
        for promise in waiting { promise.resolve(.success(())) }
        waiting = []
    }
}

extension Fleet {
    func ids(_ sql: String) async throws -> Set<Identifier> {
        Set(try await self.sql(sql).split(separator: "\n").compactMap { Identifier(String($0)) })
    }

    /// What the development provider sent so far.
    func sms() -> [(to: String, body: String)] {
        VestibuleCLI.Spool(file: "\(installation.state.spool)/sms.jsonl").lines().map {
            ($0["to"]?.stringValue ?? "", $0["body"]?.stringValue ?? "")
        }
    }

    /// The codes that a number got, in the order in which they first came. A relay that was killed may repeat an
    /// earlier one, even after a later one.
    func codes(for phone: String) -> [String] {
        var codes: [String] = []
        for sms in sms() where sms.to == phone {
            let code = String(sms.body.prefix(6))
            if code.allSatisfy(\.isNumber), !codes.contains(code) { codes.append(code) }
        }
        return codes
    }
}
