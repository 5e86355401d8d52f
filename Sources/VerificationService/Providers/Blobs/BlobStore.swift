import EventLoop
import Foundation
import Values

/// Keeps the encrypted bytes of pictures by their names. A change is durable when the call returns.
@Loop protocol BlobStore: Sendable {
    func put(_ bytes: [UInt8], _ name: BlobName) async throws
    /// The bytes; `nil` if there are none.
    func get(_ name: BlobName) async throws -> [UInt8]?
    /// Removes the bytes. It is no error if there are none.
    func delete(_ name: BlobName) async throws
    /// Passes the IDs of pictures with bytes that were put before a time, some at a time.
    func list(before time: Date, _ some: @Loop ([Identifier]) async throws -> Void) async throws
    /// The identity of the database whose pictures these are; empty where none was set yet.
    func home() async throws -> [UInt8]
    func setHome(_ identity: [UInt8]) async throws
}

extension MediaFolder: BlobStore {
    func put(_ bytes: [UInt8], _ name: BlobName) async throws { try await Loop.offload { try write(bytes, name) } }
    func get(_ name: BlobName) async throws -> [UInt8]? { try await Loop.offload { try read(name) } }
    func delete(_ name: BlobName) async throws { try await Loop.offload { try remove(name) } }

    func list(before time: Date, _ some: @Loop ([Identifier]) async throws -> Void) async throws {
        for part in try await Loop.offload({ parts() }) {
            let found = try await Loop.offload { files(in: part, before: time) }
            if !found.isEmpty { try await some(found) }
        }
    }

    func home() async throws -> [UInt8] {
        try await Loop.offload {
            try makeFolder()
            return [UInt8](FileManager.default.contents(atPath: "\(path)/database") ?? Data())
        }
    }

    func setHome(_ identity: [UInt8]) async throws {
        try await Loop.offload { try Data(identity).write(to: URL(filePath: "\(path)/database"), options: .atomic) }
    }
}
