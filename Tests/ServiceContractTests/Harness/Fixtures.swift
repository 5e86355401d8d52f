import BusProtocol
import Foundation
import JSONText
import Testing

/// The released bodies under `Fixtures/`. The folder only grows, and a fixture of version 1 is never edited.
///
/// `make contract` writes the missing fixtures of a message from the samples of its contract. It overwrites none.
enum Fixtures {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    static let isRecording = ProcessInfo.processInfo.environment["VESTIBULE_RECORD_FIXTURES"] == "1"

    /// The bytes of `folder/name.json`.
    static func bytes(_ folder: String, _ name: String, recording sample: some Encodable) throws -> [UInt8] {
        let file = root.appending(path: folder).appending(path: "\(name).json")
        if isRecording, !FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(WireJSON.encode(sample)).write(to: file)
        }
        return try bytes(folder, name)
    }

    static func bytes(_ folder: String, _ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: root.appending(path: folder).appending(path: "\(name).json")))
    }

    /// The released states of a schema, the oldest first.
    static func schemas(of folder: String, recording current: JSONValue) throws -> [JSONValue] {
        func file(_ number: Int) -> URL { root.appending(path: folder).appending(path: "schema.\(number).json") }
        var recorded: [JSONValue] = []
        while let data = try? Data(contentsOf: file(recorded.count + 1)) {
            recorded.append(try JSONValue.parse(Array(data)))
        }
        if isRecording, recorded.last != current {
            try Data(PrettyJSON.text(of: current).utf8).write(to: file(recorded.count + 1))
            recorded.append(current)
        }
        return recorded
    }

    /// The released states of an error's sample, the oldest first: `error.not_found`, `error.not_found.2` and so on.
    /// Each state is stored as its bytes.
    static func errors(_ folder: String, _ sample: BusError) throws -> [BusError] {
        func name(_ number: Int) -> String { "error.\(sample.code)" + (number == 1 ? "" : ".\(number)") }
        var states: [BusError] = []
        while let bytes = try? bytes(folder, name(states.count + 1)) {
            states.append(try WireJSON.decode(BusError.self, from: bytes))
            #expect(try WireJSON.encode(states[states.count - 1]) == bytes, "\(name(states.count))")
        }
        if isRecording, states.last != sample {
            states.append(sample)
            _ = try bytes(folder, name(states.count), recording: sample)
        }
        return states
    }

    /// The released routes, one per line: method, path, status, message, and whether the answer hides its time.
    static func routes(recording current: [String]) throws -> [String] {
        let file = root.appending(path: "routes.txt")
        let released = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        guard isRecording else { return released }
        // A released route without a message, which no service answered yet, may get a message. Any route may begin to
        // hide its time.
        let waiting = released.filter { route in current.contains { $0.hasPrefix("\(route) ") } }
        let all = Set(released).subtracting(waiting).union(current).sorted()
        try Data((all.joined(separator: "\n") + "\n").utf8).write(to: file)
        return all
    }

    /// The names of all fixtures in a folder, such as `request.canonical` and `error.not_found`.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .map { String($0.dropLast(".json".count)) }
    }

    /// The folders of all released messages, such as `auth.send-otp/v1`.
    static func folders() throws -> Set<String> {
        let manager = FileManager.default
        var found: Set<String> = []
        guard manager.fileExists(atPath: root.path) else { return found }
        for type in try manager.contentsOfDirectory(atPath: root.path) where !type.hasSuffix(".txt") {
            for version in try manager.contentsOfDirectory(atPath: root.appending(path: type).path) {
                found.insert("\(type)/\(version)")
            }
        }
        return found
    }
}
