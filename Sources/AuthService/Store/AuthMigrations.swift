import Database

/// The schema of auth, step by step.
enum AuthMigrations {
    static let all = [
        Migration(name: "m0001_accounts", sql: String(decoding: PackageResources.m0001_accounts_sql, as: UTF8.self)),
        Migration(
            name: "m0002_undelivered_codes",
            sql: String(decoding: PackageResources.m0002_undelivered_codes_sql, as: UTF8.self)),
        Migration(
            name: "m0003_housekeeping", sql: String(decoding: PackageResources.m0003_housekeeping_sql, as: UTF8.self)),
        Migration(
            name: "m0004_prefix_breakers",
            sql: String(decoding: PackageResources.m0004_prefix_breakers_sql, as: UTF8.self)),
        Migration(
            name: "m0005_session_ends", sql: String(decoding: PackageResources.m0005_session_ends_sql, as: UTF8.self)),
        Migration(
            name: "m0006_signing_key_rotation",
            sql: String(decoding: PackageResources.m0006_signing_key_rotation_sql, as: UTF8.self)),
        Migration(
            name: "m0007_refresh_grace", sql: String(decoding: PackageResources.m0007_refresh_grace_sql, as: UTF8.self)),
        Migration(name: "m0008_push", sql: String(decoding: PackageResources.m0008_push_sql, as: UTF8.self)),
        Migration(
            name: "m0009_reauthentication",
            sql: String(decoding: PackageResources.m0009_reauthentication_sql, as: UTF8.self)),
        Migration(name: "m0010_deletion", sql: String(decoding: PackageResources.m0010_deletion_sql, as: UTF8.self)),
        Migration(
            name: "m0011_identities", sql: String(decoding: PackageResources.m0011_identities_sql, as: UTF8.self)),
        Migration(name: "m0012_roles", sql: String(decoding: PackageResources.m0012_roles_sql, as: UTF8.self)),
        Migration(
            name: "m0013_phone_undo", sql: String(decoding: PackageResources.m0013_phone_undo_sql, as: UTF8.self)),
        Migration(
            name: "m0020_recoveries", sql: String(decoding: PackageResources.m0020_recoveries_sql, as: UTF8.self)),
        Migration(
            name: "m0021_suspension", sql: String(decoding: PackageResources.m0021_suspension_sql, as: UTF8.self)),
        Migration(
            name: "m0022_case_codes", sql: String(decoding: PackageResources.m0022_case_codes_sql, as: UTF8.self)),
        Migration(
            name: "m0023_freezes_end",
            sql: String(decoding: PackageResources.m0023_freezes_end_sql, as: UTF8.self)),
        Migration(name: "m0024_holds", sql: String(decoding: PackageResources.m0024_holds_sql, as: UTF8.self)),
        Migration(
            name: "m0025_no_alias_of_a_recovery",
            sql: String(decoding: PackageResources.m0025_no_alias_of_a_recovery_sql, as: UTF8.self)),
        Migration(
            name: "m0026_named_accounts",
            sql: String(decoding: PackageResources.m0026_named_accounts_sql, as: UTF8.self)),
        Migration(
            name: "m0027_sms_budget", sql: String(decoding: PackageResources.m0027_sms_budget_sql, as: UTF8.self)),
        Migration(
            name: "m0028_doubted_removals",
            sql: String(decoding: PackageResources.m0028_doubted_removals_sql, as: UTF8.self)),
        Migration(
            name: "m0029_proofs_have_an_age",
            sql: String(decoding: PackageResources.m0029_proofs_have_an_age_sql, as: UTF8.self)),
        Migration(name: "m0030_sites", sql: String(decoding: PackageResources.m0030_sites_sql, as: UTF8.self)),
        Migration(
            name: "m0031_phone_lookups",
            sql: String(decoding: PackageResources.m0031_phone_lookups_sql, as: UTF8.self)),
    ]
}
