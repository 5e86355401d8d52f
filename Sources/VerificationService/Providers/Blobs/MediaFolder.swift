import BusProtocol
import Foundation

/// Files with the names of pictures, in 256 folders. A change is on the disk when the call returns.
///
/// It blocks: call it off the loop. Several replicas may share a folder.
struct MediaFolder: Sendable {
    /// Why a file could not be written, read or removed. It does not say which one.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: Int32
        var description: String { "\(call) failed: \(String(cString: strerror(code)))" }
    }

    let path: String

    func makeFolder() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The last digits of the ID are random. The first ones may be a time.
    private func part(of name: BlobName) -> String { "\(path)/\(name.media.description.suffix(2))" }

    func write(_ bytes: [UInt8], _ name: BlobName) throws {
        let part = part(of: name)
        if mkdir(part, 0o700) == 0 { try Self.sync(path) } else if errno != EEXIST { throw Failure("mkdir") }
        let (unfinished, finished) = ("\(part)/\(name).part", "\(part)/\(name)")
        let file = open(unfinished, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure("open") }
        defer { close(file) }
        // Another replica may make the same size of a photo. Nobody could open a mixture of the bytes of both. Some network
        // file systems have no locks, and are used without.
        guard flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw Failure("flock") }
        var (opened, named) = (stat(), stat())
        guard fstat(file, &opened) == 0, stat(unfinished, &named) == 0 else { throw Failure("stat") }
        // The other replica has finished meanwhile, so this is its file.
        guard opened.st_ino == named.st_ino else { throw Failure(call: "open", code: EBUSY) }
        guard ftruncate(file, 0) == 0 else { throw Failure("ftruncate") }
        try Self.write(bytes, to: file, at: 0)
        guard fsync(file) == 0 else { throw Failure("fsync") }
        guard rename(unfinished, finished) == 0 else { throw Failure("rename") }
        try Self.sync(part)
    }

    /// The bytes; `nil` if there is no such file.
    func read(_ name: BlobName) throws -> [UInt8]? {
        let file = open("\(part(of: name))/\(name)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw Failure("open") }
            return nil
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure("fstat") }
        return try Self.read(Int(status.st_size), from: file, at: 0)
    }

    static func write(_ bytes: [UInt8], to file: Int32, at place: Int) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress! + sent, $0.count - sent, place + sent) }
            guard count > 0 else { throw Failure("write") }
            sent += count
        }
    }

    static func read(_ length: Int, from file: Int32, at place: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        var have = 0
        while have < length {
            let count = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + have, $0.count - have, place + have)
            }
            guard count > 0 else { throw Failure("read") }
            have += count
        }
        return bytes
    }

    /// Removes the file and the remains of an interrupted write. It is no error if there is none.
    func remove(_ name: BlobName) throws {
        let part = part(of: name)
        var removed = false
        for file in ["\(part)/\(name)", "\(part)/\(name).part"] {
            if unlink(file) == 0 { removed = true } else if errno != ENOENT { throw Failure("unlink") }
        }
        if removed { try Self.sync(part) }
    }

    /// The names of the folders that have files.
    func parts() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// The IDs of the pictures with files in one folder that were written before a time.
    func files(in part: String, before time: Date) -> [Identifier] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(part)")) ?? []
        return names.compactMap { name in
            var status = stat()
            guard let id = BlobName.media(of: name),
                lstat("\(path)/\(part)/\(name)", &status) == 0,
                Double(status.st_mtim.tv_sec) < time.timeIntervalSince1970
            else { return nil }
            return id
        }
    }

    private static func sync(_ folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("open") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure("fsync") }
    }
}

extension MediaFolder.Failure {
    init(_ call: String) { self.init(call: call, code: errno) }
}
