import BusProtocol

extension RouteTable {
    static let profile: [Route] = [
        Route(
            .get, "/profile/fields", .public, .message("profile.get-fields"), "The catalogue of profile fields."
        ).with {
            $0.sources = ["acceptLanguage": .header("accept-language")]
            $0.isRevalidated = true
        },
        Route(.get, "/users/me", .user, .message("profile.get-me"), "The person's own profile."),
        Route(.patch, "/users/me", .user, .message("profile.update-me"), "Changes fields of the profile at once.")
            .with {
                $0.body = .patch("fields")
                $0.sources = ["ifMatch": .header("if-match")]
            },
        Route(.post, "/users/me/skips", .user, .message("profile.skip-field"), "Skips an optional field.")
            .with { $0.body = .members },
        Route(
            .get, "/users/me/completion", .user, .message("profile.get-completion"),
            "How far the profile is, and what comes next."),
        Route(
            .get, "/users/me/requirements", .user, .message("profile.get-requirements"),
            "What each capability still needs."),
        Route(
            .get, "/users/me/onboarding", .user, .message("profile.view-onboarding"),
            "Where the person stands in the onboarding."),
        Route(
            .post, "/users/me/waitlist", .user, .message("profile.join-waitlist"),
            "Asks to be told on the 18th birthday."
        ).with { $0.body = .members },
        Route(.get, "/users/{id}", .user, .message("profile.get-person"), "The public view of a person.")
            .with { $0.sources = ["personId": .path("id")] },
        onPerson("date-of-birth", "profile.correct-date-of-birth", "Corrects a date of birth."),
        onPerson("suspend", "auth.suspend-account", "Suspends an account and ends its sessions."),
        onPerson("restore", "auth.restore-account", "Restores a suspended account."),
        Route(
            .post, "/admin/people/search", .staff, .message("auth.find-person"), "Finds a person by number or id."
        ).with {
            $0.body = .members; $0.carriesToken = true
        },
        Route(
            .get, "/cities", .public, .message("profile.find-cities"),
            "Finds cities by the begin of their name. Data: GeoNames, CC BY 4.0."
        ).with { $0.sources = ["query": .query("query"), "country": .query("country"), "limit": .query("limit")] },
        Route(.get, "/users/me/export", .user, .export, "Everything that is held about the person."),
        Route(.delete, "/users/me", .user, .message("auth.delete-account"), "Deletes the account.")
            .with {
                $0.success = 202; $0.carriesToken = true
            },
        Route(.post, "/events", .anybody, .message("profile.record-events"), "Takes client-side analytics events.")
            .with {
                $0.success = 202; $0.body = .members
            },
        Route(
            .get, "/admin/funnel", .staff, .message("profile.get-funnel"), "Counts and drop-off per onboarding step."
        ).with { $0.sources = ["from": .query("from"), "to": .query("to")] },
    ]

    /// What staff decides about somebody: the services look at the token themselves.
    private static func onPerson(_ act: String, _ message: MessageType, _ summary: String) -> Route {
        Route(.post, "/admin/users/{id}/\(act)", .staff, .message(message), summary).with {
            $0.body = .members; $0.sources = ["personId": .path("id")]; $0.carriesToken = true
        }
    }
}
