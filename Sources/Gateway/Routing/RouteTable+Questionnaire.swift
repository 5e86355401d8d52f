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

    private static let sessions: [Route] = [
        Route(.get, "/questionnaires", .user, .later, "The published questionnaires."),
        Route(.get, "/questionnaires/{key}", .user, .later, "A questionnaire in its newest version."),
        Route(.get, "/questionnaires/{key}/versions/{n}", .user, .later, "One version of a questionnaire."),
        Route(.post, "/questionnaires/{key}/sessions", .user, .later, "Opens a session."),
        Route(.get, "/questionnaires/{key}/sessions", .user, .later, "The person's sessions."),
        Route(.get, session, .user, .later, "One session."),
        Route(.put, session + "/answers/{question}", .user, .later, "Saves one answer."),
        Route(.delete, session + "/answers/{question}", .user, .later, "Takes one answer back."),
        Route(.post, session + "/answers:batch", .user, .later, "Saves up to 100 answers in order."),
        Route(.put, session + "/subjects/{uuid}", .user, .later, "Names a repeating subject."),
        Route(.delete, session + "/subjects/{uuid}", .user, .later, "Removes a repeating subject."),
        Route(.post, session + "/complete", .user, .later, "Completes the session."),
        Route(.post, session + "/reopen", .user, .later, "Opens a completed session again."),
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
