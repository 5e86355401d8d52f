import Foundation
import JSONText

enum DownCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"])
        let state = try StateFolder(arguments["--state"], create: false)
        guard let run = RunFile(state) else {
            // If the supervisor was killed, the services ended with it, but the database did not.
            if FileManager.default.fileExists(atPath: state.sockets), let lock = try? state.lock() {
                defer { close(lock) }
                try PostgresServer(state).stop()
            }
            guard !state.isInUse else {
                throw CommandError(
                    "a system is starting from \(state.path), or a command works on its tables: try again in a moment")
            }
            return say("Nothing runs from \(state.path).")
        }
        kill(run.process, SIGTERM)
        let end = Date().addingTimeInterval(30)
        while state.isInUse {
            guard Date() < end else {
                throw CommandError("process \(run.process) has not stopped: see vestibule logs supervisor")
            }
            usleep(20_000)
        }
        let postgres = try PostgresServer(state)
        guard !postgres.isRunning else { throw CommandError("PostgreSQL has not stopped: see \(postgres.log)") }
        say("Stopped.")
    }
}

enum StatusCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state", "--http", "--within"], flags: ["--json", "--alive"])
        if let address = arguments["--http"] {
            guard !arguments.has("--alive") else { return try checkAlive(of: address) }
            let limit = arguments["--within"] ?? "0"
            guard let seconds = UInt32(limit) else {
                throw CommandError.usage("--within \(limit) is no number of seconds")
            }
            return try waitUntilReady(of: address, within: TimeInterval(seconds))
        }
        let state = try StateFolder(arguments["--state"], create: false)
        guard let run = RunFile(state) else { throw CommandError("nothing runs from \(state.path)", code: 3) }
        let system = try SystemInspector.look(state, run)
        if arguments.has("--json") {
            var value = run.value.objectValue ?? [:]
            value["ready"] = .bool(system.isReady)
            value["troubles"] = .array(system.troubles.map { .string($0) })
            value["processes"] = .array(system.processes.map(\.json))
            say(String(decoding: CanonicalJSON.bytes(of: .object(value)), as: UTF8.self))
        } else {
            say(system.page)
        }
        if !system.isReady { exit(1) }
    }

    /// Shows only whether the system is ready. Without a state folder, the command cannot find out more.
    private static func waitUntilReady(of address: String, within limit: TimeInterval) throws {
        let (client, end) = (try HTTPClient(address), Date().addingTimeInterval(limit))
        while true {
            let answer = try? client.send("GET", "/readyz")
            if answer?.status == 200 { return say("http://\(address) is ready") }
            guard Date() < end else {
                let why = answer?.body["detail"]?.stringValue.map { ": \($0)" } ?? ""
                throw CommandError("http://\(address) is not ready\(why)")
            }
            usleep(100_000)
        }
    }

    private static func checkAlive(of address: String) throws {
        guard (try? HTTPClient(address).send("GET", "/healthz"))?.status == 200 else {
            throw CommandError("http://\(address) does not answer")
        }
        say("http://\(address) answers")
    }
}

enum SMSCommand {
    private static let commands = CommandGroup(name: "sms", usages: ["last PHONE"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(words, options: ["--state", "--spool"], mostWords: 2)
        guard arguments.rest.count == 2, arguments.rest[0] == "last" else {
            throw commands.misuse(of: arguments.rest.first)
        }
        let digits = arguments.rest[1].filter(\.isNumber)
        try sayLast(in: "sms.jsonl", to: "+\(digits)", "SMS", arguments)
    }

    /// Prints the last message to a contact from a file of the spool.
    fileprivate static func sayLast(in file: String, to contact: String, _ name: String, _ arguments: Arguments) throws
    {
        let spool = try arguments["--spool"] ?? StateFolder(arguments["--state"], create: false).spool
        let last = Spool(file: "\(spool)/\(file)").lines().last { $0["to"]?.stringValue == contact }
        guard let body = last?["body"]?.stringValue else {
            throw CommandError("there is no \(name) to \(contact) in \(spool)/\(file): is --state right?")
        }
        say(body)
    }
}

enum EmailCommand {
    private static let commands = CommandGroup(name: "email", usages: ["last ADDRESS"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(words, options: ["--state", "--spool"], mostWords: 2)
        guard arguments.rest.count == 2, arguments.rest[0] == "last" else {
            throw commands.misuse(of: arguments.rest.first)
        }
        try SMSCommand.sayLast(in: "email.jsonl", to: arguments.rest[1], "email", arguments)
    }
}

enum ConfigCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, flags: ["--json"])
        var variables: [String: JSONValue] = [:]
        for described in Array(LocalSystem.programs.keys).together({ try LocalSystem.describedVariables(of: $0) }) {
            for variable in try described.get() { variables[variable["name"]?.stringValue ?? ""] = variable }
        }
        let sorted = variables.sorted { $0.key < $1.key }.map(\.value)
        if arguments.has("--json") {
            return say(String(decoding: CanonicalJSON.bytes(of: .array(sorted)), as: UTF8.self))
        }
        for variable in sorted {
            let name = variable["name"]?.stringValue ?? ""
            let fallback = (variable["default"]?.stringValue ?? "-").padding(toLength: 16, withPad: " ", startingAt: 0)
            let kind = (variable["type"]?.stringValue ?? "") + (variable["secret"] == true ? ", or \(name)_FILE" : "")
            let column = name.padding(toLength: 34, withPad: " ", startingAt: 0)
            say("\(column)\(fallback)\(variable["note"]?.stringValue ?? "") (\(kind))")
        }
    }
}
