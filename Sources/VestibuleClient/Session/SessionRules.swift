import Foundation

/// What becomes of a session at which answer.
enum SessionRules {
    /// These alone end a session in the app, with status 401.
    static let endings: Set<ProblemCode> = [.refreshTokenInvalid, .refreshTokenReused, .tokenRevoked, .unauthorized]

    /// The code with which the server ended the session; `nil` if the session stays.
    static func ending(of error: VestibuleError) -> ProblemCode? {
        guard case .problem(let problem) = error, problem.status == 401, endings.contains(problem.code) else {
            return nil
        }
        return problem.code
    }

    /// How many seconds after it came a token is renewed: a minute before its end, or half-way in a shorter life.
    static func renewal(ofTokenFor seconds: Int) -> TimeInterval { max(Double(seconds) - 60, Double(seconds) / 2) }

    /// What to do with a token before a call.
    enum Use: Equatable {
        /// Send it.
        case asItIs
        /// Renew it first. If that fails, it is still good.
        case renewedIfPossible
        /// Renew it first.
        case renewed
    }

    static func use(of tokens: SavedTokens, at now: Date) -> Use {
        now < tokens.renewAt ? .asItIs : now < tokens.endsAt ? .renewedIfPossible : .renewed
    }
}
