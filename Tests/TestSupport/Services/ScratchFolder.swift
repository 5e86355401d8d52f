import Foundation

/// A folder that goes with its last user.
public final class ScratchFolder: Sendable {
    public let path: String

    /// Where databases of tests lie: in memory where there is room, since most of what a new database costs is making its files.
    public static let roomy: String = {
        let (memory, disk) = ("/dev/shm", "/tmp")
        let free = try? FileManager.default.attributesOfFileSystem(forPath: memory)[.systemFreeSize] as? NSNumber
        return (free?.int64Value ?? 0) >= 4 << 30 && access(memory, W_OK | X_OK) == 0 ? memory : disk
    }()

    public init() throws {
        // Short: the path of a socket has little room.
        path = "/tmp/vs-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
