import BusProtocol
import Foundation

/// Measures one bus call between two processes: `bus-bench raw|typed IN_FLIGHT SECONDS`.
///
/// `raw` is libzmq alone, with the bytes that the typed call sends: it is what a call costs before anything of ours. Both
/// start a second process that answers, and print one line: calls a second, p50 and p99 in microseconds.
@main enum BusBench {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("raw-server", 2): RawEcho.serve(words[1])
        case ("typed-server", 2): try await TypedServer.serve(words[1])
        case ("raw", 3), ("typed", 3):
            guard let inFlight = Int(words[1]), (1...64).contains(inFlight), let seconds = Double(words[2]), seconds > 0
            else { usage() }
            let server = try Server(kind: words[0])
            let figures =
                words[0] == "raw"
                ? try RawEcho.call(server.endpoint, inFlight: inFlight, seconds: seconds)
                : try await TypedClient.call(server.endpoint, inFlight: inFlight, seconds: seconds)
            server.stop()
            print(figures.line)
        default: usage()
        }
    }

    private static func usage() -> Never {
        print("usage: bus-bench raw|typed IN_FLIGHT(1…64) SECONDS")
        exit(64)
    }
}

struct BenchFailure: Error, CustomStringConvertible { let description: String }

/// The process that answers, gone with this one.
private struct Server {
    let endpoint: String
    private let process: pid_t

    init(kind: String) throws {
        let path = "/tmp/bus-bench-\(getpid()).sock"
        unlink(path)
        endpoint = "ipc://\(path)"
        let command: [String] = ["/proc/self/exe", "\(kind)-server", endpoint]
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, "/proc/self/exe", nil, nil, &words, environ) == 0 else {
            throw BenchFailure(description: "the answering process cannot be started")
        }
        self.process = process
        while access(path, F_OK) != 0 {
            guard waitpid(process, nil, WNOHANG) == 0 else {
                throw BenchFailure(description: "the answering process ended")
            }
            usleep(1000)
        }
    }

    func stop() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        unlink(String(endpoint.dropFirst("ipc://".count)))
    }
}

/// What a run saw.
struct Figures {
    /// Nanoseconds of each call.
    var latencies: [UInt64]
    var seconds: Double

    var line: String {
        let sorted = latencies.sorted()
        func percentile(_ share: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
        }
        let rate = Double(sorted.count) / seconds
        return String(format: "%.0f %.2f %.2f", rate, percentile(0.5), percentile(0.99))
    }
}

/// The call that is measured: a question of auth to profile, as at each sign-in.
enum Sample {
    static let request = GetOnboarding(personID: .random())
    static let reply = OnboardingState(onboardingStatus: "questionnaire_pending")
}
