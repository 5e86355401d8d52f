import Foundation
import Testing

@testable import VestibuleCLI

@Suite struct SubprocessTests {
    @Test func theInputOfAProgramIsInNoCommandLineAndNoLastingFile() throws {
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: "/tmp"))
        let read = try Subprocess.run(
            ["sh", "-c", "cat; tr '\\0' ' ' </proc/$$/cmdline; stat -L -c ' %a' /proc/self/fd/0"], input: "a secret\n")
        let lines = read.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(lines[0] == "a secret" && !lines[1].contains("a secret") && lines[1].hasSuffix(" 600"))
        let left = Set(try FileManager.default.contentsOfDirectory(atPath: "/tmp")).subtracting(before)
        #expect(!left.contains { $0.hasPrefix("vestibule-run-") })
    }

    @Test(
        "a failure names the last line, or else how it ended",
        arguments: [
            ("echo one; echo two >&2; exit 3", "two"), ("exit 3", "exit code 3"), ("kill -9 $$", "a signal ended it"),
        ])
    func failures(script: String, reason: String) {
        let error = #expect(throws: CommandError.self) { try Subprocess.run(["sh", "-c", script]) }
        #expect(error?.code == 69 && error?.message == "sh failed: \(reason)")
    }

    @Test func aProgramGetsNoInputUnlessGiven() throws {
        #expect(try Subprocess.run(["cat"]).isEmpty)
    }
}
