import BusProtocol
import BusRuntime
import EventLoop
import Foundation

/// Bus keys for a test: one for each service, and the list of allowed keys.
@Loop package final class BusKeys {
    /// The path of the list.
    package let list: String
    private var secrets: [ServiceName: BusKey] = [:]
    private var allowed: [(ServiceName, BusKey)] = []

    /// A service with a key and without permission to call anything.
    package nonisolated static let nobody: ServiceName = "nobody"

    /// - Parameter folder: the folder of the list.
    package init(in folder: String) throws {
        list = "\(folder)/allowed"
        for service in ServiceName.services + [.gateway, .operator, Self.nobody] {
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

    package func secret(of service: ServiceName) -> String { secrets[service]?.base64 ?? "" }

    /// The public key of a service.
    package func publicKey(of service: ServiceName) throws -> BusKey? { try secrets[service]?.publicKey() }

    /// The bus security of a process of this service.
    package func security(of service: ServiceName) throws -> BusSecurity {
        try BusSecurity(secret: secret(of: service), allowList: list)
    }

    /// Allows a further key for a service.
    package func add(_ key: BusKey, as service: ServiceName) throws {
        allowed.append((service, key))
        try write()
    }

    /// Removes every key of the service from the list.
    package func revoke(_ service: ServiceName) throws {
        allowed.removeAll { $0.0 == service }
        try write()
    }

    /// Removes the service's own key from the list. Added keys stay.
    package func revokeOwn(_ service: ServiceName) throws {
        let own = try publicKey(of: service)
        allowed.removeAll { $0.1 == own }
        try write()
    }

    /// Adds the service's own key to the list again.
    package func allow(_ service: ServiceName) throws {
        guard let secret = secrets[service] else { return }
        try add(try secret.publicKey(), as: service)
    }
}
