import BusProtocol
import Cryptography
import Database
import EventLoop
import Languages

/// The push tokens of devices. They are stored sealed, kept for a while after they are replaced, and marked when their
/// provider reports them as dead.
///
/// Devices of several accounts may have the same token. So presenting another person's token does not stop that
/// person's notices, and all owners are notified of a recovery. Each push names its account in `userId`, for an app
/// that several people use in turn.
struct PushTokens: Sendable {
    let secrets: Secrets

    /// Seals a device's token for storage.
    func sealed(_ token: String?, of device: Identifier) -> [UInt8]? {
        token.map { secrets.pushSealer.seal(Array($0.utf8), associated: device.array) }
    }

    /// Seals the new token of a device, and keeps the old one for notices of a recovery.
    ///
    /// - Returns: `nil` if the device presents no token.
    @Loop func replacement(
        of known: LockedDevice, with token: String?, in transaction: Transaction
    ) throws -> [UInt8]? {
        guard let token else { return nil }
        if let old = known.push, !known.isPushExpired, try opened(old, of: known.id) != token {
            PushTokenStore.keep(old, of: known, in: transaction)
        }
        return sealed(token, of: known.id)
    }

    /// The device has no token from now on. Its last one is kept for the notices of a recovery.
    @Loop func clear(_ known: LockedDevice, in transaction: Transaction) -> DeviceStore.PushChange {
        if let old = known.push, !known.isPushExpired { PushTokenStore.keep(old, of: known, in: transaction) }
        return .clear
    }

    /// The devices and tokens to notify for a person. Each token appears once.
    ///
    /// - Parameter isRecovery: whether to include devices that were removed and tokens that were replaced within 30
    ///   days. So an attacker with access to an account cannot first silence its owner.
    @Loop func targets(
        of person: Identifier, isRecovery: Bool, in transaction: Transaction
    ) async throws -> [(device: Identifier, token: String, replacedID: Identifier?, language: Language)] {
        var seen: Set<String> = []
        return try await PushTokenStore.targets(of: person, isRecovery: isRecovery, in: transaction).compactMap {
            let token = try opened($0.sealed, of: $0.device)
            return seen.insert(token).inserted ? ($0.device, token, $0.replacedID, $0.language) : nil
        }
    }

    /// The device's present token; `nil` if it has none.
    @Loop func current(of device: Identifier, in database: Database) async throws -> String? {
        try await PushTokenStore.current(of: device, in: database).map { try opened($0, of: device) }
    }

    /// Marks a dead token, unless its device has another one by now.
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
