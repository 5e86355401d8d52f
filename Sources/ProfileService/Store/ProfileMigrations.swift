import Database

/// The schema of profile, step by step.
enum ProfileMigrations {
    static let all = [
        Migration(name: "m0001_profiles", sql: String(decoding: PackageResources.m0001_profiles_sql, as: UTF8.self)),
        Migration(
            name: "m0002_fields_in_profiles",
            sql: String(decoding: PackageResources.m0002_fields_in_profiles_sql, as: UTF8.self)),
        Migration(
            name: "m0003_catalogue_versions",
            sql: String(decoding: PackageResources.m0003_catalogue_versions_sql, as: UTF8.self)),
        Migration(name: "m0004_waitlist", sql: String(decoding: PackageResources.m0004_waitlist_sql, as: UTF8.self)),
        Migration(name: "m0005_backfill", sql: String(decoding: PackageResources.m0005_backfill_sql, as: UTF8.self)),
        Migration(
            name: "m0006_onboarding_events",
            sql: String(decoding: PackageResources.m0006_onboarding_events_sql, as: UTF8.self)),
        Migration(name: "m0007_staff", sql: String(decoding: PackageResources.m0007_staff_sql, as: UTF8.self)),
        Migration(
            name: "m0008_later_services",
            sql: String(decoding: PackageResources.m0008_later_services_sql, as: UTF8.self)),
        Migration(name: "m0009_time_zone", sql: String(decoding: PackageResources.m0009_time_zone_sql, as: UTF8.self)),
        Migration(name: "m0010_openings", sql: String(decoding: PackageResources.m0010_openings_sql, as: UTF8.self)),
        Migration(
            name: "m0011_visitor_counts",
            sql: String(decoding: PackageResources.m0011_visitor_counts_sql, as: UTF8.self)),
        Migration(name: "m0012_journeys", sql: String(decoding: PackageResources.m0012_journeys_sql, as: UTF8.self)),
        Migration(
            name: "m0013_journeys_from_before",
            sql: String(decoding: PackageResources.m0013_journeys_from_before_sql, as: UTF8.self)),
        Migration(
            name: "m0014_bounded_field_history",
            sql: String(decoding: PackageResources.m0014_bounded_field_history_sql, as: UTF8.self)),
    ]
}
