import Cryptography
import ProcessRuntime

/// What an operator allows.
struct RecoveryPolicy: Sendable {
    /// Seconds.
    var hold: Int64 = 259_200
    /// Seconds; of a number that was claimed often lately, and of an account that sleeps.
    var riskyHold: Int64 = 604_800
    /// Requests of a claimant's number within 30 days.
    var perPhone: Int64 = 3
    /// Requests from a client address within a day; from the site of an IPv6 address ``NetworkAddress/siteShares`` times as many.
    var perAddressDay: Int64 = 20

    /// Whether a client may ask no more today.
    ///
    /// - Parameters:
    ///   - address: requests within a day from its address.
    ///   - site: requests within a day from the site of that address.
    func isSpent(address: Int64, site: Int64) -> Bool {
        address >= perAddressDay || site >= perAddressDay * Int64(NetworkAddress.siteShares)
    }

    /// The hold of a claim, in seconds.
    ///
    /// - Parameters:
    ///   - claims: earlier ones of the same number within 30 days, by whomever.
    ///   - isDormant: the account sleeps, or the number has none and is one of those that look so.
    func hold(afterClaims claims: Int64, isDormant: Bool) -> Int64 {
        claims >= Self.manyClaims || isDormant ? max(hold, riskyHold) : hold
    }

    /// Whether a number without an account is held as if one slept behind it: as large a part of them as of the accounts, and the
    /// same numbers each time, so that a long hold tells nobody that there is an account.
    ///
    /// - Parameters:
    ///   - reference: auth's of the number; nobody outside can compute it.
    ///   - share: of the accounts that were claimed lately, those that slept; 0 to 1.
    static func looksDormant(_ reference: String, share: Double) -> Bool {
        let digest = SHA256.digest(Array("dormant \(reference)".utf8))
        let place = digest.prefix(4).reduce(0) { $0 * 256 + Double($1) }
        return place < share * 4_294_967_296
    }

    /// Seconds that a freeze lasts at the most: the hold, and as long as anybody waits for evidence, for the reviewers and for
    /// the claimant to complete it.
    var freeze: Int64 { max(hold, riskyHold) + 3 * Self.patience }
    static let manyClaims: Int64 = 3
    /// Seconds in which whose turn it is must act.
    static let patience: Int64 = 1_209_600
    /// Seconds that a claimant's number is barred from the account after a dispute, or a decision against them in a contested case.
    static let bar: Int64 = 2_592_000
    /// Seconds after a rejection in which the claimant may not ask again.
    static let coolingOff: Int64 = 604_800
}
