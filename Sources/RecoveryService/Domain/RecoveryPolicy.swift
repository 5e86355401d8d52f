import Cryptography
import ProcessRuntime

/// The limits and holds of recoveries.
struct RecoveryPolicy: Sendable {
    /// The hold in seconds.
    var hold: Int64 = 259_200
    /// The hold in seconds for a number that was claimed often lately, and for a dormant account.
    var riskyHold: Int64 = 604_800
    /// The most requests of a claimant within 30 days: of a number, a mailbox, a device or an identity.
    var perPhone: Int64 = 3
    /// The most requests from a client address within a day. The site of an IPv6 address may make
    /// ``NetworkAddress/siteShares`` times as many.
    var perAddressDay: Int64 = 20

    /// Whether a client has used up its requests of a day.
    ///
    /// - Parameters:
    ///   - address: the requests within a day from its address.
    ///   - site: the requests within a day from the site of that address.
    func isSpent(address: Int64, site: Int64) -> Bool {
        address >= perAddressDay || site >= perAddressDay * Int64(NetworkAddress.siteShares)
    }

    /// The hold of a claim, in seconds.
    ///
    /// - Parameters:
    ///   - claims: the earlier claims of the same number within 30 days, by any claimant.
    ///   - isDormant: whether the account is dormant, or the number has no account and ``looksDormant(_:share:)``.
    func hold(afterClaims claims: Int64, isDormant: Bool) -> Int64 {
        claims >= Self.manyClaims || isDormant ? max(hold, riskyHold) : hold
    }

    /// Whether a number without an account gets the hold of a dormant account.
    ///
    /// The share of such numbers is that of dormant accounts, and a number always gets the same result. So a long hold
    /// does not reveal whether there is an account.
    ///
    /// - Parameters:
    ///   - reference: auth's reference of the number, which nobody else can compute.
    ///   - share: the share of dormant accounts among those that were claimed lately, from 0 to 1.
    static func looksDormant(_ reference: String, share: Double) -> Bool {
        let digest = SHA256.digest(Array("dormant \(reference)".utf8))
        let place = digest.prefix(4).reduce(0) { $0 * 256 + Double($1) }
        return place < share * 4_294_967_296
    }

    /// The longest freeze in seconds: the hold, and the times for the evidence, the review and the completion.
    var freeze: Int64 { max(hold, riskyHold) + 3 * Self.patience }
    /// From this many claims of a number on, the risky hold applies.
    static let manyClaims: Int64 = 3
    /// The seconds in which the person whose turn it is must act.
    static let patience: Int64 = 1_209_600
    /// The seconds for which a claimant is barred from the account, after a dispute or a rejection in a
    /// contested case.
    static let bar: Int64 = 2_592_000

    /// The references by which a claimant is barred: the contact and its mailbox. A claimant with proof is also barred
    /// by the device and the identity that they showed. Otherwise the same proof with another mailbox would be accepted
    /// again.
    static func barred(contact: [String?], proofs: [String], hasProof: Bool) -> [String] {
        contact.compactMap(\.self) + (hasProof ? proofs : [])
    }

    /// The seconds after a rejection in which the claimant may not ask again.
    static let coolingOff: Int64 = 604_800
}
