import Foundation
import TestSupport
import Testing

@testable import VestibuleCLI

/// The programs that were built with these tests, and a state folder of their own.
///
/// `PROGRAMS` names a folder with other ones: bounds of time are proven on the release build, which is what is shipped.
struct Installation {
    let state: StateFolder
    let vestibule: String

    init() throws {
        vestibule = try Self.folder().appending(path: "vestibule").path
        try #require(access(vestibule, X_OK) == 0, "\(vestibule) is not built")
        state = try StateFolder("\(ScratchFolder.roomy)/vestibule-test-\(UUID().uuidString)")
    }

    private static func folder() throws -> URL {
        if let given = ProcessInfo.processInfo.environment["PROGRAMS"] { return URL(filePath: given) }
        return try BuiltPrograms.folder()
    }

    func remove() {
        for folder in [state.path, state.sockets] { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Starts a command; its output is added to a file beside the state folder's logs.
    func start(_ words: String...) throws -> pid_t {
        try Subprocess.start(
            [vestibule] + words, environment: ProcessInfo.processInfo.environment, output: output, newSession: true)
    }

    private var output: String { "\(state.logs)/test.log" }
    /// What the started commands said.
    var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    /// Another of the programs.
    func program(_ name: String) -> String {
        URL(filePath: vestibule).deletingLastPathComponent().appending(path: name).path
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - program: beside `vestibule`.
    ///   - variables: beside those of this process.
    func run(
        program: String = "vestibule", _ words: String..., variables: [String: String] = [:]
    ) throws -> (code: Int32, output: String) {
        try run(words, program: program, variables: variables)
    }

    func run(
        _ words: [String], program: String = "vestibule", variables: [String: String] = [:]
    ) throws -> (code: Int32, output: String) {
        let file = "/tmp/vestibule-test-output-\(UUID().uuidString)"
        defer { unlink(file) }
        let process = try Subprocess.start(
            [self.program(program)] + words,
            environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
            output: file, newSession: true)
        let status = Subprocess.wait(process)
        return ((status >> 8) & 0xff, (try? String(contentsOfFile: file, encoding: .utf8)) ?? "")
    }

    /// Processes that have to do with the state folder. One that has ended and was not waited for has no arguments.
    func processes() -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.filter { pid_t($0) != nil }.compactMap { process in
            let text = ["cmdline", "environ"].compactMap {
                FileManager.default.contents(atPath: "/proc/\(process)/\($0)")
            }
            .map { String(decoding: $0, as: UTF8.self) }.joined()
            return text.contains(state.path) || text.contains(state.sockets) ? "\(process) \(text.prefix(120))" : nil
        }
    }

    /// Waits until something holds, looking again and again.
    func wait(_ what: String, seconds: Double = 30, until holds: () throws -> Bool) throws {
        let end = Date().addingTimeInterval(seconds)
        while try !holds() {
            guard Date() < end else { throw CommandError("\(what) did not come about in \(seconds) s") }
            usleep(10_000)
        }
    }
}
