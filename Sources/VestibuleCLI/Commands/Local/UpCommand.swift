import Foundation

enum UpCommand {
    static let defaultAddress = "127.0.0.1:8080"
    /// The most replicas of one service.
    static let mostReplicas = 16

    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(
            words, options: ["--state", "--http", "--scale", "--hang-after"], flags: ["--detach"])
        let state = try StateFolder(arguments["--state"])
        let address = arguments["--http"] ?? defaultAddress
        let scale = try parseScale(arguments["--scale"])
        let patience = try parsePatience(arguments["--hang-after"])
        if arguments.has("--detach") { return try detach(state, address, arguments) }
        let started = Date()
        let system = LocalSystem(state: state, address: address, scale: scale, hangs: HangWatch(patience: patience))
        try system.start()
        printReady(state, address, Date().timeIntervalSince(started))
        say("\nCtrl-C stops everything.")
        system.run()
        say("\nStopping.")
        system.stop()
    }

    /// Reads a scale such as `auth=2,profile=3`.
    static func parseScale(_ text: String?) throws -> [String: Int] {
        var scale: [String: Int] = [:]
        for part in (text ?? "").split(separator: ",") {
            let sides = part.split(separator: "=")
            guard sides.count == 2, StateFolder.services.contains(String(sides[0])), let count = Int(sides[1]),
                (1...mostReplicas).contains(count)
            else {
                throw CommandError.usage(
                    "a scale is SERVICE=1…\(mostReplicas) of \(StateFolder.services.joined(separator: ", ")), not \(part)"
                )
            }
            scale[String(sides[0])] = count
        }
        return scale
    }

    /// Seconds, 1 to 3600.
    private static func parsePatience(_ text: String?) throws -> TimeInterval {
        guard let seconds = Int(text ?? "12"), (1...3600).contains(seconds) else {
            throw CommandError.usage("--hang-after takes 1 to 3600 seconds, not \(text ?? "")")
        }
        return TimeInterval(seconds)
    }

    /// Starts the same command in the background. Returns when the system is ready or has failed.
    private static func detach(_ state: StateFolder, _ address: String, _ arguments: Arguments) throws {
        let started = Date()
        // Fails if a system runs, before the code below replaces its log.
        close(try state.lock())
        let log = state.log("supervisor")
        unlink(log)
        var words = [LocalSystem.binary("vestibule"), "up", "--state", state.path, "--http", address]
        for option in ["--scale", "--hang-after"] {
            if let value = arguments[option] { words += [option, value] }
        }
        let process = try Subprocess.start(
            words, environment: ProcessInfo.processInfo.environment, output: log, newSession: true)
        while true {
            var status: Int32 = 0
            if waitpid(process, &status, WNOHANG) == process {
                let line = (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").last.map(
                    String.init)
                throw CommandError(
                    line?.replacing("vestibule: ", with: "") ?? "the system did not start",
                    code: Subprocess.exitCode(of: status) ?? 1)
            }
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            if text.contains("Ctrl-C stops everything.") { break }
            usleep(20_000)
        }
        printReady(state, address, Date().timeIntervalSince(started))
        say("\nIt runs in the background. To stop it: vestibule down --state \(state.path)")
    }

    private static func printReady(_ state: StateFolder, _ address: String, _ seconds: Double) {
        say("Vestibule is ready at http://\(address) (\(String(format: "%.1f", seconds)) s)\n")
        if let run = RunFile(state) { say(run.table) }
        let overridden = LocalSystem.ownVariables.intersection(ProcessInfo.processInfo.environment.keys).sorted()
        if !overridden.isEmpty {
            say("\nup replaces these variables of the environment: \(overridden.joined(separator: ", "))")
        }
        say(
            """

            Try it:
              http://\(address)/app/ in a browser
              curl -s http://\(address)/readyz
              curl -s http://\(address)/auth/otp/send -H 'Content-Type: application/json' -d '{"phone":"+14155550123"}'
              curl -s http://\(address)/openapi.json
            """)
    }
}
