import BusProtocol
import Cryptography
import Database
import EventLoop
import Foundation
import JSONText

/// The file with a service's audit anchors, outside the database. It has a line of JSON for each run. Programs only
/// append to it.
struct AuditAnchorFile: Sendable {
    let path: String

    /// Reads the anchors, and the numbers of the lines that are not anchors. Both are empty if there is no file.
    func read() -> (runs: [AuditAnchorRun], unreadable: [Int]) {
        // `FileManager.contents` of Swift 6.3 leaks 4 KB at each read of an empty file.
        guard let bytes = try? FileHandle(forReadingAtPath: path)?.readToEnd() else { return ([], []) }
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

    /// Appends the runs that the file does not have yet. Replicas on one machine share the file, so each locks it
    /// first.
    ///
    /// - Parameter newer: returns the runs after a run.
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
                // A partial line would stay unreadable, so remove it.
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

extension AuditAnchorFile {
    /// - Returns: `nil` if `AUDIT_ANCHOR_FOLDER` has no value.
    init?(_ definition: ServiceDefinition, _ configuration: Configuration) {
        guard let folder = configuration.optionalText("AUDIT_ANCHOR_FOLDER") else { return nil }
        self.init(path: "\(folder)/\(definition.name).jsonl")
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
