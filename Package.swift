// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// For what runs on the loop. The compiler proves that `@Loop` code is called on the loop only; beside that it would look
/// again each time that such code calls a closure of its own, a fifth of a request's time. Debug builds, in which the
/// tests run, keep that look.
let onLoop: [SwiftSetting] =
    strict + [.unsafeFlags(["-Xfrontend", "-disable-dynamic-actor-isolation"], .when(configuration: .release))]

/// For what all services share. Debug builds, in which the tests run, optimise it as release builds do: without that,
/// `RunningContractTests` takes half as much processor time again. Checks of bounds, of numbers and of access stay; only
/// `assert` would not. Messages take longer to optimise than that saves.
let optimised: SwiftSetting = .unsafeFlags(["-O"], .when(configuration: .debug))

/// What a service is built from. A service target never depends on another service.
let serviceParts: [Target.Dependency] = [
    "BusProtocol", "BusRuntime", "Cryptography", "Database", "Documents", "EventLoop", "JSONText", "Languages",
    "ProcessRuntime", "ServiceRuntime",
]

func library(
    _ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = onLoop + [optimised]
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency], plugins: [Target.PluginUsage] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, exclude: exclusions[name] ?? [], swiftSettings: onLoop, plugins: plugins
    )
}

/// A service's migrations, definitions, plans and tables are in its program.
func service(_ name: String, _ more: [Target.Dependency] = []) -> Target {
    program(name, serviceParts + more, plugins: ["EmbedFiles"])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclusions[name] ?? [], swiftSettings: strict)
}

let exclusions: [String: [String]] = [
    "FuzzTests": ["Corpus"],
    "Gateway": ["WebSDK/tests", "WebSDK/package.json", "WebSDK/tsconfig.json"],
    "ImageReadingTests": ["Fixtures"], "VisualPreferenceServiceTests": ["Fixtures"],
    "AuthServiceTests": ["Numbers"], "ProfileServiceTests": ["Cases"], "ServiceContractTests": ["Fixtures"],
]

