import BusProtocol
import Cryptography
import Database
import EventLoop

/// The push tokens of devices: sealed at rest, kept for a while when another one takes their place, and marked when their
/// provider calls them dead.
///
/// A token that another account's device has too stays with that device: nobody takes somebody else's notices away by
/// presenting their token. The newcomer's device has it as well, since its owner must hear of a recovery too; each push
/// says in `userId` whose it is, for an app on which the two take turns.
struct PushTokens: Sendable {
    let secrets: Secrets

    /// A token to be stored, for its device.
    func sealed(_ token: String?, of device: Identifier) -> [UInt8]? {
        token.map { secrets.pushSealer.seal(Array($0.utf8), associated: device.array) }
    }

    /// What a device's row gets where the device presents a token; `nil` where it presents none. The one that it had is kept
    /// for the notices of a recovery.
    @Loop func replacement(
        of known: LockedDevice, with token: String?, in transaction: Transaction
    ) throws -> [UInt8]? {
        guard let token else { return nil }
        if let old = known.push, !known.isPushExpired, try opened(old, of: known.id) != token {
            PushTokenStore.keep(old, of: known, in: transaction)
        }
        return sealed(token, of: known.id)
    }

    /// Where a person can be reached, each token once.
    ///
    /// - Parameter isRecovery: removed devices and replaced tokens hear of recoveries for 30 days more, so that who got hold
    ///   of an account cannot silence its owner first.
    @Loop func targets(
        of person: Identifier, isRecovery: Bool, in transaction: Transaction
    ) async throws -> [(device: Identifier, token: String, replacedID: Identifier?)] {
        var seen: Set<String> = []
        return try await PushTokenStore.targets(of: person, isRecovery: isRecovery, in: transaction).compactMap {
            let token = try opened($0.sealed, of: $0.device)
            return seen.insert(token).inserted ? ($0.device, token, $0.replacedID) : nil
        }
    }

    /// `nil` where the device has none (any more).
    @Loop func current(of device: Identifier, in database: Database) async throws -> String? {
        try await PushTokenStore.current(of: device, in: database).map { try opened($0, of: device) }
    }

    /// Nobody is behind the token: it is marked, unless its device has another one by now.
    @Loop func expire(_ token: String, of push: PushMessage, in transaction: Transaction) async throws {
        if let id = push.replacedTokenID { return PushTokenStore.forget(id, in: transaction) }
        guard let sealed = try await PushTokenStore.locked(of: push.deviceID, in: transaction),
            try opened(sealed, of: push.deviceID) == token
        else { return }
        PushTokenStore.markExpired(push.deviceID, in: transaction)
    }

    private func opened(_ sealed: [UInt8], of device: Identifier) throws -> String {
        String(decoding: try secrets.pushSealer.open(sealed, associated: device.array), as: UTF8.self)
    }
}
