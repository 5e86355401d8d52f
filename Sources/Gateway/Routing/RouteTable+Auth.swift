extension RouteTable {
    static let auth: [Route] = [
        Route(.post, "/auth/otp/send", .anybody, .message("auth.send-otp"), "Sends a code to a phone.")
            .with {
                $0.success = 202; $0.body = .members; $0.hidesItsTime = true
            },
        Route(
            .get, "/auth/otp/{challengeId}", .public, .message("auth.get-code-delivery"),
            "Tells whether the code was delivered."
        ).with { $0.sources = ["challengeId": .path("challengeId")] },
        Route(.post, "/auth/otp/verify", .public, .message("auth.verify-otp"), "Trades a code for a session.")
            .with {
                $0.body = .members; $0.hidesItsTime = true
            },
        Route(
            .post, "/auth/social/nonce", .public, .message("auth.issue-social-nonce"),
            "Issues a nonce for a social sign-in."
        ).with { $0.body = .members },
        Route(.post, "/auth/social/apple", .public, .message("auth.sign-in-with-apple"), "Signs in with Apple.")
            .with { $0.body = .members },
        Route(.post, "/auth/social/google", .public, .message("auth.sign-in-with-google"), "Signs in with Google.")
            .with { $0.body = .members },
        Route(
            .post, "/auth/social/apple/notifications", .public, .message("auth.take-apple-notification"),
            "Takes what Apple tells of an identity."
        ).with { $0.body = .members },
        Route(
            .post, "/auth/token/refresh", .public, .message("auth.refresh-token"),
            "Trades a refresh token for a new pair of tokens."
        ).with { $0.body = .members },
        Route(.post, "/auth/logout", .user, .message("auth.logout"), "Ends this session.")
            .with {
                $0.success = 204; $0.body = .members
            },
        Route(.get, "/auth/sessions", .user, .message("auth.list-sessions"), "Lists the sessions of the account."),
        Route(.delete, "/auth/sessions/{id}", .user, .message("auth.end-session"), "Ends one session.")
            .with {
                $0.success = 204; $0.sources = ["sessionId": .path("id")]
            },
        Route(
            .delete, "/auth/sessions", .user, .message("auth.end-other-sessions"), "Ends every session but this one."
        ).with { $0.success = 204 },
        Route(.get, "/users/me/devices", .user, .message("auth.list-devices"), "Lists the known devices."),
        Route(.put, "/users/me/devices/{id}", .user, .message("auth.put-device"), "Changes a known device.")
            .with {
                $0.body = .members; $0.sources = ["deviceId": .path("id")]
            },
        Route(
            .delete, "/users/me/devices/{id}", .user, .message("auth.remove-device"),
            "Forgets a device and ends its sessions."
        ).with {
            $0.success = 204; $0.sources = ["deviceId": .path("id")]
        },
        Route(
            .get, "/auth/identities", .user, .message("auth.list-identities"), "Lists the linked identities."),
        Route(
            .delete, "/auth/identities/{provider}", .user, .message("auth.unlink-identity"), "Unlinks an identity."
        ).with {
            $0.success = 204; $0.sources = ["provider": .path("provider")]
        },
        Route(
            .post, "/auth/phone/change", .user, .message("auth.change-phone"), "Changes the phone of the account."
        ).with {
            $0.body = .members; $0.carriesToken = true
        },
        Route(
            .post, "/auth/phone/undo", .anybody, .message("auth.undo-phone-change"),
            "Takes back a change of the phone, for 72 hours."
        ).with {
            $0.body = .members; $0.carriesToken = true; $0.hidesItsTime = true
        },
        Route(
            .get, "/.well-known/jwks.json", .public, .local(.signingKeys),
            "The keys that access tokens are signed with."),
    ]
}
