import BusProtocol
import BusRuntime
import EventLoop
import Foundation

/// Measures bus calls between two processes, sign-ins at a running system (``SignIns``), and the coding of messages
/// (``Coding``).
///
/// `bus-bench raw|typed|keyed IN_FLIGHT SECONDS` measures bus calls. `raw` is libzmq alone with the bytes of the typed
/// call, so it is the lower limit. `keyed` is the typed call with keys, as in a system. Each starts a second process
/// that answers, and prints a line: calls a second, p50 and p99 in microseconds.
///
/// `bus-bench storm COUNT` makes that many calls at once. It prints the number of answered calls, the seconds until all
/// calls had ended, and the additional MiB of the calling process.
@main enum BusBench {
    static func main() async {
        do { try await run(Array(CommandLine.arguments.dropFirst())) } catch {
            FileHandle.standardError.write(Data("bus-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ words: [String]) async throws {
        switch (words.first, words.count) {
        case ("raw-server", 2): RawEcho.serve(words[1])
        case ("typed-server", 2): try await TypedServer.serve(words[1], nil)
        case ("keyed-server", 2): try await TypedServer.serve(words[1], KeyFolder(beside: words[1]).security("profile"))
        case ("raw", 3), ("typed", 3), ("keyed", 3):
            guard let inFlight = Int(words[1]), (1...64).contains(inFlight), let seconds = Double(words[2]), seconds > 0
            else { usage() }
            let server = try Server(kind: words[0])
            defer { server.stop() }
            let security = words[0] == "keyed" ? try await KeyFolder(beside: server.endpoint).security("auth") : nil
            let figures =
                words[0] == "raw"
                ? try RawEcho.call(server.endpoint, inFlight: inFlight, seconds: seconds)
                : try await TypedClient.call(server.endpoint, security, inFlight: inFlight, seconds: seconds)
            print(figures.line)
        case ("storm", 2):
            guard let count = Int(words[1]), count > 0 else { usage() }
            let server = try Server(kind: "typed")
            defer { server.stop() }
            print(try await TypedClient.storm(server.endpoint, count: count))
        case ("coding", 1): try Coding.run()
        case ("sign-ins", 3):
            guard let first = Int(words[1]), let seconds = Double(words[2]), seconds > 0 else { usage() }
            try await SignIns.run(
                first: first, seconds: seconds, environment: ProcessInfo.processInfo.environment)
        default: usage()
        }
    }

    private static func usage() -> Never {
        print("usage: bus-bench raw|typed|keyed IN_FLIGHT(1…64) SECONDS, storm COUNT, sign-ins FIRST_NUMBER SECONDS,")
        print("       or coding")
        exit(64)
    }
}

struct BenchFailure: Error, CustomStringConvertible { let description: String }

/// The process that answers. It ends with this one.
private struct Server {
    let endpoint: String
    private let process: pid_t

    init(kind: String) throws {
        let path = "/tmp/bus-bench-\(getpid()).sock"
        unlink(path)
        endpoint = "ipc://\(path)"
        if kind == "keyed" { try KeyFolder(beside: endpoint).make() }
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
        KeyFolder(beside: endpoint).remove()
    }
}

/// The keys of both sides, in files beside the socket. The files are deleted after the run.
private struct KeyFolder {
    private let path: String

    init(beside endpoint: String) { path = endpoint.dropFirst("ipc://".count) + ".keys" }

    func make() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var list = ""
        for name in ["auth", "profile"] {
            let key = try BusKey.newSecret()
            try key.base64.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
            list += "\(name) \(try key.publicKey().base64)\n"
        }
        try list.write(toFile: "\(path)/allowed", atomically: false, encoding: .utf8)
    }

    @Loop func security(_ name: String) throws -> BusSecurity {
        try BusSecurity(
            secret: String(contentsOfFile: "\(path)/\(name)", encoding: .utf8), allowList: "\(path)/allowed")
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// The measurements of a run.
struct Figures {
    /// The nanoseconds of each call.
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

/// The measured call, which auth makes to profile at each sign-in.
enum Sample {
    static let request = GetOnboarding(personID: .random())
    static let reply = OnboardingState(onboardingStatus: "questionnaire_pending")
}
