import Foundation

/// A folder that goes with its last user.
public final class ScratchFolder: Sendable {
    public let path: String

    public init() throws {
        // Short: the path of a socket has little room.
        path = "/tmp/vs-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
