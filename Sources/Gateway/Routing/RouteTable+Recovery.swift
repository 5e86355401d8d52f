extension RouteTable {
    static let recovery: [Route] = [
        Route(
            .post, "/auth/recovery/request", .public, .message("recovery.request-recovery"),
            "Claims an account whose phone is lost."
        ).with {
            $0.success = 202; $0.body = .members; $0.hidesItsTime = true
        },
        Route(.get, "/auth/recovery/{id}", .recoveryToken, .message("recovery.get-case"), "A claimant's own case.")
            .with {
                $0.hidesItsTime = true; $0.sources = ["recoveryId": .path("id"), "recoveryToken": .recoveryToken]
            },
        Route(
            .post, "/auth/recovery/{id}/dispute", .userOrMember("disputeToken"), .message("recovery.dispute-case"),
            "The owner's veto."
        ).with {
            $0.body = .members; $0.hidesItsTime = true; $0.sources = ["recoveryId": .path("id")]
        },
        Route(
            .post, "/auth/recovery/{id}/cancel", .recoveryToken, .message("recovery.cancel-case"),
            "Withdraws the claim."
        ).with {
            $0.hidesItsTime = true; $0.sources = ["recoveryId": .path("id"), "recoveryToken": .recoveryToken]
        },
        Route(
            .post, "/auth/recovery/{id}/identity", .recoveryToken, .message("recovery.submit-evidence"),
            "Gives evidence of identity."
        ).with {
            $0.success = 202; $0.body = .members; $0.hidesItsTime = true
            $0.sources = ["recoveryId": .path("id"), "recoveryToken": .recoveryToken]
        },
        Route(
            .post, "/auth/recovery/{id}/complete", .recoveryToken, .message("recovery.complete-case"),
            "Moves the account to the new phone."
        ).with {
            $0.body = .members; $0.hidesItsTime = true
            $0.sources = ["recoveryId": .path("id"), "recoveryToken": .recoveryToken]
        },
        Route(
            .get, "/users/me/recovery-cases", .user, .message("recovery.list-own-cases"),
            "The cases against one's own account."),
        Route(
            .post, "/users/me/recovery-cases/{id}/evidence", .user, .message("recovery.submit-owner-evidence"),
            "Shows whose the account is, in a contested case."
        ).with {
            $0.success = 202; $0.body = .members; $0.sources = ["recoveryId": .path("id")]
        },
        Route(.put, "/users/me/recovery-lock", .user, .message("recovery.set-lock"), "Admits proven claimants only.")
            .with {
                $0.body = .members; $0.carriesToken = true
            },
        Route(.get, "/admin/recovery", .staff, .message("recovery.list-reviews"), "The review queue.")
            .with { $0.sources = ["status": .query("status")] },
        Route(
            .get, "/admin/recovery/{id}", .staff, .message("recovery.get-review"), "One case with its audit trail."
        ).with { $0.sources = ["recoveryId": .path("id")] },
        Route(
            .post, "/admin/recovery/{id}/claim", .staff, .message("recovery.claim-review"), "Takes a case for review."
        ).with {
            $0.carriesToken = true; $0.sources = ["recoveryId": .path("id")]
        },
        Route(
            .post, "/admin/recovery/{id}/release", .staff, .message("recovery.release-review"), "Gives a case back."
        ).with {
            $0.carriesToken = true; $0.sources = ["recoveryId": .path("id")]
        },
        Route(.post, "/admin/recovery/{id}/approve", .staff, .message("recovery.approve-case"), "Approves a case.")
            .with {
                $0.body = .members; $0.carriesToken = true; $0.sources = ["recoveryId": .path("id")]
            },
        Route(.post, "/admin/recovery/{id}/reject", .staff, .message("recovery.reject-case"), "Rejects a case.")
            .with {
                $0.body = .members; $0.carriesToken = true; $0.sources = ["recoveryId": .path("id")]
            },
    ]

    static let laterServices: [Route] = [
        Route(.get, "/visual-preferences/session", .user, .later, "A session of visual choices."),
        Route(.post, "/visual-preferences/choices", .user, .later, "Saves visual choices."),
        Route(.get, "/visual-preferences/profile", .user, .later, "The visual preference profile."),
        Route(.post, "/verification/session", .user, .later, "Begins a photo verification."),
        Route(.post, "/verification/session/{id}/complete", .user, .later, "Ends a photo verification."),
    ]

    static let operations: [Route] = [
        Route(.get, "/healthz", .public, .local(.health), "200 while the process lives."),
        Route(.get, "/readyz", .public, .local(.readiness), "200 when every required service has a ready replica."),
        Route(.get, "/metrics", .ops, .local(.metrics), "Prometheus text of every replica."),
        Route(.get, "/ops/services", .ops, .local(.services), "What is known of every replica."),
        Route(.get, "/openapi.json", .public, .local(.openAPI), "This document."),
        Route(.get, "/docs", .public, .local(.docs), "The document as a page for people."),
    ]
}
