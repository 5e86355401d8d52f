import Foundation

/// A folder that is removed with its last user.
package final class ScratchFolder: Sendable {
    package let path: String

    /// The folder for test databases. It is in memory if there is room, because creating files takes most of the time
    /// of a new database.
    package static let roomy: String = {
        let (memory, disk) = ("/dev/shm", "/tmp")
        let free = try? FileManager.default.attributesOfFileSystem(forPath: memory)[.systemFreeSize] as? NSNumber
        return (free?.int64Value ?? 0) >= 4 << 30 && access(memory, W_OK | X_OK) == 0 ? memory : disk
    }()

    package init() throws {
        // The path of a socket must be short, so the name is short.
        path = "/tmp/vs-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
