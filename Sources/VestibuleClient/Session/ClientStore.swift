import Foundation

/// Keeps a few small items on the device: the session, and the answers that wait to be sent.
///
/// A write returns only when the item would survive the end of the app.
public protocol ClientStore: Sendable {
    /// The item of a name; `nil` if there is none.
    ///
    /// - Throws: any error if the item cannot be read now. The item may exist then.
    func read(_ name: String) throws -> Data?
    /// Replaces an item, or removes it with `nil`. If it fails, the item does not change.
    func write(_ item: Data?, as name: String) throws
}

/// Keeps items until the app ends: for tests and for tools.
public final class MemoryStore: ClientStore, @unchecked Sendable {
    // `lock` protects `items`.
    private let lock = NSLock()
    private var items: [String: Data] = [:]

    /// An empty store.
    public init() {}

    public func read(_ name: String) -> Data? { lock.withLock { items[name] } }
    public func write(_ item: Data?, as name: String) { lock.withLock { items[name] = item } }
}

/// Keeps each item in a file of its own, which only the user of the process may read (mode 0600). A file is replaced as a whole.
///
/// On iOS a folder in Application Support is right. Exclude it from backups, since tokens must not go to another device.
public struct FileStore: ClientStore {
    private let folder: URL

    /// - Parameter folder: made at the first write, for its user alone (mode 0700).
    public init(folder: URL) { self.folder = folder }

    public func read(_ name: String) throws -> Data? {
        do {
            return try Data(contentsOf: file(name))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        }
    }

    public func write(_ item: Data?, as name: String) throws {
        guard let item else {
            guard unlink(file(name).path) == 0 || errno == ENOENT else { throw FileStoreError(errno: errno) }
            return
        }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let whole = file("\(name).new").path
        try Self.fill(whole, with: item)
        guard rename(whole, file(name).path) == 0 else { throw FileStoreError(errno: errno) }
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name, isDirectory: false) }

    /// Writes a file of mode 0600 through to the disk.
    private static func fill(_ path: String, with bytes: Data) throws {
        // A file that a killed app left there may have other permissions.
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw FileStoreError(errno: errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: bytes)
        try handle.synchronize()
    }
}

/// Why the system could not write a file.
public struct FileStoreError: Error, Equatable {
    /// The system's number of the error.
    public let errno: Int32
}
