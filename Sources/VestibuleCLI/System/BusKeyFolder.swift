import BusProtocol
import BusRuntime
import Foundation

/// The keys of the bus on disk: a secret key for each program and each operator, and the list of the public keys that may
/// speak. The list lies in a folder of its own, so that a container can be given it alone and see it replaced.
struct BusKeyFolder {
    let path: String

    /// Every program of the system, and the operator's tool.
    static let names = LocalSystem.programs.keys.sorted() + [ServiceName.operator.rawValue]

    var list: String { "\(path)/bus/allowed" }
    func secret(of name: String) -> String { "\(path)/\(name)-bus-key" }

    /// Makes what is missing; what is there stays as it is.
    ///
    /// - Returns: the names of those that got a key now.
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
        // First the list: a program that has the key already must be let in.
        try write(lines() + ["\(name) \(publicKey.base64)"])
        // Who was let read the old one, a container's own user say, has to read the new one.
        var old = stat()
        let mode = stat(secret(of: name), &old) == 0 ? old.st_mode & 0o777 : 0o400
        try StateFolder.write(key.base64 + "\n", to: secret(of: name), mode: mode)
        return publicKey
    }

    /// The lines of the list, comments and all; none where there is no list yet.
    func lines() throws -> [String] {
        guard access(list, F_OK) == 0 else { return [] }
        guard let text = try? String(contentsOfFile: list, encoding: .utf8) else {
            throw CommandError("\(list) cannot be read", code: 73)
        }
        return text.split(separator: "\n").map { String($0) }
    }

    /// Name and public key of everybody who may speak, as the list says.
    func allowed() throws -> [(name: String, key: String)] {
        try lines().compactMap { line in
            let words = line.split(separator: " ").map { String($0) }
            return words.count == 2 && !line.hasPrefix("#") ? (words[0], words[1]) : nil
        }
    }

    /// Replaces the list as a whole, so that nobody reads half of it.
    func write(_ lines: [String]) throws {
        let text = lines.joined(separator: "\n") + "\n"
        do {
            _ = try AllowList(text)
        } catch {
            throw CommandError("\(list): \(error.description)", code: 65)
        }
        try StateFolder.write(text, to: list, mode: 0o644)
    }
}
