/// The facts about a claim that its owner gets: never a code, and never a whole number.
struct ClaimFacts: Codable, Sendable, Equatable {
    /// `+46 (***) ***-4567`
    var phone: String
    /// The platform of the claimant's device: `ios`, `android` or `web`.
    var platform: String?
    /// Somebody signed in by the account's number within a day.
    var hasRecentSignIn: Bool
}
