import Foundation
import JSONText
import Testing

/// The released bodies under `Fixtures/`, a folder that only grows: a version-1 fixture is never edited.
///
/// `VESTIBULE_RECORD_FIXTURES=1` writes those that are missing from the contracts' samples; it overwrites none.
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

    /// `request.canonical`, `error.not_found` and the like: whatever lies in the folder.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .map { String($0.dropLast(".json".count)) }
    }

    /// `auth.send-otp/v1` and the like, for every folder that was released.
    static func folders() throws -> Set<String> {
        let manager = FileManager.default
        var found: Set<String> = []
        guard manager.fileExists(atPath: root.path) else { return found }
        for type in try manager.contentsOfDirectory(atPath: root.path) {
            for version in try manager.contentsOfDirectory(atPath: root.appending(path: type).path) {
                found.insert("\(type)/\(version)")
            }
        }
        return found
    }
}
