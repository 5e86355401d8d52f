// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// For what runs on the loop. The compiler proves that `@Loop` code is called on the loop only; beside that it would look
/// again each time that such code calls a closure of its own, a fifth of a request's time. Debug builds, in which the
/// tests run, keep that look.
let onLoop: [SwiftSetting] =
    strict + [.unsafeFlags(["-Xfrontend", "-disable-dynamic-actor-isolation"], .when(configuration: .release))]

/// For what looks at each byte of a text. Debug builds, in which the tests run, optimise it as release builds do: else half
/// of the suite's time went there. Checks of bounds, of numbers and of access stay; only `assert` would not.
let byByte: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What a service is built from. A service target never depends on another service.
let serviceParts: [Target.Dependency] = [
    "BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "JSONText", "ServiceRuntime",
]

func library(_ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = onLoop) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func service(_ name: String, _ dependencies: [Target.Dependency] = serviceParts) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, exclude: exclusions[name] ?? [],
        resources: resources[name] ?? [], swiftSettings: onLoop)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclusions[name] ?? [], swiftSettings: strict)
}

/// Files compiled into the binary as bytes (`PackageResources`), so that a service is one file.
let resources: [String: [Resource]] = [
    "AuthService": [
        .embedInCode("Migrations/m0001_accounts.sql"), .embedInCode("Migrations/m0002_undelivered_codes.sql"),
        .embedInCode("Migrations/m0003_housekeeping.sql"), .embedInCode("Migrations/m0004_prefix_breakers.sql"),
        .embedInCode("Migrations/m0005_session_ends.sql"), .embedInCode("Migrations/m0006_signing_key_rotation.sql"),
        .embedInCode("Migrations/m0007_refresh_grace.sql"), .embedInCode("Migrations/m0008_push.sql"),
        .embedInCode("Migrations/m0009_reauthentication.sql"), .embedInCode("Migrations/m0010_deletion.sql"),
        .embedInCode("Migrations/m0011_identities.sql"), .embedInCode("Migrations/m0012_roles.sql"),
        .embedInCode("Migrations/m0013_phone_undo.sql"),
        .embedInCode("Migrations/m0020_recoveries.sql"), .embedInCode("Migrations/m0021_suspension.sql"),
        .embedInCode("Migrations/m0022_case_codes.sql"),
        .embedInCode("Migrations/m0023_freezes_end.sql"), .embedInCode("Migrations/m0024_holds.sql"),
        .embedInCode("Migrations/m0025_no_alias_of_a_recovery.sql"),
        .embedInCode("Migrations/m0026_named_accounts.sql"), .embedInCode("Migrations/m0027_sms_budget.sql"),
        .embedInCode("Migrations/m0028_doubted_removals.sql"),
        .embedInCode("Migrations/m0029_proofs_have_an_age.sql"), .embedInCode("Migrations/m0030_sites.sql"),
        .embedInCode("Migrations/m0031_phone_lookups.sql"),
    ],
    "ProfileService": [
        .embedInCode("Catalogue/profile-fields.json"), .embedInCode("Catalogue/profile-fields-sv.json"),
        .embedInCode("Profanity/refused-en.json"), .embedInCode("Profanity/refused-sv.json"),
        .embedInCode("Profanity/look-alikes.json"),
        .embedInCode("Migrations/m0001_profiles.sql"), .embedInCode("Migrations/m0002_fields_in_profiles.sql"),
        .embedInCode("Migrations/m0003_catalogue_versions.sql"), .embedInCode("Migrations/m0004_waitlist.sql"),
        .embedInCode("Migrations/m0005_backfill.sql"),
        .embedInCode("Migrations/m0006_onboarding_events.sql"), .embedInCode("Migrations/m0007_staff.sql"),
        .embedInCode("Migrations/m0008_later_services.sql"), .embedInCode("Migrations/m0009_time_zone.sql"),
        .embedInCode("Migrations/m0010_openings.sql"), .embedInCode("Migrations/m0011_visitor_counts.sql"),
        .embedInCode("Migrations/m0012_journeys.sql"), .embedInCode("Migrations/m0013_journeys_from_before.sql"),
        .embedInCode("Migrations/m0014_bounded_field_history.sql"),
    ],
    "QuestionnaireService": [
        .embedInCode("Definitions/yoked-compat.json"), .embedInCode("Definitions/skin-care.json"),
        .embedInCode("Definitions/eko-family.json"), .embedInCode("Definitions/realsingles-profile.json"),
        .embedInCode("Migrations/m0001_questionnaires.sql"), .embedInCode("Migrations/m0002_sessions.sql"),
        .embedInCode("Migrations/m0003_validate_states.sql"), .embedInCode("Migrations/m0004_life_cycle.sql"),
        .embedInCode("Migrations/m0005_migrations.sql"), .embedInCode("Migrations/m0006_facts.sql"),
        .embedInCode("Migrations/m0007_answer_devices.sql"),
        .embedInCode("Migrations/m0008_revisions.sql"),
        .embedInCode("Migrations/m0009_preferences.sql"), .embedInCode("Migrations/m0010_no_revision_twice.sql"),
        .embedInCode("Migrations/m0011_sealed_dates.sql"),
        .embedInCode("Migrations/m0012_bounded_histories.sql"), .embedInCode("Migrations/m0013_history_ages.sql"),
        .embedInCode("Migrations/m0014_times_from_before.sql"), .embedInCode("Migrations/m0015_deleted_drafts.sql"),
    ],
    "RecoveryService": [
        .embedInCode("Migrations/m0001_cases.sql"), .embedInCode("Migrations/m0002_no_requests.sql"),
        .embedInCode("Migrations/m0003_withdrawals.sql"), .embedInCode("Migrations/m0004_cases_of_account.sql"),
        .embedInCode("Migrations/m0005_shadows.sql"), .embedInCode("Migrations/m0006_notices.sql"),
        .embedInCode("Migrations/m0007_reviews.sql"), .embedInCode("Migrations/m0008_completion.sql"),
        .embedInCode("Migrations/m0009_holds.sql"), .embedInCode("Migrations/m0010_owner_evidence.sql"),
        .embedInCode("Migrations/m0011_all_evidence.sql"), .embedInCode("Migrations/m0012_lock_ends.sql"),
        .embedInCode("Migrations/m0014_sites.sql"), .embedInCode("Migrations/m0015_reasons.sql"),
    ],
]
let exclusions: [String: [String]] = [
    "AuthServiceTests": ["Numbers"], "ProfileServiceTests": ["Cases"], "ServiceContractTests": ["Fixtures"],
]

