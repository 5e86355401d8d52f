import BusProtocol
import BusRuntime
import Foundation

/// The keys of the bus on disk: a secret key for each program and for operators, and the list of allowed public keys.
///
/// The list has its own folder, so that a container can mount only that folder, and still sees a new list.
struct BusKeyFolder {
    let path: String

    /// The names of all programs, and that of the operator.
    static let names = LocalSystem.programs.keys.sorted() + [ServiceName.operator.rawValue]

    var list: String { "\(path)/bus/allowed" }
    func secret(of name: String) -> String { "\(path)/\(name)-bus-key" }

    /// Makes the missing keys. Existing keys stay as they are.
    ///
    /// - Returns: the names of the programs that got a key.
    @discardableResult
    func makeMissing() throws -> [String] {
        do {
            try FileManager.default.createDirectory(
                atPath: "\(path)/bus", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw CommandError("\(path)/bus cannot be made", code: 73)
        }
        let missing = Self.names.filter { access(secret(of: $0), F_OK) != 0 }
        for name in missing { try renew(name) }
        return missing
    }

    /// Gives a program a new key. The old one stays allowed until it is revoked.
    ///
    /// - Returns: the new public key.
    @discardableResult
    func renew(_ name: String) throws -> BusKey {
        let key = try BusKey.newSecret()
        let publicKey = try key.publicKey()
        // The list comes first, so that a program with the new key can connect at once.
        try change { $0 + ["\(name) \(publicKey.base64)"] }
        // The new file keeps the mode of the old one, since an operator may have let a container's user read it.
        var old = stat()
        let mode = stat(secret(of: name), &old) == 0 ? old.st_mode & 0o777 : 0o400
        try StateFolder.write(key.base64 + "\n", to: secret(of: name), mode: mode)
        return publicKey
    }

    /// The lines of the list with its comments; none if there is no list yet.
    func lines() throws -> [String] {
        guard access(list, F_OK) == 0 else { return [] }
        guard let text = try? String(contentsOfFile: list, encoding: .utf8) else {
            throw CommandError("\(list) cannot be read", code: 73)
        }
        return text.split(separator: "\n").map { String($0) }
    }

    /// The allowed keys in the list, each with the name of its program.
    func allowed() throws -> [(name: String, key: String)] {
        try lines().compactMap { line in
            let words = line.split(separator: " ").map { String($0) }
            return words.count == 2 && !line.hasPrefix("#") ? (words[0], words[1]) : nil
        }
    }

    /// Replaces the whole list at once, so that no program reads half of it. Another command waits for the end of the
    /// change, so that neither writes back what the other removed.
    func change(_ change: ([String]) throws -> [String]) throws {
        let lock = open("\(path)/bus", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw CommandError("\(path)/bus cannot be locked", code: 73) }
        defer { close(lock) }
        let text = try change(lines()).joined(separator: "\n") + "\n"
        do {
            _ = try AllowList(text)
        } catch {
            throw CommandError("\(list): \(error.description)", code: 65)
        }
        try StateFolder.write(text, to: list, mode: 0o644)
    }
}
