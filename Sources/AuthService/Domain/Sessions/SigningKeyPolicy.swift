import BusProtocol

/// Decides when signing keys are made, when they sign, and when they are deleted.
enum SigningKeyPolicy {
    /// How long a new key is published before it signs. Gateways ask for keys each minute. A gateway that has had no
    /// reply for half of this time does not refuse a token because of an unknown key.
    static let lead = Duration.seconds(600)
    /// How long a key stays published after its successor began to sign: the life of a token, and a reserve for clocks.
    static let afterlife = Duration.seconds(AccessTokenIssuer.lifetime + 300)
    /// A replica that read the keys longer ago than this does not sign, since another key may be due.
    static let freshness = Duration.seconds(300)

    /// The key that signs at a time: the newest one that may sign by then.
    static func signer(of signsFrom: [Timestamp], at now: Timestamp) -> Timestamp? {
        signsFrom.filter { !(now < $0) }.max()
    }

    /// Whether it is time for a new key.
    ///
    /// - Parameter period: `nil` if keys are rotated by hand only.
    static func isDue(newest: Timestamp, every period: Duration?, now: Timestamp) -> Bool {
        period.map { !(now < newest + $0) } ?? false
    }

    /// Whether all tokens of a key have expired.
    ///
    /// - Parameter successor: when the next key began to sign.
    static func isOver(successor: Timestamp, now: Timestamp) -> Bool { !(now < successor + afterlife) }
}
