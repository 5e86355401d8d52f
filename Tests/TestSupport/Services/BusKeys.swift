import BusProtocol
import BusRuntime
import EventLoop
import Foundation

/// Keys of the bus for a test: one for everybody, and the list of those who may speak.
@Loop public final class BusKeys {
    /// Path of the list.
    public let list: String
    private var secrets: [ServiceName: BusKey] = [:]
    private var allowed: [(ServiceName, BusKey)] = []

    /// Has a key and may ask for nothing.
    public nonisolated static let nobody: ServiceName = "nobody"

    /// - Parameter folder: where the list is kept.
    public init(in folder: String) throws {
        list = "\(folder)/allowed"
        for service: ServiceName in [
            .auth, .profile, .questionnaire, .recovery, .gateway, .operator, .visualPreference, .verification,
            Self.nobody,
        ] {
            let secret = try BusKey.newSecret()
            secrets[service] = secret
            allowed.append((service, try secret.publicKey()))
        }
        try write()
    }

    private func write() throws {
        let text = allowed.map { "\($0) \($1.base64)\n" }.joined()
        try text.write(toFile: list, atomically: true, encoding: .utf8)
    }

    public func secret(of service: ServiceName) -> String { secrets[service]?.base64 ?? "" }

    /// The public key of a service.
    public func publicKey(of service: ServiceName) throws -> BusKey? { try secrets[service]?.publicKey() }

    /// What a process of that service has.
    public func security(of service: ServiceName) throws -> BusSecurity {
        try BusSecurity(secret: secret(of: service), allowList: list)
    }

    /// A key under which a service may speak beside its own.
    public func add(_ key: BusKey, as service: ServiceName) throws {
        allowed.append((service, key))
        try write()
    }

    /// Takes every key of the service off the list.
    public func revoke(_ service: ServiceName) throws {
        allowed.removeAll { $0.0 == service }
        try write()
    }

    /// Takes the service's own key off the list, and leaves those that were added.
    public func revokeOwn(_ service: ServiceName) throws {
        let own = try publicKey(of: service)
        allowed.removeAll { $0.1 == own }
        try write()
    }

    /// Puts the service's own key on the list again.
    public func allow(_ service: ServiceName) throws {
        guard let secret = secrets[service] else { return }
        try add(try secret.publicKey(), as: service)
    }
}
