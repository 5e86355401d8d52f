import Foundation

/// The released program of a service, in its own process, which a test can kill.
package final class ServiceProgram {
    /// The ID of the process.
    package let process: pid_t
    private var isOver = false

    /// - Parameters:
    ///   - name: the name of the executable target.
    ///   - variables: variables in addition to those of this process.
    package init(_ name: String, _ variables: [String: String]) throws {
        let program = try BuiltPrograms.folder().appending(path: name).path
        var words = [strdup(program), nil]
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var settings = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, nil, nil, &words, &settings) == 0 else {
            throw ScratchCluster.Failure(description: "\(program) cannot be started")
        }
        self.process = process
    }

    deinit { killAtOnce() }

    /// Kills the process with SIGKILL, in the middle of its work, and waits until it has ended.
    package func killAtOnce() {
        guard !isOver else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        isOver = true
    }
}
