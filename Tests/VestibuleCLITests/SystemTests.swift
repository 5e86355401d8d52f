import BusProtocol
import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// The programs as they were built, as processes.
@Suite(.serialized) struct SystemTests {
    @Test(.bounded) func onePersonCompletesTheDemoWhileProcessesAreKilled() async throws {
        let installation = try Installation()
        defer { installation.remove() }
        let state = installation.state
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        let address = "127.0.0.1:\(free.port)"
        let client = try HTTPClient(address)
        let supervisor = try installation.start("up", "--state", state.path, "--http", address)
        var isRunning = true
        defer {
            if isRunning {
                kill(supervisor, SIGTERM)
                _ = Subprocess.wait(supervisor)
            }
        }
        // The test does not wait for `readyz`. If a process ends before the supervisor has seen that the system is
        // ready, the start fails.
        try installation.wait("a ready system", seconds: 90) { installation.text.contains("Ctrl-C stops everything.") }

        let second = try installation.run("up", "--state", state.path, "--http", address, "--detach")
        #expect(second.code == 1 && second.output.contains("already"))

        // At steps whose effects the following ones need: the new account, the saved profile, answers, the photo.
        var victims = [4: "auth", 8: "profile", 21: "questionnaire", 27: "gateway", 52: "verification", 55: "recovery"]
        let demo = try Demo(client: client, spool: state.spool) { step in
            guard let name = victims.removeValue(forKey: step) else { return }
            let victim = try #require(process(name, state))
            kill(victim, SIGKILL)
            try installation.wait("another \(name)") { process(name, state) ?? victim != victim }
            // Frees the items of the killed process at once, and not after half a minute.
            if name != "gateway" {
                try PostgresServer(state).query("vestibule", "UPDATE \(name).outbox SET locked_until = NULL")
            }
            try installation.wait("a ready system after \(name) was killed") { isReady(client) }
        }
        try await demo.run()
        #expect(victims.isEmpty, "the demo has fewer steps than it had")

        let asked = Date()
        #expect(try installation.run("down", "--state", state.path).code == 0)
        let status = Subprocess.wait(supervisor)
        isRunning = false
        #expect(status == 0)
        #expect(Date().timeIntervalSince(asked) < 8, .time)
        try installation.wait("the end of every process") { installation.processes().isEmpty }
        #expect(try installation.run("status", "--state", state.path).code == 3)
    }

