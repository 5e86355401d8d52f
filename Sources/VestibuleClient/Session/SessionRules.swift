import Foundation

/// Decides when a session is renewed and when it ends. The web client decides in the same way: `clients/cases.json` has
/// the cases of both.
enum SessionRules {
    /// Only these codes end a session in the app, with status 401.
    private static let endings: Set<ProblemCode> = [
        .refreshTokenInvalid, .refreshTokenReused, .tokenRevoked, .unauthorized,
    ]

    /// The code with which a renewal ended the session; `nil` if the session stays.
    static func ending(of outcome: CallOutcome?) -> ProblemCode? {
        guard let outcome, let code = outcome.code, outcome.status == 401, endings.contains(code) else { return nil }
        return code
    }

    /// The next step after the server refused a call with the access token.
    enum Refusal: String { case renew, `repeat`, signedOut, none }

    /// - Parameters:
    ///   - code: of the problem, with status 401.
    ///   - isCurrent: no newer token has arrived meanwhile.
    ///   - isRenewed: the call was repeated with a new token already.
    static func refusal(_ code: ProblemCode?, isCurrent: Bool, isRenewed: Bool) -> Refusal {
        guard let code, code == .tokenExpired || endings.contains(code) else { return .none }
        if !isCurrent { return isRenewed ? .none : .repeat }
        if code == .tokenExpired { return isRenewed ? .none : .renew }
        return .signedOut
    }

    /// How many seconds before its end an access token is renewed.
    static let renewBefore: TimeInterval = 60

    /// Whether an access token may be used. One that ends soon is renewed first, and used if that fails.
    enum TokenState: String { case fresh, soon, over }

    static func state(ofTokenUntil end: Date, at now: Date) -> TokenState {
        now >= end ? .over : end.timeIntervalSince(now) > renewBefore ? .fresh : .soon
    }

    /// The next step before a renewal, by the tokens in the store. If another process has renewed them meanwhile, this
    /// one takes the new tokens.
    enum Found: String { case renew, take, signedOut }

    /// - Parameters:
    ///   - held: the generation that asks.
    ///   - kept: the generation in the store.
    ///   - end: when the access token in the store ends; `nil` if there is none.
    static func found(held: Int, kept: Int, until end: Date?, at now: Date) -> Found {
        guard let end else { return .signedOut }
        return kept > held && state(ofTokenUntil: end, at: now) == .fresh ? .take : .renew
    }
}

/// The outcome of a request, from which the rules decide the next step.
struct CallOutcome: Sendable, Equatable {
    /// The HTTP status; `nil` if no answer came.
    var status: Int?
    var code: ProblemCode?
    var retryAfterSeconds: Int?
    /// `false` if the device itself reports that it has no network.
    var isOnline = true
}

extension VestibuleError {
    /// `nil` if the error is not that of a request.
    var outcome: CallOutcome? {
        switch self {
        case .problem(let problem):
            CallOutcome(status: problem.status, code: problem.code, retryAfterSeconds: problem.retryAfterSeconds)
        case .unreadable(let status, _): CallOutcome(status: status)
        case .noAnswer(let error): CallOutcome(isOnline: (error as? URLError)?.code != .notConnectedToInternet)
        case .notModified, .signedOut, .store: nil
        }
    }
}
