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
    private static let view = part.merging(["acceptLanguage": .header("accept-language")]) { $1 }
    private static let answer = part.merging(["question": .path("question"), "subject": .query("subject")]) { $1 }
    private static let subject = part.merging(["subject": .path("uuid")]) { $1 }

    private static let sessions: [Route] = [
        Route(.get, "/questionnaires", .user, .later, "The published questionnaires."),
        Route(.get, "/questionnaires/{key}", .user, .later, "A questionnaire in its newest version."),
        Route(.get, "/questionnaires/{key}/versions/{n}", .user, .later, "One version of a questionnaire."),
        Route(
            .post, "/questionnaires/{key}/sessions", .user, .message("questionnaire.open-session"),
            "Opens a session, or answers with the open one."
        ).with {
            $0.mayCreate = true
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
        Route(.post, session + "/migrations", .user, .later, "Moves the session to the newest version."),
    ]

    private static let admin = "/admin/questionnaires/{key}"

    private static let editor: [Route] = [
        Route(.get, admin, .admin, .later, "A questionnaire with its drafts and versions."),
        Route(.post, admin + "/drafts", .admin, .later, "Begins a draft.").with { $0.bodyLimit = 524_288 },
        Route(.put, admin + "/drafts/{n}", .admin, .later, "Replaces a draft.").with { $0.bodyLimit = 524_288 },
        Route(.post, admin + "/drafts/{n}/check", .admin, .later, "Lists every problem of a draft."),
        Route(.post, admin + "/drafts/{n}/publish", .admin, .later, "Publishes a draft."),
        Route(.post, admin + "/versions/{n}/retire", .admin, .later, "Retires a version."),
        Route(.get, admin + "/diff", .admin, .later, "What differs between two versions."),
        Route(.get, admin + "/versions/{n}/statistics", .admin, .later, "Statistics of a version."),
    ]
}
