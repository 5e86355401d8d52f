extension RouteTable {
    static let recovery: [Route] = [
        Route(
            .post, "/auth/recovery/request", .public, .message("recovery.request-recovery"),
            "Claims an account whose phone is lost."
        ).with {
            $0.success = 202; $0.body = .members
        },
        Route(.get, "/auth/recovery/{id}", .recoveryToken, .message("recovery.get-case"), "A claimant's own case.")
            .with { $0.sources = ["recoveryId": .path("id"), "recoveryToken": .recoveryToken] },
        Route(
            .post, "/auth/recovery/{id}/dispute", .userOrMember("disputeToken"), .message("recovery.dispute-case"),
            "The owner's veto."
        ).with {
            $0.body = .members; $0.sources = ["recoveryId": .path("id")]
        },
        Route(
            .post, "/auth/recovery/{id}/cancel", .recoveryToken, .message("recovery.cancel-case"),
            "Withdraws the claim."
        ).with { $0.sources = ["recoveryId": .path("id"), "recoveryToken": .recoveryToken] },
        Route(.post, "/auth/recovery/{id}/identity", .recoveryToken, .later, "Gives evidence of identity."),
        Route(.post, "/auth/recovery/{id}/complete", .recoveryToken, .later, "Moves the account to the new phone."),
        Route(
            .get, "/users/me/recovery-cases", .user, .message("recovery.list-own-cases"),
            "The cases against one's own account."),
        Route(.put, "/users/me/recovery-lock", .user, .message("recovery.set-lock"), "Admits proven claimants only.")
            .with { $0.body = .members },
        Route(.get, "/admin/recovery", .staff, .later, "The review queue."),
        Route(.get, "/admin/recovery/{id}", .staff, .later, "One case with its audit trail."),
        Route(.post, "/admin/recovery/{id}/claim", .staff, .later, "Takes a case for review."),
        Route(.post, "/admin/recovery/{id}/release", .staff, .later, "Gives a case back."),
        Route(.post, "/admin/recovery/{id}/approve", .staff, .later, "Approves a case."),
        Route(.post, "/admin/recovery/{id}/reject", .staff, .later, "Rejects a case."),
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