    @Test(.bounded) func anOperatorSeesEveryReplicaAndCallsIt() throws {
        let system = try RunningSystem(scale: "auth=2")
        defer { system.stop() }
        let (installation, state) = (system.installation, system.installation.state)

        func states() throws -> [String] {
            let look = try installation.run("bus", "ls", "--state", state.path, "--json")
            let json = look.output.split(separator: "\n").first { $0.hasPrefix("[") }.map { Array($0.utf8) } ?? []
            return try JSONValue.parse(json).arrayValue?.map {
                "\($0["service"]?.stringValue ?? "") \($0["state"]?.stringValue ?? "")"
            } ?? []
        }
        let everybody = (["auth"] + ServiceName.services.map(\.rawValue)).sorted().map { "\($0) ready" }
        // The system is ready when each service has one replica. The second one may still be starting.
        try installation.wait("every replica's word", seconds: 30) { try states() == everybody }

        // `top` waits a tenth of a second for each replica. If one is too slow, the next call shows it.
        try installation.wait("a table of all replicas") {
            let top = try installation.run("top", "--once", "--state", state.path).output
            let loads = top.split(separator: "\n").map { $0.split(separator: " ").prefix(4).joined(separator: " ") }
            return loads.contains("auth 2 of 2") && loads.contains("recovery 1 of 1")
        }
        var gauges: [[String: JSONValue]] = []
        try installation.wait("what every replica tells of itself") {
            let stats = try installation.run("bus", "stats", "--json", "--state", state.path).output
            let told = try JSONValue.parse(Array((stats.split(separator: "\n").first { $0.hasPrefix("[") } ?? "").utf8))
            gauges = told.arrayValue?.compactMap { $0["report"]?["gauges"]?.objectValue } ?? []
            return gauges.count == everybody.count
        }
        // Both replicas of auth report the first pair, the one of profile the second, and verification the third.
        #expect(gauges.count { $0.keys.contains("sms_budget_used") && $0.keys.contains("sms_prefixes_closed") } == 2)
        #expect(
            gauges.count { $0.keys.contains("events_refused_address") && $0.keys.contains("events_refused_day") } == 1)
        #expect(gauges.count { $0.keys.contains("captures") && $0.keys.contains("destructions_oldest_seconds") } == 1)
        for gauge in gauges {
            let names = ["outbox_due", "outbox_dead", "outbox_oldest_seconds", "database_waiting", "database_idle"]
            let own = [
                "sms_", "email_", "events_", "captures", "destructions_", "photo_sizes", "reviews", "uploads_",
                "verdicts_", "judgements_",
            ]
            #expect(
                gauge.keys.filter { key in !own.contains { key.hasPrefix($0) } }.sorted()
                    == (names + [
                        "database_connections", "loop_timers", "memory_in_use_bytes", "schema_missing", "was_ready",
                    ]).sorted())
            #expect(gauge["schema_missing"] == 0 && gauge["was_ready"] == 1)
            #expect((gauge["database_connections"]?.integerValue ?? 0) >= 1)
        }

        try installation.wait("both replicas of auth") {
            let info = try installation.run("bus", "info", "auth", "--state", state.path)
            return info.code == 0 && info.output.components(separatedBy: "  state      ready").count == 3
        }
        try installation.wait("an answer to each ping") {
            let ping = try installation.run("bus", "ping", "recovery", "--state", state.path)
            return ping.code == 0 && ping.output.split(separator: "\n").allSatisfy { $0.hasSuffix(" ms") }
        }
        #expect(try installation.run("bus", "ping", "nobody", "--state", state.path).code == 64)

        func call(_ words: String...) throws -> (code: Int32, output: String) {
            try installation.run(["bus", "call"] + words + ["--state", state.path])
        }
        let signing = try call("auth.get-jwks")
        #expect(signing.code == 0 && signing.output.hasPrefix(#"{"keys":[{"#))
        #expect(try call("auth.list-devices").output.hasPrefix("vestibule: unauthorized: "), "in nobody's name")
        let insist = try call("auth.logout")
        #expect(insist.code == 1 && insist.output.contains("With --as-operator the service does it"))
        #expect(try call("auth.logout", "--as-operator").output.hasPrefix("vestibule: unauthorized: "))
        let log =
            try String(contentsOfFile: state.log("auth"), encoding: .utf8)
            + String(contentsOfFile: state.log("auth-2"), encoding: .utf8)
        #expect(log.components(separatedBy: #""event":"operator_call""#).count == 2)
        #expect(try call("auth.nonsense").code == 64)

        let rotated = try installation.run("keys", "rotate-signing", "--state", state.path)
        #expect(rotated.code == 0 && rotated.output.contains(" is published now, and signs access tokens from "))
        #expect(try installation.run("keys", "rotate-signing", "--state", state.path).output == rotated.output)
        #expect(try call("auth.get-jwks", "[]").code == 64)
        let slip = try call("auth.get-jwks", #"{"a" 1}"#)
        #expect(slip.code == 65)
        #expect(
            slip.output.hasPrefix("vestibule: the body of auth.get-jwks:1:6: not JSON: ")
                && slip.output.hasSuffix("\n  {\"a\" 1}\n       ^\n"), "\(slip.output)")
    }

    @Test(.timed) func onlyAHangingReplicaIsMissedAndARevokedKeyIsReported() throws {
        let system = try RunningSystem(scale: "auth=1")
        defer { system.stop() }
        let (installation, state, address) = (system.installation, system.installation.state, system.address)
        func isWhole() throws -> Bool { try installation.run("bus", "ls", "--state", state.path).code == 0 }

        /// The fastest of a few: other processes of the tests have their turns, too.
        func fastest(_ words: [String]) throws -> TimeInterval {
            try (0..<5).map { _ in
                let began = Date()
                _ = try installation.run(["bus"] + words + ["--state", state.path])
                return Date().timeIntervalSince(began)
            }.min() ?? 1
        }
        let victim = try #require(process("profile", state))
        try installation.wait("every replica's word") { try isWhole() }
        let looks = [["ls"], ["info", "profile"], ["stats"], ["call", "auth.get-jwks"]]
        let before = try looks.map { try fastest($0) }
        kill(victim, SIGSTOP)
        try installation.wait("a look that misses profile alone") {
            let look = try installation.run("bus", "ls", "--state", state.path)
            return look.code == 1 && look.output.contains("vestibule: no ready replica of profile\n")
        }
        for (words, before) in zip(looks, before) {
            // A look waits once, for all replicas. How long a process takes to start is the machine's affair.
            let more = try fastest(words) - before
            print("bus \(words[0]) with a dead replica: \(Int(more * 1000)) ms more than \(Int(before * 1000)) ms")
            #expect(more < 0.2, .time("one that is dead keeps nobody waiting"))
        }
        kill(victim, SIGCONT)
        try installation.wait("profile") { try isWhole() }

        let keys = try installation.run("keys", "list", "--state", state.path).output.split(separator: "\n")
        let key = try #require(keys.first { $0.hasPrefix("recovery ") }?.split(separator: " ").last.map { String($0) })
        #expect(try installation.run("keys", "revoke", key, "--state", state.path).code == 0)
        #expect(try installation.run("keys", "revoke", key, "--state", state.path).code == 1)
        let client = try HTTPClient(address)
        try installation.wait("a gateway that misses recovery") { !isReady(client) }
        let status = try installation.run("status", "--http", address)
        #expect(status.code == 1 && status.output.contains("is not ready: Not ready: recovery (key_revoked)"))
        #expect(try installation.run("status", "--http", address, "--alive").code == 0)
        #expect(try installation.run("keys", "allow", "recovery", key, "--state", state.path).code == 0)
        #expect(try installation.run("status", "--http", address, "--within", "30").code == 0)
        try installation.wait("every replica's word again") { try isWhole() }
    }

    @Test(.bounded) func anOperatorGivesRolesAndCompletesPeople() throws {
        let system = try RunningSystem(scale: "auth=1")
        defer { system.stop() }
        let (installation, state) = (system.installation, system.installation.state)

        func role(_ words: String...) throws -> (code: Int32, output: String) {
            try installation.run(["role"] + words + ["--state", state.path])
        }
        let nobody = "5f0c1f3e-6a52-4a7e-9d5b-0c9a3f2b1d10"
        #expect(try role("ls").output == "Nobody has a role.\n")
        #expect(try role("grant", nobody, "staff", "--operator", "anna").output.hasPrefix("vestibule: not_found: "))
        for words in [["grant", "anna", "staff"], ["grant", nobody, "owner"], ["lose", nobody, "staff"]] {
            #expect(try installation.run(["role"] + words + ["--state", state.path]).code == 64)
        }
        try system.sql("INSERT INTO auth.accounts (id) VALUES ('\(nobody)')")
        #expect(
            try role("grant", nobody, "staff", "--operator", "anna").output
                == "\(nobody) is staff now, and must sign in again.\n")
        #expect(try role("grant", nobody, "staff", "--operator", "ben").output == "\(nobody) is staff, as before.\n")
        #expect(
            try role("grant", nobody, "admin", "--operator", "anna").output
                == "\(nobody) is still staff: another operator must run the same command within a day.\n")
        let awaiting = try role("ls").output
        #expect(
            awaiting.contains("\(nobody)  staff") && awaiting.contains("requested by anna, a second operator until "))
        #expect(try role("grant", nobody, "admin", "--operator", "ben").output.contains(" is admin now"))
        #expect(
            try role("ls", "--json").output == #"{"awaiting":[],"people":[{"role":"admin","userID":"\#(nobody)"}]}"#
                + "\n")

        let people = "\(state.path)/people"
        try "# people\n\(Identifier.random())\n\(nobody)\n".write(toFile: people, atomically: true, encoding: .utf8)
        try system.sql("INSERT INTO profile.profiles (person_id) VALUES ('\(nobody)')")
        func backfill(_ words: String...) throws -> (code: Int32, output: String) {
            try installation.run(["account", "backfill", "--complete", people] + words + ["--state", state.path])
        }
        let backfilled = try backfill()
        #expect(
            backfilled.code == 65 && backfilled.output.contains("Completed: 1. Already complete: 0. Unknown: 1.\n"))
        #expect(try backfill("--json").output.contains(#"{"already":1,"done":0,"unknown":1}"#))
        try "\(nobody)\nnobody\n".write(toFile: people, atomically: true, encoding: .utf8)
        #expect(try backfill().output.hasSuffix("people, line 2: expected a person's id, 36 characters\n"))
        try "\(nobody)\n".write(toFile: people, atomically: true, encoding: .utf8)
        #expect(try backfill() == (0, "Completed: 0. Already complete: 1. Unknown: 0.\n"))
    }

    /// The trace of a request is seen at every service that takes part. The calls that one service counts as sent,
    /// another counts as received.
    @Test func busTrafficIsTracedAndItsCountsAgree() throws {
        let system = try RunningSystem(scale: "profile=2")
        defer { system.stop() }
        let (installation, state, address) = (system.installation, system.installation.state, system.address)
        let tail = try installation.start("bus", "tail", "--json", "--state", state.path)
        defer {
            kill(tail, SIGTERM)
            _ = Subprocess.wait(tail)
        }
        // The gateway's long poll is the first that is seen.
        try installation.wait("the first line") { installation.text.contains("auth.follow-revocations") }

        let client = try HTTPClient(address)
        func hops(of trace: String) -> Set<String> {
            let lines = installation.text.split(separator: "\n").filter { $0.contains(trace) }
            return Set(
                lines.compactMap { try? JSONValue.parse(Array($0.utf8)) }.map {
                    "\($0["caller"]?.stringValue ?? "") \($0["type"]?.stringValue ?? "") \($0["service"]?.stringValue ?? "")"
                })
        }
        let expected: Set = [
            "gateway auth.send-otp auth", "gateway auth.verify-otp auth", "auth profile.get-onboarding profile",
        ]
        // The tail does not show what a replica did before the tail first heard from it.
        var (people, isWhole): (Int64, Bool) = (0, false)
        while !isWhole, people < 5 {
            people += 1
            let trace = "0af7651916cd43dd8448eb211c80319\(people)"
            let headers = ["traceparent": "00-\(trace)-b7ad6b7169203331-01"]
            try system.signIn("+1415555012\(people)", client, headers: headers)
            let seen: Void? = try? installation.wait("every hop of it", seconds: 5) { hops(of: trace) == expected }
            isWhole = seen != nil
        }
        #expect(isWhole)

        try installation.wait("figures that add up") {
            let stats = try installation.run("bus", "stats", "--json", "--state", state.path)
            guard stats.code == 0 else { return false }
            let all = try JSONValue.parse(Array(stats.output.utf8)).arrayValue ?? []
            let (asked, served) = (ended(all, "asked"), ended(all, "served").filter { !$0.key.hasPrefix("gateway ") })
            return asked == served && asked["auth profile.get-onboarding/v1 profile"] == ["ok": people]
        }

        let replica = try #require(
            try installation.run("bus", "info", "profile", "--state", state.path).output.split(separator: "\n").first)
        try installation.wait("the end of one of them") {
            let drained = try installation.run("bus", "drain", String(replica), "--state", state.path)
            return drained.code == 0 && drained.output.contains(" ended after ")
        }
        let again = try installation.run("bus", "drain", String(replica), "--state", state.path)
        #expect(again.code == 1 && again.output.hasPrefix("vestibule: there is no replica "))
        #expect(isReady(client), "the other one serves")
    }

    /// What ended, by code, for each asking service, message and answering service; all replicas together.
    private func ended(_ replicas: [JSONValue], _ side: String) -> [String: [String: Int64]] {
        replicas.reduce(into: [:]) { sums, replica in
            let service = replica["service"]?.stringValue ?? ""
            for traffic in replica["report"]?[side]?.arrayValue ?? [] {
                let (message, partner) = (traffic["message"]?.stringValue ?? "", traffic["partner"]?.stringValue ?? "")
                let way = side == "asked" ? "\(service) \(message) \(partner)" : "\(partner) \(message) \(service)"
                let codes = (traffic["ended"]?.objectValue ?? [:]).compactMapValues(\.integerValue)
                sums[way, default: [:]].merge(codes, uniquingKeysWith: +)
            }
        }
    }

    private func isReady(_ client: HTTPClient) -> Bool { (try? client.send("GET", "/readyz"))?.status == 200 }

    private func process(_ name: String, _ state: StateFolder) -> pid_t? {
        let all = RunFile(state)?.value["processes"]?.arrayValue ?? []
        return all.first { $0["name"]?.stringValue == name }?["pid"]?.integerValue.map { pid_t($0) }
    }

    @Test func theSpoolOfAnySystemCanBeRead() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let spool = installation.state.spool
        try StateFolder.write(
            #"{"to":"+46701234567","body":"123456 is it"}"#, to: "\(spool)/sms.jsonl", mode: 0o600)
        let sms = try installation.run("sms", "last", "+46 70 123 45 67", "--spool", spool)
        #expect(sms.code == 0 && sms.output == "123456 is it\n")
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        let demo = try installation.run("demo", "--spool", spool, "--http", "127.0.0.1:\(free.port)")
        #expect(demo.code == 69 && demo.output.contains("nobody answers at 127.0.0.1:\(free.port)"))
        let status = try installation.run("status", "--http", "127.0.0.1:\(free.port)")
        #expect(status.code == 1 && status.output == "vestibule: http://127.0.0.1:\(free.port) is not ready\n")
        let life = try installation.run("status", "--http", "127.0.0.1:\(free.port)", "--alive")
        #expect(life.code == 1 && life.output == "vestibule: http://127.0.0.1:\(free.port) does not answer\n")
    }

    @Test func aRefusedConfigurationIsNamed() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        let result = try installation.run(
            "up", "--state", installation.state.path, "--http", "127.0.0.1:\(free.port)",
            variables: ["SMS_PROVIDER": "pigeon"])
        #expect(result.code == 78 && result.output.hasPrefix("vestibule: auth: SMS_PROVIDER: \"pigeon\" is not valid"))
        try installation.wait("the end of every process") { installation.processes().isEmpty }
    }

    @Test("a program refuses unknown arguments", arguments: ["AuthService", "Gateway"])
    func arguments(program: String) throws {
        let installation = try Installation()
        defer { installation.remove() }
        let result = try installation.run(program: program, "--help")
        #expect(result.code == 64 && result.output.hasPrefix("\(program) takes no --help"))
        #expect(result.output.split(separator: "\n").count == 1)
    }

    @Test func aFailedStartPrintsOneLineAndLeavesNothing() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let path = installation.state.path
        let used = try RawServer.listenAtFreePort()
        defer { close(used.descriptor) }
        let file = "\(path)/file"
        try StateFolder.write("", to: file, mode: 0o600)
        for (code, result) in [
            (69, try installation.run("up", "--state", path, "--http", "127.0.0.1:\(used.port)")),
            (69, try installation.run("up", "--state", path, "--http", "127.0.0.1:\(used.port)", "--detach")),
            (73, try installation.run("up", "--state", file)),
            (64, try installation.run("up", "--state", path, "--frob")),
            (64, try installation.run("up", "--state", path, "--http", "nowhere")),
            (64, try installation.run("up", "--state", path, "--http", "example.com:8080")),
            (64, try installation.run("frob")), (64, try installation.run("down", "auth", "--state", path)),
        ] {
            #expect(result.code == code)
            #expect(result.output.hasPrefix("vestibule: ") && result.output.split(separator: "\n").count == 1)
        }
        try installation.wait("the end of every process") { installation.processes().isEmpty }
    }
}
