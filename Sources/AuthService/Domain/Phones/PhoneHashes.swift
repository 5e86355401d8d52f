import BusProtocol
import Cryptography

/// What auth's tables know a number by. Nobody finds the number from it without auth's keys.
struct PhoneHashes: Sendable {
    struct Lookup: Sendable, Equatable {
        let keyID: String
        let hash: [UInt8]
    }

    /// Under the key that stays: for limits, bars, locks, claims, and the reference that recovery keeps. Where the look-up key
    /// was replaced, it stands in no row of an account's number, or a copy of the database would undo the replacement.
    let lasting: [UInt8]
    /// Under each look-up key that is alive, in the ring's order: what the account is found by.
    let lookups: [Lookup]
}

extension Secrets {
    func hashes(of number: PhoneNumber) -> PhoneHashes { hashes(of: Array(number.e164.utf8)) }

    /// - Parameters:
    ///   - sealed: a number.
    ///   - owner: the challenge or the person that it was sealed for.
    func hashes(ofSealed sealed: [UInt8], for owner: Identifier) throws(SealError) -> PhoneHashes {
        hashes(of: try phoneSealer.open(sealed, associated: owner.array))
    }

    /// - Parameter number: E.164, as UTF-8.
    func hashes(of number: [UInt8]) -> PhoneHashes {
        PhoneHashes(
            lasting: phoneHash.code(for: number),
            lookups: lookupHashes.map { .init(keyID: $0.keyID, hash: $0.code(for: number)) })
    }
}
