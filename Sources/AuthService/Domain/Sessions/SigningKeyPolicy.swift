import BusProtocol

/// When signing keys are made, sign and are forgotten.
enum SigningKeyPolicy {
    /// A new key is published for so long before it signs: gateways look for keys each minute, and who has not heard of
    /// auth for half of this judges no token by its unknown key.
    static let lead = Duration.seconds(600)
    /// A key stays published for so long after its successor began: the life of a token, a replica's word that is at most
    /// ``freshness`` old being part of the lead, and some for clocks.
    static let afterlife = Duration.seconds(AccessTokenIssuer.lifetime + 300)
    /// A replica whose keys are older than this does not sign: another may be due by now.
    static let freshness = Duration.seconds(300)

    /// What signs at a moment: of the keys that may, the one that began last.
    static func signer(of signsFrom: [Timestamp], at now: Timestamp) -> Timestamp? {
        signsFrom.filter { !(now < $0) }.max()
    }

    /// Whether the schedule wants a new key.
    ///
    /// - Parameter period: `nil` where keys are rotated by hand only.
    static func isDue(newest: Timestamp, every period: Duration?, now: Timestamp) -> Bool {
        period.map { !(now < newest + $0) } ?? false
    }

    /// Whether no token of a key can be alive any more.
    ///
    /// - Parameter successor: when the next key began.
    static func isOver(successor: Timestamp, now: Timestamp) -> Bool { !(now < successor + afterlife) }
}
