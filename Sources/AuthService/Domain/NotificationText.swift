/// What a person reads.
enum NotificationText {
    static func text(kind: String, data: [String: String], appName: String) -> (title: String, body: String) {
        switch kind {
        case "recovery_requested":
            (
                "Is this you?",
                "Somebody with the number \(data["claimantPhone"] ?? "of another phone") asked to recover your \(appName) account. If it was not you, say so now and nothing will change."
            )
        case "recovery_disputed":
            ("Recovery stopped", "The request to recover your \(appName) account was stopped. Nothing has changed.")
        case "recovery_cancelled":
            (
                "Recovery withdrawn",
                "Whoever asked to recover your \(appName) account took the request back. Nothing has changed."
            )
        default: (appName, "There is news about your account.")
        }
    }
}
