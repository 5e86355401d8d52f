import EventLoop
import Foundation

/// A replica of auth as a process of its own (`Tests/TestReplica`), which may be stopped, thawed and killed.
///
/// It ends with the test's process: it reads its standard input, whose other end is here.
public final class ReplicaProcess {
    public let process: pid_t
    public let endpoint: String
    private let log: String
    private let leash: Int32
    private var status: Int32?

    /// What it executed: which request, and when it began (``MonotonicClock``, the same for every process).
    public struct Begun: Equatable {
        public let id: Int
        public let at: UInt64
    }

    /// - Parameters:
    ///   - endpoint: where it listens; its log lies in the directory.
    ///   - variables: beside those of this process; which it reads says `Tests/TestReplica`.
    public init(at endpoint: String, in directory: String, _ variables: [String: String] = [:]) throws {
        self.endpoint = endpoint
        log = "\(directory)/\(UUID().uuidString).log"
        var ends: [Int32] = [0, 0]
        // Sockets, not a pipe: writing to one whose replica has ended is an error then, and no signal that ends the tests.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw ScratchCluster.Failure(description: "no leash")
        }
        // No other child may hold on to the leash.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        leash = ends[1]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        let program = try Self.program()
        var words = [program, endpoint, log].map { (word: String) in strdup(word) } + [nil]
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var settings = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, &actions, nil, &words, &settings) == 0 else {
            throw ScratchCluster.Failure(description: "\(program) cannot be started")
        }
        self.process = process
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(leash)
    }

    /// It is built beside these tests, which are a library in another program's process: the list of what is mapped names
    /// its file.
    private static func program() throws -> String {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
        guard let line = maps.first(where: { $0.hasSuffix("PackageTests.xctest") }),
            let start = line.firstIndex(of: "/")
        else { throw ScratchCluster.Failure(description: "these tests are no library") }
        return URL(filePath: String(line[start...])).deletingLastPathComponent().appending(path: "TestReplica").path
    }

    public func send(_ signal: Int32) { kill(process, signal) }

    /// Has it stop between two jobs of its loop, and waits until none of its threads runs any more. A signal from here could
    /// come between its last look at the clock and what it does then, and what is old would be done after all: no program
    /// can tell.
    @Loop public func freeze() async throws {
        var byte: UInt8 = 0
        guard Glibc.send(leash, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else {
            throw ScratchCluster.Failure(description: "it has ended")
        }
        guard try await eventually({ isFrozen }) else { throw ScratchCluster.Failure(description: "it does not stop") }
    }

    private var isFrozen: Bool {
        let tasks = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).allSatisfy { task in
            // `PID (name) STATE …`; a name may have any character.
            let text = (try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)) ?? ""
            return text[(text.lastIndex(of: ")") ?? text.startIndex)...].dropFirst(2).first == "T"
        }
    }

    /// The exit code once it has ended; 128 and the signal's number where a signal ended it.
    public var exitCode: Int32? {
        var word: Int32 = 0
        if status == nil, waitpid(process, &word, WNOHANG) == process { status = word }
        return status.map { $0 & 0x7f == 0 ? ($0 >> 8) & 0xff : 128 + $0 & 0x7f }
    }

    public var begun: [Begun] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let id = Int(words[0]), let at = UInt64(words[1]) else { return nil }
            return Begun(id: id, at: at)
        }
    }
}
