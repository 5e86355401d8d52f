import Cryptography
import EventLoop
import Glibc
import HTTPServer

/// The bytes of a picture that is still arriving and not yet checked. They are on the disk in a file without a name,
/// encrypted under a key that only this process has. Once the process has ended in any way, nobody can read them.
///
/// It blocks: call it off the loop.
final class PictureSpool: Sendable {
    private static let partLength = HTTPServer.partLength

    private let file: Int32
    private let key = RandomBytes.make(32)

    /// - Parameter file: an empty one. This object closes it.
    init(file: Int32) { self.file = file }

    /// Opens a new file.
    convenience init(in folder: String) throws {
        self.init(file: try Self.unnamed(in: folder) ?? Self.unlinked(in: folder))
    }

    /// Closing a large file may take some time, and the last owner of this object may be on the loop.
    deinit { Loop.spawn { [file] in try await Loop.offload { _ = close(file) } } }

    /// Keeps a part. All but the last have ``HTTPServer/partLength`` bytes.
    ///
    /// - Parameter number: counts the parts from 0.
    func write(_ part: [UInt8], number: Int) throws {
        try MediaFolder.write(
            AESGCM.seal(part, key: key, associated: Self.associated(number)), to: file, at: Self.place(of: number))
    }

    /// All parts together.
    ///
    /// - Parameter length: the length of all parts together.
    func read(_ length: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        var number = 0
        while bytes.count < length {
            let count = min(Self.partLength, length - bytes.count)
            let part = try MediaFolder.read(count + AESGCM.overhead, from: file, at: Self.place(of: number))
            bytes += try AESGCM.open(part, key: key, associated: Self.associated(number))
            number += 1
        }
        return bytes
    }

    private static func place(of number: Int) -> Int { number * (partLength + AESGCM.overhead) }

    /// The part's number is authenticated, so that no part can take the place of another.
    private static func associated(_ number: Int) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    // MARK: The file

    /// A file that never had a name; `nil` where the file system cannot make one, such as NFS.
    private static func unnamed(in folder: String) throws -> Int32? {
        // O_TMPFILE of Linux, which Swift does not import.
        let file = open(folder, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
        guard file < 0 else { return file }
        guard errno == EOPNOTSUPP else { throw MediaFolder.Failure("open") }
        return nil
    }

    /// A file that has lost its name.
    static func unlinked(in folder: String) throws -> Int32 {
        var path = Array("\(folder)/.arriving-\(String(repeating: "X", count: 6))".utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { throw MediaFolder.Failure("mkstemp") }
        guard unlink(path) == 0, fcntl(file, F_SETFD, FD_CLOEXEC) == 0 else {
            defer { close(file) }
            throw MediaFolder.Failure("unlink")
        }
        return file
    }
}
