import JSONText

/// The topic of an operation, for readers and for the names of generated classes.
struct OperationTag {
    let name: String
    let words: String
    /// The beginnings of the paths with this tag. The longest beginning that fits a path decides.
    let paths: [String]

    var value: JSONValue { ["name": .string(name), "description": .string(words)] }

    static func tag(of path: String) -> OperationTag? {
        func length(_ tag: OperationTag) -> Int { tag.paths.filter { path.hasPrefix($0) }.map(\.count).max() ?? 0 }
        return all.max { length($0) < length($1) }.flatMap { length($0) > 0 ? $0 : nil }
    }

    static let all = [
        OperationTag(name: "Sign-in", words: "Codes by SMS, Apple, Google, and a new number.", paths: ["/auth"]),
        OperationTag(
            name: "Sessions", words: "Tokens, sessions and devices of a person.",
            paths: [
                "/auth/sessions", "/auth/token", "/auth/logout", "/users/me/devices",
                "/.well-known",
            ]),
        OperationTag(
            name: "Web sessions", words: "Sessions of web apps, whose tokens lie in a cookie.",
            paths: ["/auth/web-session"]),
        OperationTag(
            name: "Account", words: "What is held about a person, and its deletion.", paths: ["/users/me/export"]),
        OperationTag(
            name: "Profile", words: "Fields of the profile, and how far it is.",
            paths: ["/users", "/profile", "/cities"]),
        OperationTag(
            name: "Onboarding", words: "Where a person stands on the way in, and what comes next.",
            paths: ["/users/me/onboarding", "/users/me/requirements", "/users/me/waitlist", "/events"]),
        OperationTag(
            name: "Compatibility", words: "The compatibility questionnaire in its short form.",
            paths: ["/compatibility"]),
        OperationTag(
            name: "Questionnaires", words: "Published questionnaires, sessions and answers.", paths: ["/questionnaires"]
        ),
        OperationTag(
            name: "Recovery", words: "Recovering an account without the phone, and stopping a recovery.",
            paths: ["/auth/recovery", "/users/me/recovery"]),
        OperationTag(
            name: "Visual preferences", words: "Choices between pictures.",
            paths: ["/visual-preferences"]),
        OperationTag(name: "Verification", words: "Photo verification.", paths: ["/verification"]),
        OperationTag(
            name: "Photos", words: "Uploads of pictures, and the photos of a profile.",
            paths: ["/media", "/users/me/photos"]),
        OperationTag(name: "Staff", words: "For staff and admins of the app.", paths: ["/admin"]),
        OperationTag(
            name: "Operations", words: "Health, metrics and this document.",
            paths: ["/healthz", "/readyz", "/metrics", "/ops", "/openapi.json", "/docs"]),
    ]
}
