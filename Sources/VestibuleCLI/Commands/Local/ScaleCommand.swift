import Foundation
import JSONText

/// `vestibule scale auth=3`: changes how many replicas of a service run.
enum ScaleCommand {
    /// How many seconds new replicas may take to become ready, and old ones to end.
    private static let patience: TimeInterval = 60

    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], mostWords: 1)
        guard let text = arguments.rest.first else { throw CommandError.usage("expected vestibule scale auth=2,…") }
        let scale = try UpCommand.parseScale(text)
        let state = try StateFolder(arguments["--state"], create: false)
        guard let run = RunFile(state) else { throw CommandError("nothing runs from \(state.path)", code: 3) }
        // The signal would end a supervisor of a release that does not handle it.
        guard run.value["takesScale"] == true else {
            throw CommandError(
                "the running release cannot change its scale: run vestibule down, then vestibule up --scale")
        }
        try ScaleRequest.write(scale, state)
        kill(run.process, SIGUSR1)
        let end = Date().addingTimeInterval(patience)
        while try !isReached(scale, state) {
            guard Date() < end else {
                throw CommandError.unavailable("not every replica is ready: see vestibule status, and vestibule logs")
            }
            usleep(100_000)
        }
        if let run = RunFile(state) { say(try SystemInspector.look(state, run).page) }
    }

    private static func isReached(_ scale: [String: Int], _ state: StateFolder) throws -> Bool {
        guard let run = RunFile(state) else {
            throw CommandError("the system has ended: see vestibule logs supervisor")
        }
        let system = try SystemInspector.look(state, run)
        return scale.allSatisfy { service, count in
            let replicas = system.replicas(of: service)
            return replicas.count == count && replicas.allSatisfy(\.isReady)
        }
    }
}

/// The scale that a command asks of the running system, in a file beside the run file.
enum ScaleRequest {
    private static func file(_ state: StateFolder) -> String { "\(state.path)/scale.json" }

    static func write(_ scale: [String: Int], _ state: StateFolder) throws {
        let value = JSONValue.object(scale.mapValues { .integer(Int64($0)) })
        try StateFolder.write(
            String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self), to: file(state), mode: 0o600)
    }

    /// - Throws: ``CommandError`` if the file has no valid scale.
    static func read(_ state: StateFolder) throws -> [String: Int] {
        let bytes = [UInt8](FileManager.default.contents(atPath: file(state)) ?? Data())
        let members = (try? JSONValue.parse(bytes))?.objectValue ?? [:]
        return try UpCommand.parseScale(
            members.map { "\($0.key)=\($0.value.integerValue ?? 0)" }.joined(separator: ","))
    }
}
