import BusProtocol
import Cryptography

/// The hashes of a number in auth's tables. Without auth's keys, nobody can find the number from them.
struct PhoneHashes: Sendable {
    struct Lookup: Sendable, Equatable {
        let keyID: String
        let hash: [UInt8]
    }

    /// The hash under the permanent key: for limits, bars, locks, claims, and the reference that recovery keeps.
    ///
    /// After the look-up key was replaced, the row of an account's number must not have this hash. Otherwise a copy of
    /// the database would undo the replacement.
    let lasting: [UInt8]
    /// The hashes under each live look-up key, in the key ring's order. They find the account.
    let lookups: [Lookup]
}

extension Secrets {
    func hashes(of number: PhoneNumber) -> PhoneHashes { hashes(of: Array(number.e164.utf8)) }

    /// - Parameters:
    ///   - sealed: a number.
    ///   - owner: the challenge or the person for which it was sealed.
    func hashes(ofSealed sealed: [UInt8], for owner: Identifier) throws(SealError) -> PhoneHashes {
        hashes(of: try phoneSealer.open(sealed, associated: owner.array))
    }

    /// - Parameter number: in E.164 form, as UTF-8.
    func hashes(of number: [UInt8]) -> PhoneHashes {
        PhoneHashes(
            lasting: phoneHash.code(for: number),
            lookups: lookupHashes.map { .init(keyID: $0.keyID, hash: $0.code(for: number)) })
    }
}
