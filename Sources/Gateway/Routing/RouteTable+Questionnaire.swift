extension RouteTable {
    static let questionnaire: [Route] = compatibility + sessions + editor

    private static let compatibility: [Route] = [
        Route(
            .get, "/compatibility/questions", .user, .message("questionnaire.get-questions"),
            "The person's questionnaire with the answers so far."
        ).with { $0.sources = ["acceptLanguage": .header("accept-language")] },
        Route(
            .post, "/compatibility/responses", .user, .message("questionnaire.submit-responses"),
            "Saves answers, and completes the questionnaire where asked."
        ).with { $0.body = .members },
    ]

    private static let session = "/questionnaires/{key}/sessions/{id}"
    private static let part: [String: Route.Source] = ["questionnaire": .path("key"), "sessionId": .path("id")]
    private static let version: [String: Route.Source] = ["questionnaire": .path("key"), "version": .path("n")]
    private static let draft: [String: Route.Source] = ["questionnaire": .path("key"), "draft": .path("n")]
    private static let view = part.merging(["acceptLanguage": .header("accept-language")]) { $1 }
    private static let answer = part.merging(["question": .path("question"), "subject": .query("subject")]) { $1 }
    private static let subject = part.merging(["subject": .path("uuid")]) { $1 }

    private static let sessions: [Route] = [
        Route(
            .get, "/questionnaires", .user, .message("questionnaire.list-questionnaires"),
            "The published questionnaires."
        ).with { $0.sources = ["acceptLanguage": .header("accept-language")] },
        Route(
            .get, "/questionnaires/{key}", .user, .message("questionnaire.get-questionnaire"),
            "A questionnaire in its newest version."
        ).with {
            $0.isRevalidated = true
            $0.sources = ["questionnaire": .path("key")]
        },
        Route(
            .get, "/questionnaires/{key}/versions/{n}", .user, .message("questionnaire.get-version"),
            "One version of a questionnaire."
        ).with {
            $0.isRevalidated = true
            $0.sources = version
        },
        Route(
            .post, "/questionnaires/{key}/sessions", .user, .message("questionnaire.open-session"),
            "Opens a session, or answers with the open one."
        ).with {
            $0.mayCreate = true
            $0.body = .members
            $0.sources = ["questionnaire": .path("key"), "acceptLanguage": .header("accept-language")]
        },
        Route(
            .get, "/questionnaires/{key}/sessions", .user, .message("questionnaire.list-sessions"),
            "The person's sessions."
        ).with { $0.sources = ["questionnaire": .path("key")] },
        Route(.get, session, .user, .message("questionnaire.get-session"), "One session.").with { $0.sources = view },
        Route(
            .put, session + "/answers/{question}", .user, .message("questionnaire.put-answer"), "Saves one answer."
        ).with {
            $0.body = .members
            $0.sources = answer
        },
        Route(
            .delete, session + "/answers/{question}", .user, .message("questionnaire.delete-answer"),
            "Takes one answer back."
        ).with {
            $0.body = .members
            $0.sources = answer
        },
        Route(
            .post, session + "/answers:batch", .user, .message("questionnaire.put-answers"),
            "Saves up to 100 answers in order."
        ).with {
            $0.body = .members
            $0.sources = part
        },
        Route(
            .put, session + "/subjects/{uuid}", .user, .message("questionnaire.put-subject"),
            "Adds or names a repeating subject."
        ).with {
            $0.body = .members
            $0.sources = subject
        },
        Route(
            .delete, session + "/subjects/{uuid}", .user, .message("questionnaire.remove-subject"),
            "Removes a repeating subject."
        ).with { $0.sources = subject },
        Route(
            .post, session + "/complete", .user, .message("questionnaire.complete-session"), "Completes the session."
        ).with { $0.sources = view },
        Route(
            .post, session + "/reopen", .user, .message("questionnaire.reopen-session"),
            "Opens a completed session again."
        ).with { $0.sources = view },
        Route(
            .post, session + "/stop", .user, .message("questionnaire.stop-session"),
            "Ends an open session for good without completing it."
        ).with { $0.sources = view },
        Route(
            .post, session + "/migrations", .user, .message("questionnaire.migrate-session"),
            "Moves the session to the newest version."
        ).with { $0.sources = view.merging(["dryRun": .query("dryRun")]) { $1 } },
        Route(
            .post, session + "/migrations/undo", .user, .message("questionnaire.undo-migration"),
            "Takes the last migration back, until something is written."
        ).with { $0.sources = view },
    ]

    private static let admin = "/admin/questionnaires/{key}"

    private static let editor: [Route] = [
        Route(
            .get, admin, .admin, .message("questionnaire.view-questionnaire"),
            "A questionnaire with its drafts and versions."
        ).with { $0.sources = ["questionnaire": .path("key")] },
        Route(.post, admin + "/drafts", .admin, .message("questionnaire.create-draft"), "Begins a draft.").with {
            $0.success = 201
            $0.body = .members
            $0.bodyLimit = 524_288
            $0.sources = ["questionnaire": .path("key")]
        },
        Route(.get, admin + "/drafts/{n}", .admin, .message("questionnaire.get-draft"), "A draft as it stands.")
            .with { $0.sources = draft },
        Route(.put, admin + "/drafts/{n}", .admin, .message("questionnaire.put-draft"), "Replaces a draft.").with {
            $0.body = .members
            $0.bodyLimit = 524_288
            $0.sources = draft.merging(["ifMatch": .header("if-match")]) { $1 }
        },
        Route(
            .post, admin + "/drafts/{n}/check", .admin, .message("questionnaire.check-draft"),
            "Lists every problem of a draft."
        ).with { $0.sources = draft },
        Route(
            .post, admin + "/drafts/{n}/publish", .admin, .message("questionnaire.publish-draft"),
            "Publishes a draft."
        ).with {
            $0.body = .members
            $0.sources = draft
        },
        Route(
            .post, admin + "/versions/{n}/retire", .admin, .message("questionnaire.retire-version"),
            "Retires a version."
        ).with { $0.sources = version },
        Route(
            .get, admin + "/diff", .admin, .message("questionnaire.compare-versions"),
            "What differs between two versions."
        ).with { $0.sources = ["questionnaire": .path("key"), "from": .query("from"), "to": .query("to")] },
        Route(
            .get, admin + "/versions/{n}/statistics", .admin, .message("questionnaire.get-statistics"),
            "What people did with each question of a version."
        ).with { $0.sources = version },
    ]
}