let package = Package(
    name: "vestibule",
    products: [
        .library(name: "BusProtocol", targets: ["BusProtocol"]),
        .executable(name: "AuthService", targets: ["AuthService"]),
        .executable(name: "ProfileService", targets: ["ProfileService"]),
        .executable(name: "QuestionnaireService", targets: ["QuestionnaireService"]),
        .executable(name: "RecoveryService", targets: ["RecoveryService"]),
        .executable(name: "Gateway", targets: ["Gateway"]),
        .executable(name: "vestibule", targets: ["VestibuleCLI"]),
    ],
    targets: [
        .systemLibrary(name: "CZMQ"),
        .systemLibrary(name: "CPostgres"),
        .systemLibrary(name: "CCrypto"),
        .systemLibrary(name: "CLinux"),
        library("EventLoop", ["CLinux", "CZMQ"]),
        library("JSONText", [], byByte),
        library("Cryptography", ["CCrypto"]),
        library("MessageExpansion", [], strict),
        .macro(name: "MessageMacros", dependencies: ["MessageExpansion"], swiftSettings: strict),
        library("BusProtocol", ["JSONText", "MessageMacros"], strict),
        library("BusRuntime", ["BusProtocol", "CZMQ", "EventLoop", "JSONText"]),
        library("Database", ["BusProtocol", "CPostgres", "Cryptography", "EventLoop"]),
        library("HTTPServer", ["EventLoop"]),
        library(
            "ServiceRuntime",
            ["BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "HTTPServer", "JSONText"]),
        service("AuthService"),
        service("ProfileService"),
        service("QuestionnaireService"),
        service("RecoveryService"),
        service(
            "Gateway",
            ["BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "HTTPServer", "JSONText", "ServiceRuntime"]),
        service("BusBench", ["BusProtocol", "BusRuntime", "CZMQ", "Cryptography", "EventLoop", "JSONText"]),
        service("VestibuleCLI", ["BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "JSONText"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "BusProtocol", "BusRuntime", "CPostgres", "CZMQ", "Cryptography", "Database", "EventLoop", "HTTPServer",
                "JSONText", "ServiceRuntime",
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .executableTarget(
            name: "TestReplica",
            dependencies: ["BusProtocol", "BusRuntime", "EventLoop", "ServiceRuntime", "TestSupport"],
            path: "Tests/TestReplica", swiftSettings: strict),
        tests("EventLoopTests", ["EventLoop"]),
        tests("JSONTextTests", ["JSONText"]),
        tests("MessageExpansionTests", ["MessageExpansion"]),
        tests("CryptographyTests", ["Cryptography", "TestSupport"]),
        tests(
            "BusRuntimeTests",
            ["BusProtocol", "BusRuntime", "CZMQ", "EventLoop", "JSONText", "TestReplica", "TestSupport"]),
        tests("DatabaseTests", ["BusProtocol", "Cryptography", "Database", "EventLoop", "TestSupport"]),
        tests("HTTPServerTests", ["EventLoop", "HTTPServer"]),
        tests(
            "ServiceRuntimeTests",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "JSONText", "ServiceRuntime",
                "TestSupport",
            ]),
        tests(
            "GatewayTests",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "Gateway", "HTTPServer", "JSONText",
                "ServiceRuntime",
                "TestSupport",
            ]),
        tests("AuthServiceTests", serviceParts + ["AuthService", "Gateway", "HTTPServer", "TestSupport"]),
        tests("ProfileServiceTests", serviceParts + ["ProfileService", "TestSupport"]),
        tests("QuestionnaireServiceTests", serviceParts + ["QuestionnaireService", "TestSupport"]),
        tests("RecoveryServiceTests", serviceParts + ["RecoveryService", "TestSupport"]),
        tests(
            "VestibuleCLITests",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "JSONText", "RecoveryService",
                "TestSupport", "VestibuleCLI",
            ]),
        tests(
            "ServiceContractTests",
            [
                "AuthService", "BusProtocol", "BusRuntime", "Database", "EventLoop", "Gateway", "JSONText",
                "ProfileService", "QuestionnaireService", "RecoveryService", "ServiceRuntime", "TestSupport",
            ]),
    ]
)