let package = Package(
    name: "vestibule",
    // Of the client alone: everything else runs on Linux.
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "VestibuleClient", targets: ["VestibuleClient"]),
        .library(name: "BusProtocol", targets: ["BusProtocol"]),
        .executable(name: "AuthService", targets: ["AuthService"]),
        .executable(name: "ProfileService", targets: ["ProfileService"]),
        .executable(name: "QuestionnaireService", targets: ["QuestionnaireService"]),
        .executable(name: "RecoveryService", targets: ["RecoveryService"]),
        .executable(name: "VisualPreferenceService", targets: ["VisualPreferenceService"]),
        .executable(name: "VerificationService", targets: ["VerificationService"]),
        .executable(name: "Gateway", targets: ["Gateway"]),
        .executable(name: "vestibule", targets: ["VestibuleCLI"]),
    ],
    targets: [
        .systemLibrary(name: "CZMQ"),
        .systemLibrary(name: "CPostgres"),
        .systemLibrary(name: "CCrypto"),
        .systemLibrary(name: "CLinux"),
        .executableTarget(name: "FileEmbedder", swiftSettings: strict),
        .plugin(
            name: "EmbedFiles", capability: .buildTool(), dependencies: ["FileEmbedder"], path: "Sources/EmbedFiles"),
        .executableTarget(name: "MessageLister", swiftSettings: strict),
        .plugin(
            name: "ListMessages", capability: .buildTool(), dependencies: ["MessageLister"],
            path: "Sources/ListMessages"),
        .executableTarget(name: "LanguageChecker", swiftSettings: strict),
        .plugin(
            name: "CheckLanguages", capability: .buildTool(), dependencies: ["LanguageChecker"],
            path: "Sources/CheckLanguages"),
        .target(name: "Languages", swiftSettings: strict, plugins: ["CheckLanguages"]),
        library("EventLoop", ["CLinux"]),
        library("ImageReading", [], strict + [optimised]),
        library("JSONText", [], strict + [optimised]),
        library("Cryptography", ["CCrypto"]),
        library("MessageExpansion", [], strict),
        .macro(name: "MessageMacros", dependencies: ["MessageExpansion"], swiftSettings: strict),
        library("Values", ["JSONText"], strict + [optimised]),
        .target(
            name: "BusProtocol", dependencies: ["JSONText", "MessageMacros", "Values"], swiftSettings: strict,
            plugins: ["ListMessages"]),
        library("BusRuntime", ["BusProtocol", "CZMQ", "EventLoop", "JSONText"]),
        library("Database", ["CPostgres", "Cryptography", "EventLoop", "JSONText", "Values"]),
        library("HTTPServer", ["EventLoop", "Values"]),
        library(
            "ProcessRuntime",
            ["BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "HTTPServer", "JSONText"]),
        library(
            "ServiceRuntime",
            ["BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "JSONText", "ProcessRuntime"]),
        .target(
            name: "Cities", dependencies: ["BusProtocol"], swiftSettings: strict + [optimised],
            plugins: ["EmbedFiles"]),
        library("ProviderHTTP", ["Cryptography", "EventLoop", "ProcessRuntime", "Values"]),
        library("Documents", ["BusProtocol", "Cryptography", "Database", "EventLoop", "JSONText", "ProcessRuntime"]),
        service("AuthService", ["ProviderHTTP"]),
        service("ProfileService", ["Cities"]),
        service("QuestionnaireService"),
        service("RecoveryService"),
        service("VisualPreferenceService", ["HTTPServer"]),
        service("VerificationService", ["HTTPServer", "ImageReading", "ProviderHTTP"]),
        program(
            "Gateway",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "HTTPServer", "JSONText", "Languages",
                "ProcessRuntime",
            ],
            plugins: ["EmbedFiles"]),
        library("VestibuleClient", [], strict),
        program("BusBench", ["BusProtocol", "BusRuntime", "CZMQ", "Cryptography", "EventLoop", "JSONText"]),
        program(
            "VestibuleCLI", ["BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "JSONText", "VestibuleClient"]),
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
        tests("ImageReadingTests", ["ImageReading", "TestSupport"]),
        tests("JSONTextTests", ["JSONText"]),
        tests("MessageExpansionTests", ["MessageExpansion"]),
        tests("CryptographyTests", ["Cryptography", "TestSupport"]),
        tests(
            "BusRuntimeTests",
            ["BusProtocol", "BusRuntime", "CZMQ", "EventLoop", "JSONText", "TestReplica", "TestSupport"]),
        tests(
            "DatabaseTests", ["BusProtocol", "Cryptography", "Database", "EventLoop", "ServiceRuntime", "TestSupport"]),
        tests(
            "DocumentsTests",
            [
                "BusProtocol", "Cryptography", "Database", "Documents", "EventLoop", "JSONText", "ProcessRuntime",
                "TestSupport",
            ]),
        tests(
            "FuzzTests",
            ["BusProtocol", "Documents", "HTTPServer", "ImageReading", "JSONText", "QuestionnaireService"]),
        tests("HTTPServerTests", ["EventLoop", "HTTPServer", "TestSupport", "Values"]),
        tests(
            "ServiceRuntimeTests",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "JSONText", "ProcessRuntime",
                "ServiceRuntime", "TestSupport",
            ]),
        tests(
            "GatewayTests",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "EventLoop", "Gateway", "HTTPServer", "JSONText",
                "Languages", "ProcessRuntime", "TestSupport",
            ]),
        tests("LanguagesTests", ["LanguageChecker", "Languages"]),
        tests(
            "AuthServiceTests", serviceParts + ["AuthService", "Gateway", "HTTPServer", "ProviderHTTP", "TestSupport"]),
        tests("ProfileServiceTests", serviceParts + ["Cities", "ProfileService", "TestSupport"]),
        tests("QuestionnaireServiceTests", serviceParts + ["QuestionnaireService", "TestSupport"]),
        tests("RecoveryServiceTests", serviceParts + ["RecoveryService", "TestSupport"]),
        tests(
            "VisualPreferenceServiceTests",
            serviceParts + ["HTTPServer", "TestSupport", "VisualPreferenceService"]),
        tests(
            "VerificationServiceTests",
            serviceParts + ["HTTPServer", "ProviderHTTP", "TestSupport", "VerificationService"]),
        tests(
            "VestibuleCLITests",
            [
                "BusProtocol", "BusRuntime", "Cryptography", "Database", "EventLoop", "JSONText", "RecoveryService",
                "TestSupport", "VestibuleCLI", "VestibuleClient",
            ]),
        tests("VestibuleClientTests", ["VestibuleClient"]),
        tests(
            "ServiceContractTests",
            [
                "AuthService", "BusProtocol", "BusRuntime", "Database", "EventLoop", "Gateway", "JSONText",
                "ProfileService", "QuestionnaireService", "RecoveryService", "ServiceRuntime", "TestSupport",
                "VerificationService", "VisualPreferenceService",
            ]),
    ]
)
