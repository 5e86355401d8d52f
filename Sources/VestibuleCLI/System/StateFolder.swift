import BusProtocol
import Cryptography
import Foundation
import JSONText

/// The folder of one local system: keys, passwords, logs and spools. Its sockets are in a folder with a shorter name.
struct StateFolder {
    let path: String
    /// The paths of sockets must be short. So they are in a private folder under /tmp whose name is a hash of `path`.
    let sockets: String

    static let services = ServiceName.services.map(\.rawValue)

    /// - Throws: ``CommandError`` if the folder cannot be used.
    init(_ given: String?, create: Bool = true) throws {
        let path = URL(filePath: given ?? ".vestibule").standardizedFileURL.path
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        sockets = "/tmp/vestibule-\(getuid())-\(Hex.encode(SHA256.digest(Array(self.path.utf8)).prefix(5)))"
        if create { try Self.make(sockets) }
        try Self.refuseForeign(sockets)
        guard create else { return }
        for folder in [self.path, logs, spool, keys, audit, bus] { try Self.make(folder) }
        // The user of the database must pass through these folders to reach its own.
        for folder in [self.path, sockets] {
            var entry = stat()
            if stat(folder, &entry) == 0 { chmod(folder, entry.st_mode & 0o7777 | 0o011) }
        }
    }

    private static func make(_ folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError("the state folder cannot be used: \(folder) cannot be made", code: 73)
        }
        guard access(folder, W_OK | X_OK) == 0 else {
            throw CommandError("the state folder cannot be used: \(folder) is not writable", code: 73)
        }
    }

    /// Anybody can guess names under /tmp. In a folder of another user, that user's server would be taken for ours.
    static func refuseForeign(_ folder: String) throws {
        var entry = stat()
        guard lstat(folder, &entry) == 0, entry.st_uid != getuid() else { return }
        throw CommandError("the state folder cannot be used: \(folder) is somebody else's", code: 73)
    }

    var logs: String { "\(path)/logs" }
    var spool: String { "\(path)/spool" }
    var keys: String { "\(path)/keys" }
    /// The anchors of the audit trails.
    var audit: String { "\(path)/audit" }
    var bus: String { "\(sockets)/bus" }
    var runFile: String { "\(path)/run.json" }
    func log(_ name: String) -> String { "\(logs)/\(name).log" }
    func keyRing(_ service: String) -> String { "\(keys)/\(service).keys" }

    /// Whether a process holds the lock. The run file is no proof: its process id may belong to another process by now.
    var isInUse: Bool {
        let descriptor = open("\(path)/lock", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Takes the lock that keeps a second `up` from the folder. The kernel releases it when the process ends.
    func lock() throws -> Int32 {
        let descriptor = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError("the state folder cannot be used: no lock in \(path)", code: 73)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandError(
                "a system is running from \(path) already: see vestibule status, or stop it with vestibule down")
        }
        // A killed supervisor leaves its run file. The process ids in it may belong to others by now.
        unlink(runFile)
        return descriptor
    }

    /// Whether a service has or had data here: a service gets its key ring after its tables.
    func hasData(of service: String) -> Bool { FileManager.default.fileExists(atPath: keyRing(service)) }

    /// Makes the missing key rings. Only their owner can read them.
    func ensureKeys() throws {
        for service in Self.services where !hasData(of: service) {
            try Self.write(KeyRing.generate(id: "k1"), to: keyRing(service), mode: 0o400)
        }
    }

    /// The password of a database role. The first use makes it.
    func password(_ role: String) throws -> String {
        let file = "\(keys)/\(role).password"
        if let known = try? String(contentsOfFile: file, encoding: .utf8) { return known }
        let password = Base64URL.encode(RandomBytes.make(24))
        try Self.write(password, to: file, mode: 0o400)
        return password
    }

    /// Replaces a file at once, so that no program reads half of it.
    static func write(_ text: String, to file: String, mode: mode_t) throws {
        let bytes = Array(text.utf8)
        let temporary = "\(file).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        // `open` applies the umask, which may deny others what `mode` allows them.
        guard descriptor >= 0, fchmod(descriptor, mode) == 0,
            Glibc.write(descriptor, bytes, bytes.count) == bytes.count, close(descriptor) == 0,
            rename(temporary, file) == 0
        else { throw CommandError("\(file) cannot be written", code: 73) }
    }
}

extension String {
    /// The name of a service without hyphens, for its schema and its role in the database.
    var schemaName: String { ServiceName(rawValue: self).identifier }
    /// The prefix of a service's variables, without the underscore.
    var variablePrefix: String { schemaName.uppercased() }
}
