import BusProtocol
import EventLoop
import Foundation

/// The keys of one process: its own, and those that it accepts.
///
/// The allow list's file is watched. A change takes effect within a second, on open connections too.
@Loop package final class BusSecurity {
    /// 0 belongs to no key. It is for connections without a known key.
    typealias Identity = Int

    let secret: BusKey
    let publicKey: BusKey
    private let path: String
    private var seen: Stamp?
    private var complaint: String?
    private(set) var allowed: AllowList
    /// Numbers of the keys that connected. libzmq passes on a short text at less cost than a key.
    private var identities: [BusKey: Identity] = [:]
    private var services: [Identity: ServiceName] = [:]
    /// Called when the allow list has changed.
    var onChange: (@Loop () -> Void)?
    /// Called once with the reason why a changed file is not used. The previous list stays in effect until the file is
    /// correct. Also called when the process's own key was removed from the list.
    package var onProblem: (@Loop (String) -> Void)?
    /// Called with a public key that was refused or is no longer accepted, at most once a second.
    package var onRefusal: (@Loop (BusKey) -> Void)?
    private var lastRefusal: UInt64 = 0

    /// The values that distinguish one state of a file from the next.
    private struct Stamp: Equatable, Sendable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// The reason why the keys cannot be used. An operator may see it.
    package struct KeyError: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - secret: the process's own secret key, 44 characters of base64.
    ///   - allowList: path of the file with the ``AllowList``.
    /// - Throws: ``KeyError``.
    package init(secret: String, allowList path: String) throws(KeyError) {
        guard let secret = BusKey(base64: secret) else {
            throw KeyError(description: "the bus key is not 32 bytes in base64")
        }
        self.secret = secret
        self.path = path
        do {
            publicKey = try secret.publicKey()
        } catch {
            throw KeyError(description: "libzmq has no CURVE: \(error)")
        }
        (seen, allowed) = try Self.read(path)
    }

    private nonisolated static func read(_ path: String) throws(KeyError) -> (Stamp, AllowList) {
        guard let stamp = stamp(of: path), let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw KeyError(description: "the list of allowed keys \(path) cannot be read")
        }
        do {
            return (stamp, try AllowList(text))
        } catch {
            throw KeyError(description: "the list of allowed keys \(path), \(error.description)")
        }
    }

    private nonisolated static func stamp(of path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Stamp(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }

    // MARK: Following

    /// Checks the file each 600 ms until the task is cancelled.
    func follow() async {
        while !Task.isCancelled {
            try? await Loop.sleep(about: .milliseconds(600))
            let (path, seen) = (path, seen)
            let look = try? await Loop.offload { () -> Result<(Stamp, AllowList), KeyError>? in
                guard Self.stamp(of: path) != seen else { return nil }
                return Result { () throws(KeyError) in try Self.read(path) }
            }
            switch look ?? nil {
            case nil: continue
            case .success((let stamp, let list))?: take(list, stamp)
            case .failure(let error)? where error.description != complaint:
                complaint = error.description
                onProblem?(error.description)
            case .failure?: continue
            }
        }
    }

    private func take(_ list: AllowList, _ stamp: Stamp) {
        (seen, complaint) = (stamp, nil)
        guard list != allowed else { return }
        if name != nil, list.service(of: publicKey) == nil {
            onProblem?("the key of this program was removed from the list: its messages are refused")
        }
        allowed = list
        services = [:]
        for (key, identity) in identities { services[identity] = list.service(of: key) }
        onChange?()
    }

    // MARK: Asking

    /// The owner of this process's key by the allow list; `nil` if it is not, or no longer, on the list.
    package var name: ServiceName? { allowed.service(of: publicKey) }

    /// Returns the number that a key has from now on; `nil` if the key may not connect.
    func admit(_ key: BusKey) -> Identity? {
        guard let service = allowed.service(of: key) else {
            reportRefusal(of: key)
            return nil
        }
        let identity = identities[key] ?? identities.count + 1
        identities[key] = identity
        services[identity] = service
        return identity
    }

    /// A connected program's requests are refused, because its key was removed from the allow list.
    func noteRefusal(of identity: Identity) {
        if let key = key(of: identity) { reportRefusal(of: key) }
    }

    private func reportRefusal(of key: BusKey) {
        let now = MonotonicClock.now()
        guard now > lastRefusal + 1_000_000_000 else { return }
        lastRefusal = now
        onRefusal?(key)
    }

    /// The key with a number.
    func key(of identity: Identity) -> BusKey? { identities.first { $0.value == identity }?.key }

    /// The owner of a connection now; `nil` if its key is not, or no longer, allowed.
    func service(of identity: Identity) -> ServiceName? { services[identity] }
}
