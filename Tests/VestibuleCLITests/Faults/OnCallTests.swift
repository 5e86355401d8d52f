import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// What an operator sees of a system in which something is wrong.
@Suite(.serialized) struct OnCallTests {
    private func status(_ system: RunningSystem) throws -> JSONValue {
        let output = try system.installation.run("status", "--json", "--state", system.installation.state.path).output
        return try JSONValue.parse(Array((output.split(separator: "\n").first ?? "").utf8))
    }

    private func process(_ name: String, _ system: RunningSystem) throws -> JSONValue? {
        try status(system)["processes"]?.arrayValue?.first { $0["name"]?.stringValue == name }
    }

    private func supervisorLog(_ system: RunningSystem) -> [JSONValue] {
        let text = (try? String(contentsOfFile: system.installation.state.log("supervisor"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONValue.parse(Array($0.utf8)) }
    }

    /// A system in which one process hangs while everything else is tried.
    private func withOneThatHangs(_ body: (RunningSystem, pid_t) throws -> Void) throws {
        let system = try RunningSystem(
            scale: "auth=1,questionnaire=2", options: ["--hang-after", "3"],
            variables: ["SPOOL_DIR": "/nowhere", "APP_NAME": "Vestibule"])
        defer { system.stop() }
        let silent = try #require(try process("questionnaire-2", system)?["pid"]?.integerValue)
        kill(pid_t(silent), SIGSTOP)
        // Else the end of the system would wait for it.
        defer { kill(pid_t(silent), SIGCONT) }
        try body(system, pid_t(silent))
    }

    @Test func everyFaultyProcessIsShownWithItsProblem() throws {
        try withOneThatHangs { system, silent in
            #expect(system.output.contains("up replaces these variables of the environment: SPOOL_DIR\n"))
            try everyProcessIsShownWithItsProblem(system)
            try theSupervisorReportsAHangingProcess(system, silent)
        }
    }

    @Test func theScaleCanBeChangedWhileAReplicaHangs() throws {
        try withOneThatHangs { system, _ in try theScaleIsChanged(system) }
    }

    @Test(.timed) func aHangingReplicaDelaysAnOperatorByTwoSecondsAtMost() throws {
        try withOneThatHangs { system, _ in
            let began = Date()
            #expect(try process("postgresql", system)?["state"] == "running")
            #expect(Date().timeIntervalSince(began) < 2, .time)
            try aLockedTableIsReportedAndCounted(system)
        }
    }

    private func theSupervisorReportsAHangingProcess(_ system: RunningSystem, _ silent: pid_t) throws {
        func noted(_ event: String, _ level: JSONValue) -> Bool {
            supervisorLog(system).contains {
                $0["event"]?.stringValue == event && $0["process"] == "questionnaire-2" && $0["level"] == level
            }
        }
        try system.installation.wait("a warning of who hangs") { noted("process_hangs", "warning") }
        kill(silent, SIGCONT)
        try system.installation.wait("word of its return") { noted("process_answers_again", "info") }
    }

    private func everyProcessIsShownWithItsProblem(_ system: RunningSystem) throws {
        let (installation, path) = (system.installation, system.installation.state.path)
        let client = try HTTPClient(system.address)

        // Killed.
        let old = try #require(try process("profile", system)?["pid"]?.integerValue)
        kill(pid_t(old), SIGKILL)
        try installation.wait("its return") {
            let now = try process("profile", system)
            return now?["state"] == "ready" && now?["pid"]?.integerValue != old
        }
        let profile = try #require(try process("profile", system))
        #expect(profile["restarts"] == 1 && profile["lastEnd"]?["signal"] == "SIGKILL")
        let ended = try #require(supervisorLog(system).first { $0["event"] == "process_ended" })
        #expect(ended["process"] == "profile" && ended["signal"] == "SIGKILL" && ended["level"] == "warning")
        #expect(ended["at"]?.stringValue != nil && ended["pauseMilliseconds"]?.integerValue != nil)
        #expect(supervisorLog(system).contains { $0["event"] == "process_restarted" })

        // The database: its end and its return stand there, too.
        let server = try #require(try process("postgresql", system)?["pid"]?.integerValue)
        kill(pid_t(server), SIGKILL)
        try installation.wait("the database's return") {
            supervisorLog(system).contains { $0["event"] == "database_restarted" }
        }
        #expect(supervisorLog(system).contains { $0["event"] == "database_ended" && $0["level"] == "error" })
        try installation.wait("its services' return") { try client.send("GET", "/readyz").status == 200 }

        // Stopped: it ends by nothing, and is told apart from one that is not there.
        let victim = try #require(try process("recovery", system)?["pid"]?.integerValue)
        kill(pid_t(victim), SIGSTOP)
        try installation.wait("a gateway that says why") {
            try client.send("GET", "/readyz").body["reasons"]?["recovery"] == "no_answer"
        }
        // On a machine that stood still, other services may have missed a PING, too.
        var page = (code: Int32(0), output: "")
        try installation.wait("a page that names recovery alone") {
            page = try installation.run("status", "--state", path)
            return page.output.contains("the gateway says: Not ready: recovery (no_answer).")
        }
        #expect(page.code == 1 && page.output.contains("recovery has 0 of 1 replicas ready"))
        #expect(try process("recovery", system)?["state"] == "stopped")
        let look = try installation.run("bus", "ls", "--state", path).output
        #expect(look.contains("stopped") && look.contains(" \(victim) "))
        kill(pid_t(victim), SIGCONT)

        // Revoked: the process runs and answers, and nobody may hear it.
        let keys = try installation.run("keys", "list", "--state", path).output.split(separator: "\n")
        let key = try #require(keys.first { $0.hasPrefix("recovery ") }?.split(separator: " ").last.map(String.init))
        #expect(try installation.run("keys", "revoke", key, "--state", path).code == 0)
        try installation.wait("a revoked key that is named") {
            try client.send("GET", "/readyz").body["reasons"]?["recovery"] == "key_revoked"
        }
        #expect(try process("recovery", system)?["state"] == "key_revoked")
        try installation.wait("its own word") {
            try String(contentsOfFile: system.installation.state.log("recovery"), encoding: .utf8)
                .contains("the key of this program was removed from the list")
        }
        #expect(try installation.run("keys", "allow", "recovery", key, "--state", path).code == 0)
        try installation.wait("its return") { try client.send("GET", "/readyz").status == 200 }
    }

    private func theScaleIsChanged(_ system: RunningSystem) throws {
        let (installation, path) = (system.installation, system.installation.state.path)
        let more = try installation.run("scale", "auth=2,profile=2", "--state", path)
        #expect(more.code == 0 && more.output.contains("auth-2") && more.output.contains("profile-2"))
        #expect(try process("auth-2", system)?["state"] == "ready")
        let fewer = try installation.run("scale", "auth=1", "--state", path)
        #expect(fewer.code == 0 && !fewer.output.contains("auth-2") && fewer.output.contains("profile-2"))
        #expect(supervisorLog(system).contains { $0["event"] == "process_dismissed" && $0["process"] == "auth-2" })
        #expect(try installation.run("scale", "auth=17", "--state", path).code == 64)
        #expect(try installation.run("scale", "--state", path).code == 64)
    }

    private func aLockedTableIsReportedAndCounted(_ system: RunningSystem) throws {
        let (installation, path) = (system.installation, system.installation.state.path)
        let client = try HTTPClient(system.address)
        let postgres = try PostgresServer(installation.state)
        let holder = Thread {
            _ = try? postgres.query("vestibule", "BEGIN; LOCK TABLE auth.challenges; SELECT pg_sleep(60)")
        }
        holder.start()
        func sessions() throws -> String { try installation.run("database", "--state", path).output }
        try installation.wait("the session that holds it") { try sessions().contains("pg_sleep(60)") }
        let refused = try client.send("POST", "/auth/otp/send", body: ["phone": "+14155550123"])
        #expect(refused.status == 503 && refused.body["code"] == "overloaded")
        let stats = try installation.run("bus", "stats", "auth", "--json", "--state", path).output
        let report = try JSONValue.parse(Array((stats.split(separator: "\n").first ?? "").utf8)).arrayValue?.first?[
            "report"]
        let sent = report?["served"]?.arrayValue?.first {
            $0["message"]?.stringValue?.hasPrefix("auth.send-otp/") == true
        }
        #expect(sent?["shed"] == 1)
        let log = try installation.run("logs", "auth", "--level", "warning", "--state", path).output
        let reason = try #require(log.split(separator: "\n").first { $0.contains(#""event":"database_timeout""#) })
        #expect(reason.contains("SQLSTATE 55P03 on ") && reason.contains("challenges"))
        _ = try postgres.query(
            "vestibule",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()"
        )

        // A database that does not answer keeps an operator waiting for two seconds at the most.
        let server = try #require(postgres.process)
        kill(server, SIGSTOP)
        defer { kill(server, SIGCONT) }
        for words in [["dead-letters", "list"], ["audit", "verify"]] {
            let began = Date()
            let result = try installation.run(words + ["--state", path])
            #expect(result.code != 0 && result.output.contains("that database cannot be reached"))
            #expect(Date().timeIntervalSince(began) < 2, .time)
        }
    }

    @Test(arguments: [[], ["--detach"]])
    func everyMistakeInTheEnvironmentIsNamedAtOnce(options: [String]) throws {
        let installation = try Installation()
        defer { installation.remove() }
        let result = try installation.run(
            ["up", "--state", installation.state.path] + options,
            variables: ["LOG_LEVL": "debug", "SMS_PROVIDER": "pigeon", "GATEWAY_TIMEOUT": "soon", "AUTH_NONSENSE": "1"])
        #expect(result.code == 78 && result.output.split(separator: "\n").count == 1)
        for mistake in [
            "LOG_LEVL is no variable of this program: is LOG_LEVEL meant?",
            "auth: SMS_PROVIDER: \"pigeon\" is not valid",
            "gateway: GATEWAY_TIMEOUT: \"soon\" is not valid", "auth: AUTH_NONSENSE is no variable of this program",
        ] {
            #expect(result.output.contains(mistake), "\(result.output)")
        }
    }
}
