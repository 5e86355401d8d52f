import BusProtocol

/// Decides whether a side of a case may send one more picture. It uses only facts that the side can see. So a decoy and
/// a disputed case take as many pictures as any other case.
enum PicturePolicy {
    /// The most pictures of a side in a case.
    static let most: Int64 = 30
    /// The most pictures of a side on one day (UTC).
    static let mostADay: Int64 = 10
    /// For how long a claimant's code is enough.
    static let freshness = Duration.seconds(900)

    enum Refusal: Error, Equatable {
        /// The side may perhaps send pictures later.
        case tooEarly
        case tooLate
        /// The claimant has given no code lately.
        case notProven
        case tooMany
        case tooManyToday
    }

    /// - Parameter seen: the status that the claimant sees.
    static func admitClaimant(seeing seen: CaseStatus, isProven: Bool) throws(Refusal) {
        if seen.place < CaseStatus.identityRequired.place { throw .tooEarly }
        if seen.place > CaseStatus.inReview.place { throw .tooLate }
        guard isProven else { throw .notProven }
    }

    /// An owner shows evidence only in a contested case. In any other open case, the owner can only dispute it.
    static func admitOwner(in status: CaseStatus) throws(Refusal) {
        if status.isClosed { throw .tooLate }
        if status != .contested { throw .tooEarly }
    }

    /// - Parameters:
    ///   - all: the pictures of the side, with this one.
    ///   - today: the pictures of the side on this day, with this one.
    static func count(all: Int64, today: Int64) throws(Refusal) {
        if all > most { throw .tooMany }
        if today > mostADay { throw .tooManyToday }
    }
}
