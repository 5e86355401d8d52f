import Languages

/// The token that a route requires in `Authorization`, and the refusal of each mistake with it.
struct Credentials {
    static let access = Credentials(token: Sentence("access token"), asksToSignIn: true)
    static let recovery = Credentials(token: Sentence("recovery token"), asksToSignIn: false)

    let token: Sentence
    /// Whether the refusal asks the person to sign in. Without it, there is nothing that they can do.
    let asksToSignIn: Bool

    var missing: Problem { refusal("The request has no \(token).") }
    var repeated: Problem { refusal("The request has more than one Authorization header.") }
    var withoutScheme: Problem {
        refusal("The Authorization header must be \"Bearer\", a space and the \(token).")
    }
    var invalid: Problem { refusal("The \(token) is not valid.") }

    /// - Parameter member: the member of the body that would be accepted in place of the token.
    func missing(or member: String) -> Problem {
        refusal("The request has neither an \(token) nor \(member) in its body.")
    }

    private func refusal(_ sentence: Sentence) -> Problem {
        let whole: Sentence = asksToSignIn ? "Please sign in. \(sentence)" : sentence
        return Problem(.unauthorized, whole.english)
    }
}
