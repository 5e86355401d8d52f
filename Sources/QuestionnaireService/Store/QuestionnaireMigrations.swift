import Database

/// The schema of questionnaire, step by step.
enum QuestionnaireMigrations {
    static let all = [
        migration("m0001_questionnaires", PackageResources.m0001_questionnaires_sql),
        migration("m0002_sessions", PackageResources.m0002_sessions_sql),
        migration("m0003_validate_states", PackageResources.m0003_validate_states_sql),
        migration("m0004_life_cycle", PackageResources.m0004_life_cycle_sql),
        migration("m0005_migrations", PackageResources.m0005_migrations_sql),
        migration("m0006_facts", PackageResources.m0006_facts_sql),
        migration("m0007_answer_devices", PackageResources.m0007_answer_devices_sql),
        migration("m0008_revisions", PackageResources.m0008_revisions_sql),
        migration("m0009_preferences", PackageResources.m0009_preferences_sql),
        migration("m0010_no_revision_twice", PackageResources.m0010_no_revision_twice_sql),
        migration("m0011_sealed_dates", PackageResources.m0011_sealed_dates_sql),
        migration("m0012_bounded_histories", PackageResources.m0012_bounded_histories_sql),
        migration("m0013_history_ages", PackageResources.m0013_history_ages_sql),
        migration("m0014_times_from_before", PackageResources.m0014_times_from_before_sql),
        migration("m0015_deleted_drafts", PackageResources.m0015_deleted_drafts_sql),
    ]

    private static func migration(_ name: String, _ sql: [UInt8]) -> Migration {
        Migration(name: name, sql: String(decoding: sql, as: UTF8.self))
    }
}
