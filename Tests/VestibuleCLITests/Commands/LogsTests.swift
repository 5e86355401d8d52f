import BusProtocol
import Foundation
import Testing

@testable import VestibuleCLI

@Suite("vestibule logs") struct LogsTests {
    private static func line(_ second: Int, _ level: String, _ event: String) -> String {
        #"{"at":"2026-02-20T09:00:\#(second < 10 ? "0" : "")\#(second)Z","event":"\#(event)","level":"\#(level)"}"#
    }

    private func installation(_ logs: [String: [String]]) throws -> Installation {
        let installation = try Installation()
        for (name, lines) in logs {
            try StateFolder.write(lines.map { $0 + "\n" }.joined(), to: installation.state.log(name), mode: 0o600)
        }
        return installation
    }

    @Test func linesOfAllFilesComeInTheOrderOfTime() throws {
        let (first, second) = (Self.line(1, "info", "a"), Self.line(3, "warning", "b"))
        let installation = try installation([
            "auth": [first, second, "Fatal error", "  at somewhere"], "auth-2": [Self.line(2, "info", "c")],
            "profile": [Self.line(4, "error", "d")],
        ])
        defer { installation.remove() }
        func logs(_ words: String...) throws -> (code: Int32, output: String) {
            try installation.run(["logs", "--state", installation.state.path] + words)
        }
        let all = [
            first, Self.line(2, "info", "c"), second, "Fatal error", "  at somewhere", Self.line(4, "error", "d"),
        ]
        #expect(try logs() == (0, all.map { $0 + "\n" }.joined()))
        #expect(try logs("profile") == (0, all[5] + "\n"))
        // A crash is no line of ours, and is shown whatever the level.
        let grave = try logs("--level", "warning", "auth")
        #expect(grave.output.hasPrefix(all[2...4].map { $0 + "\n" }.joined()))
        #expect(
            grave.output.hasSuffix("vestibule: 2 lines are below the level or before the time that was asked for\n"))
        #expect(try logs("--since", "2026-02-20T09:00:04Z").output.hasPrefix(all[5] + "\n"))
        #expect(try logs("--level", "loud").code == 64 && logs("--since", "yesterday").code == 64)
        #expect(try logs("nobody").output.hasSuffix("it has auth-2.log, auth.log, profile.log\n"))
    }

    @Test func leftOutLinesAreCountedInANote() throws {
        let lines = (0..<150).map { Self.line($0 % 60, "info", "event-\($0)") }
        let installation = try installation(["auth": lines])
        defer { installation.remove() }
        let result = try installation.run("logs", "--state", installation.state.path)
        #expect(result.output.split(separator: "\n").count == 101)
        #expect(
            result.output.contains("vestibule: 50 older lines are left out: --since 1h shows those of the last hour"))
        let whole = try installation.run("logs", "--since", "2026-02-20T00:00:00Z", "--state", installation.state.path)
        #expect(whole.output.split(separator: "\n").count == 150)
    }

    @Test func followingEndsWithItsReader() throws {
        let installation = try installation(["auth": [Self.line(1, "info", "a")]])
        defer { installation.remove() }
        let path = installation.state.path
        // The reader takes one line and goes; the next line finds nobody.
        let shell = try Subprocess.start(
            [
                "timeout", "20", "bash", "-c",
                #""$0" logs -f --state "$1" | { read -r; echo '{"event":"b"}' >>"$1/logs/auth.log"; exec <&-; }; exit ${PIPESTATUS[0]}"#,
                installation.vestibule, path,
            ], environment: ProcessInfo.processInfo.environment, output: "/dev/null", newSession: true)
        #expect(Subprocess.exitCode(of: Subprocess.wait(shell)) == 128 + SIGPIPE)
    }

    @Test func aFileIsReadOnceAndAgainAfterItWasTruncated() throws {
        let installation = try installation(["auth": ["a", "b"]])
        defer { installation.remove() }
        let path = installation.state.log("auth")
        var tail = LogTail(path: path)
        #expect(tail.readNew().map(\.text) == ["a", "b"] && tail.readNew().isEmpty)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data("c\nhalf".utf8))
        #expect(tail.readNew().map(\.text) == ["c"])
        try file.write(contentsOf: Data(" a line\n".utf8))
        #expect(tail.readNew().map(\.text) == ["half a line"])
        try file.truncate(atOffset: 0)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: Data("d\n".utf8))
        #expect(tail.readNew().map(\.text) == ["d"])
    }

    @Test(
        "an age or a time", arguments: [("30s", 30), ("15m", 900), ("2h", 7200), ("1d", 86_400)] as [(String, Int64)])
    func since(word: String, seconds: Int64) throws {
        let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)
        #expect(try LogFilter.time(word, now: now) == now - .seconds(seconds))
    }

    // MARK: The supervisor

    @Test func aProcessEndNamesItsSignalOrExitCode() throws {
        let at = try #require(Timestamp("2026-02-20T09:00:00Z"))
        let (killed, refused) = (ProcessEnd(SIGKILL, at: at), ProcessEnd(78 << 8, at: at))
        #expect(killed.signal == "SIGKILL" && killed.exitCode == nil && killed.text == "SIGKILL at \(at)")
        #expect(refused.exitCode == 78 && refused.signal == nil && refused.text == "exit code 78 at \(at)")
        for end in [killed, refused] { #expect(ProcessEnd(end.json) == end) }
    }

    /// A process may miss one check because the machine is busy. A check that fails as a whole says nothing about any
    /// process.
    @Test func aProcessThatMissesThreeChecksInARowHangs() {
        let watch = HangWatch()
        for _ in 1...2 { watch.note([7, 8], answering: [8]) }
        #expect(!watch.hangs(7))
        watch.note([7, 8], answering: nil)
        #expect(!watch.hangs(7))
        watch.note([7, 8], answering: [8])
        #expect(watch.hangs(7) && !watch.hangs(8))
        watch.note([7, 8], answering: [7, 8])
        #expect(!watch.hangs(7))
    }
}
