import Database

/// The schema of questionnaire, step by step.
enum QuestionnaireMigrations {
    static let all = [
        Migration(
            name: "m0001_questionnaires",
            sql: String(decoding: PackageResources.m0001_questionnaires_sql, as: UTF8.self))
    ]
}
