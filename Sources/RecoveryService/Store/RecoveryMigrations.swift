import Database

/// The schema of recovery, step by step.
enum RecoveryMigrations {
    static let all = [
        Migration(name: "m0001_cases", sql: String(decoding: PackageResources.m0001_cases_sql, as: UTF8.self)),
        Migration(
            name: "m0002_no_requests", sql: String(decoding: PackageResources.m0002_no_requests_sql, as: UTF8.self)),
        Migration(
            name: "m0003_withdrawals", sql: String(decoding: PackageResources.m0003_withdrawals_sql, as: UTF8.self)),
        Migration(
            name: "m0004_cases_of_account",
            sql: String(decoding: PackageResources.m0004_cases_of_account_sql, as: UTF8.self)),
        Migration(name: "m0005_shadows", sql: String(decoding: PackageResources.m0005_shadows_sql, as: UTF8.self)),
        Migration(name: "m0006_notices", sql: String(decoding: PackageResources.m0006_notices_sql, as: UTF8.self)),
        Migration(name: "m0007_reviews", sql: String(decoding: PackageResources.m0007_reviews_sql, as: UTF8.self)),
        Migration(
            name: "m0008_completion", sql: String(decoding: PackageResources.m0008_completion_sql, as: UTF8.self)),
        Migration(name: "m0009_holds", sql: String(decoding: PackageResources.m0009_holds_sql, as: UTF8.self)),
        Migration(
            name: "m0010_owner_evidence",
            sql: String(decoding: PackageResources.m0010_owner_evidence_sql, as: UTF8.self)),
        Migration(
            name: "m0011_all_evidence", sql: String(decoding: PackageResources.m0011_all_evidence_sql, as: UTF8.self)),
        Migration(
            name: "m0012_lock_ends", sql: String(decoding: PackageResources.m0012_lock_ends_sql, as: UTF8.self)),
        Migration(name: "m0014_sites", sql: String(decoding: PackageResources.m0014_sites_sql, as: UTF8.self)),
        Migration(name: "m0015_reasons", sql: String(decoding: PackageResources.m0015_reasons_sql, as: UTF8.self)),
    ]
}
