/// The token that a route requires in `Authorization`, and the refusal of each mistake with it.
struct Credentials {
    static let access = Credentials(token: "access token", request: "Please sign in. ")
    static let recovery = Credentials(token: "recovery token", request: "")

    let token: String
    /// What the person is asked to do; empty: nothing that they can do.
    let request: String

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

    private func refusal(_ sentence: String) -> Problem { Problem(.unauthorized, request + sentence) }
}
