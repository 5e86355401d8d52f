import EventLoop
import Foundation

/// A replica of auth in its own process (`Tests/TestReplica`), which a test can stop, continue and kill.
///
/// It ends with the test's process: it reads its standard input, and this process has the other end of that.
package final class ReplicaProcess {
    package let process: pid_t
    package let endpoint: String
    private let log: String
    private let leash: Int32
    private var status: Int32?

    /// A request that the replica began to execute, and the time of its start. ``MonotonicClock`` is the same in every
    /// process.
    package struct Begun: Equatable {
        package let id: Int
        package let at: UInt64
    }

    /// - Parameters:
    ///   - endpoint: the endpoint that it listens on. Its log is in the directory.
    ///   - variables: variables in addition to those of this process. `Tests/TestReplica` lists the variables that it
    ///     reads.
    package init(at endpoint: String, in directory: String, _ variables: [String: String] = [:]) throws {
        self.endpoint = endpoint
        log = "\(directory)/\(UUID().uuidString).log"
        var ends: [Int32] = [0, 0]
        // Use sockets and not a pipe. Writing after the replica has ended is then an error, and no signal that would
        // end the tests.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw ScratchCluster.Failure(description: "no leash")
        }
        // No other child may inherit these sockets, or the replica would outlive the test's process.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        leash = ends[1]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        let program = try BuiltPrograms.folder().appending(path: "TestReplica").path
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

    package func send(_ signal: Int32) { kill(process, signal) }

    /// Stops the process between two jobs of its loop, and waits until all of its threads have stopped.
    ///
    /// A signal from here could come between the loop's reading of the clock and the job that follows. The loop would
    /// then execute an outdated job, and no program can prevent that.
    @Loop package func freeze() async throws {
        var byte: UInt8 = 0
        guard Glibc.send(leash, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else {
            throw ScratchCluster.Failure(description: "it has ended")
        }
        guard try await eventually({ isFrozen }) else { throw ScratchCluster.Failure(description: "it does not stop") }
    }

    private var isFrozen: Bool {
        let tasks = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).allSatisfy { task in
            // The format is `PID (name) STATE …`, and a name may have any character.
            let text = (try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)) ?? ""
            return text[(text.lastIndex(of: ")") ?? text.startIndex)...].dropFirst(2).first == "T"
        }
    }

    /// The exit code after the process has ended, or 128 and the signal's number if a signal ended it.
    package var exitCode: Int32? {
        var word: Int32 = 0
        if status == nil, waitpid(process, &word, WNOHANG) == process { status = word }
        return status.map { $0 & 0x7f == 0 ? ($0 >> 8) & 0xff : 128 + $0 & 0x7f }
    }

    package var begun: [Begun] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let id = Int(words[0]), let at = UInt64(words[1]) else { return nil }
            return Begun(id: id, at: at)
        }
    }
}
