import EventLoop
import Foundation
import VestibuleClient

enum DemoCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state", "--http", "--spool", "--plan", "--uploads"])
        @Sendable func demo(_ address: String, _ spool: String, _ issuer: DemoIssuer? = nil) async throws {
            let client = try HTTPClient(address)
            // This reports a wrong address at once. Later, the demo waits if a service does not answer for a while.
            _ = try await Loop.offload { try client.send("GET", "/healthz") }
            let uploads = try arguments["--uploads"].map { try HTTPClient($0) }
            do {
                guard let plan = arguments["--plan"] else {
                    return try await Demo(client: client, spool: spool, uploads: uploads).run()
                }
                try await PlanDemo(client: client, spool: spool, plan: plan, uploads: uploads, issuer: issuer).run()
            } catch VestibuleError.noAnswer(let error) {
                throw error
            } catch VestibuleError.problem(let problem) {
                throw CommandError("the server answered \(problem.status): \(problem.detail)")
            }
        }
        if let spool = arguments["--spool"] {
            let address = arguments["--http"] ?? UpCommand.defaultAddress
            return try BusCommand.waiting { try await demo(address, spool) }
        }
        let state = try StateFolder(arguments["--state"])
        if let running = RunFile(state) {
            let address = arguments["--http"] ?? running.address
            return try BusCommand.waiting { try await demo(address, state.spool) }
        }
        let address = arguments["--http"] ?? UpCommand.defaultAddress
        say("No system runs from \(state.path). Starting one.\n")
        // A development system that ends with the demo may trust the demo's own issuer, and no other system may.
        let issuer = arguments["--plan"] != nil && LocalSystem.profile == "development" ? try DemoIssuer() : nil
        let system = LocalSystem(state: state, address: address, variables: issuer?.variables ?? [:])
        try system.start()
        defer { system.stop() }
        try supervise(system) { try await demo(address, state.spool, issuer) }
    }

    /// Runs the demo on the loop while this thread supervises the system.
    private static func supervise(_ system: LocalSystem, _ body: @escaping @Sendable () async throws -> Void) throws {
        let outcome = DemoOutcome()
        Loop.spawn {
            do { outcome.finish(.success(try await body())) } catch { outcome.finish(.failure(error)) }
        }
        while outcome.result == nil { guard system.turn() else { throw CommandError("interrupted", code: 130) } }
        try outcome.result?.get()
    }
}

/// The result of the demo, passed from the loop to the supervising thread.
private final class DemoOutcome: @unchecked Sendable {
    // `lock` protects `value`.
    private let lock = NSLock()
    private var value: Result<Void, any Error>?

    var result: Result<Void, any Error>? { lock.withLock { value } }
    func finish(_ result: Result<Void, any Error>) { lock.withLock { value = result } }
}
