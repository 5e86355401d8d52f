import BusProtocol
import EventLoop
import Foundation

/// The keys of one process: its own, and those of everybody whom it may hear and ask. The list is followed: what changes
/// in its file holds within a second, on connections that stand as well.
@Loop public final class BusSecurity {
    /// Where no key is known yet: 0 is nobody's.
    typealias Identity = Int

    let secret: BusKey
    let publicKey: BusKey
    private let path: String
    private var seen: Stamp?
    private var complaint: String?
    private(set) var allowed: AllowList
    /// Numbers for keys that came in, since libzmq hands a text of few bytes through more cheaply than a key.
    private var identities: [BusKey: Identity] = [:]
    private var services: [Identity: ServiceName] = [:]
    /// Called when the list has changed.
    var onChange: (@Loop () -> Void)?
    /// Told once why a changed file is not taken, where what was allowed before stays so until it is; and that the own
    /// key was taken off the list.
    public var onProblem: (@Loop (String) -> Void)?
    /// Told of a public key that was not let in, or is not heard any more, once a second at the most.
    public var onRefusal: (@Loop (BusKey) -> Void)?
    private var lastRefusal: UInt64 = 0

    /// What tells one state of a file from the next.
    private struct Stamp: Equatable, Sendable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// Why the keys cannot be used; it is fit to be shown.
    public struct KeyError: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// - Parameters:
    ///   - secret: the process's own secret key, 44 characters of base64.
    ///   - allowList: path of the file with the ``AllowList``.
    /// - Throws: ``KeyError``.
    public init(secret: String, allowList path: String) throws(KeyError) {
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

    /// Looks at the file four times a second, until the task is cancelled.
    func follow() async {
        while !Task.isCancelled {
            try? await Loop.sleep(for: .milliseconds(250))
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
            onProblem?("the key of this program is not on the list any more: nobody hears it")
        }
        allowed = list
        services = [:]
        for (key, identity) in identities { services[identity] = list.service(of: key) }
        onChange?()
    }

    // MARK: Asking

    /// Whose the own key is, as the list says; `nil` where it is nobody's (any more).
    public var name: ServiceName? { allowed.service(of: publicKey) }

    /// The number under which a key is known from now on; `nil` where it may not connect.
    func admit(_ key: BusKey) -> Identity? {
        guard let service = allowed.service(of: key) else {
            tellRefusal(of: key)
            return nil
        }
        let identity = identities[key] ?? identities.count + 1
        identities[key] = identity
        services[identity] = service
        return identity
    }

    /// A program that is connected is not heard: its key was taken off the list while it ran.
    func noteRefusal(of identity: Identity) {
        if let key = key(of: identity) { tellRefusal(of: key) }
    }

    private func tellRefusal(of key: BusKey) {
        let now = MonotonicClock.now()
        guard now > lastRefusal + 1_000_000_000 else { return }
        lastRefusal = now
        onRefusal?(key)
    }

    /// The key that was given a number.
    func key(of identity: Identity) -> BusKey? { identities.first { $0.value == identity }?.key }

    /// Whose connection it is, as of now; `nil` where its key may not speak (any more).
    func service(of identity: Identity) -> ServiceName? { services[identity] }
}
