/// Every column in which a person's id may stand, and what an export shows of its table. A column that is new stands here, or
/// the tests of export and deletion fail.
enum PersonColumns {
    /// The kind of record that a table is exported as.
    static let exported = [
        "auth.accounts.id": "account", "auth.devices.person_id": "device", "auth.freezes.person_id": "freeze",
        "auth.identities.person_id": "identity", "auth.phone_aliases.person_id": "formerPhone",
        "auth.phones.person_id": "phone", "auth.pseudonyms.person_id": "act",
        "auth.replaced_push_tokens.person_id": "formerPushToken", "auth.role_proposals.person_id": "roleProposal",
        "auth.sessions.person_id": "session", "auth.staff_notes.person_id": "staffNote",
        "profile.journeys.person_id": "event", "profile.onboarding_events.person_id": "event",
        "profile.profile_field_history.person_id": "field_history", "profile.profiles.person_id": "profile",
        "profile.pseudonyms.person_id": "act", "profile.staff_notes.person_id": "staffNote",
        "profile.waitlist.person_id": "waitlist",
        "questionnaire.answer_history.person_id": "answer_history", "questionnaire.answers.person_id": "answer",
        "questionnaire.mutations.person_id": "mutation", "questionnaire.session_migrations.person_id": "migration",
        "questionnaire.sessions.person_id": "session", "questionnaire.snapshots.person_id": "snapshot",
        "questionnaire.subjects.person_id": "subject",
        "recovery.cases.account_id": "case", "recovery.locks.person_id": "recovery_lock",
    ]

    /// Of tables that hold no more of a person than the id itself: counters of events, and events on their way. Questionnaire
    /// and recovery write no act down under a person's pseudonym.
    static let bare = Set(
        ["auth", "profile", "questionnaire", "recovery"].flatMap { service in
            ["event_positions", "outbox", "outbox_sequences"].map { "\(service).\($0).person_id" }
        } + ["questionnaire.pseudonyms.person_id", "recovery.pseudonyms.person_id"])

    static var all: Set<String> { bare.union(exported.keys) }
}
