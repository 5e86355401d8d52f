import BusProtocol
import Cryptography
import Database
import EventLoop
import Foundation
import JSONText

/// The anchors of a service outside of its database: a JSON object a line for each run, in a file that is only added to.
struct AuditAnchorFile: Sendable {
    let path: String

    /// - Returns: `nil` where the configuration names no folder.
    init?(_ definition: ServiceDefinition, _ configuration: Configuration) {
        guard let folder = configuration.optionalText("AUDIT_ANCHOR_FOLDER") else { return nil }
        path = "\(folder)/\(definition.name).jsonl"
    }

    /// What the file has, and the numbers of the lines that are no anchors; nothing where there is none yet.
    func read() -> (runs: [AuditAnchorRun], unreadable: [Int]) {
        guard let bytes = FileManager.default.contents(atPath: path) else { return ([], []) }
        var (runs, unreadable) = ([AuditAnchorRun](), [Int]())
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            if let value = try? JSONValue.parse(Array(line)), let run = AuditAnchorRun(line: value) {
                runs.append(run)
            } else {
                unreadable.append(index + 1)
            }
        }
        return (runs, unreadable)
    }

    /// Adds what the file does not have yet. Replicas of one machine share it, and each waits for the other here.
    ///
    /// - Parameter newer: the runs behind one.
    func catchUp(_ newer: @escaping @Loop @Sendable (Int64) async throws -> [AuditAnchorRun]) async throws {
        let lock = try await Loop.offload { try self.lock() }
        defer { close(lock) }
        let last = try await Loop.offload { read().runs.map(\.run).max() ?? 0 }
        let missing = try await newer(last)
        guard !missing.isEmpty else { return }
        let text = missing.flatMap { CanonicalJSON.bytes(of: $0.line) + [UInt8(ascii: "\n")] }
        try await Loop.offload {
            let before = lseek(lock, 0, SEEK_END)
            guard before >= 0, write(lock, text, text.count) == text.count, fsync(lock) == 0 else {
                // Half a line would make the file unreadable for good.
                if before >= 0 { ftruncate(lock, before) }
                throw ConfigurationError("\(path) cannot be written")
            }
        }
    }

    private func lock() throws(ConfigurationError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ConfigurationError("\(path) cannot be written") }
        flock(descriptor, LOCK_EX)
        return descriptor
    }
}

extension AuditAnchorRun {
    fileprivate var line: JSONValue {
        [
            "run": .integer(run), "at": .string(at.description), "keyId": .string(keyID),
            "code": .string(Hex.encode(code)),
        ]
    }

    fileprivate init?(line: JSONValue) {
        guard let run = line["run"]?.integerValue, let at = line["at"]?.stringValue.flatMap({ Timestamp($0) }),
            let keyID = line["keyId"]?.stringValue, let code = line["code"]?.stringValue.flatMap({ Hex.decode($0) })
        else { return nil }
        self.init(run: run, at: at, keyID: keyID, code: code)
    }
}
