import Cryptography
import Foundation
import TestSupport
import Testing

@testable import ProcessRuntime
@testable import ServiceRuntime

@Suite("Configuration") struct ConfigurationTests {
    private static let variables: [ConfigurationVariable] = [
        .init("SHOP_OPEN", .duration(90...86_400, mayBeOff: false), "15m", "How long"),
        .init("SHOP_REST", .duration(3600...1_209_600, mayBeOff: true), "off", "How long"),
        .init("SHOP_SIZE", .integer(1...9), "3", "How many"), .init("SHOP_KIND", .choice(["book"]), "book", "Which"),
        .init("SHOP_NAME", .text, nil, "Of the shop"), .init("SHOP_CODE", .text, nil, "Of the door", isSecret: true),
    ]

    private func read(_ environment: [String: String]) throws -> Configuration {
        try Configuration(variables: Self.variables, prefix: "SHOP_", environment: environment)
    }

    private func refusal(_ environment: [String: String]) -> String? {
        #expect(throws: ConfigurationError.self) { try read(environment) }?.description
    }

    @Test("a refused value is named with the accepted ones")
    func refusals() {
        #expect(refusal(["SHOP_OPEN": "5"]) == "SHOP_OPEN: \"5\" is not valid (duration 90s…1d)")
        #expect(refusal(["SHOP_OPEN": "2d"]) == "SHOP_OPEN: \"2d\" is not valid (duration 90s…1d)")
        #expect(refusal(["SHOP_OPEN": "off"]) == "SHOP_OPEN: \"off\" is not valid (duration 90s…1d)")
        #expect(refusal(["SHOP_REST": "1s"]) == "SHOP_REST: \"1s\" is not valid (duration 1h…14d or off)")
        #expect(refusal(["SHOP_SIZE": "10"]) == "SHOP_SIZE: \"10\" is not valid (number 1…9)")
        #expect(refusal(["SHOP_KIND": "bread"]) == "SHOP_KIND: \"bread\" is not valid (book)")
        #expect(refusal(["SHOP_SIZES": "1"]) == "SHOP_SIZES is no variable of this program: is SHOP_SIZE meant?")
        #expect(refusal(["SHOP_COLOUR": "1"]) == "SHOP_COLOUR is no variable of this program: is it misspelt?")
        #expect(refusal(["VESTIBULE_PROFILE": "live"])?.contains("development, staging or production") == true)
    }

    @Test func theDefaultProfileIsProduction() throws {
        #expect(try read([:]).profile == .production)
        #expect(try read(["VESTIBULE_PROFILE": "development"]).profile == .development)
    }

    @Test func aKeyRingThatOthersMayReadIsForDevelopmentOnly() throws {
        let folder = try ScratchFolder()
        let path = "\(folder.path)/code"
        func ring(_ mode: Int, _ profile: String) throws -> KeyRing {
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(KeyRing.generate(id: "k1").utf8), attributes: [.posixPermissions: mode])
            return try read(["SHOP_CODE_FILE": path, "VESTIBULE_PROFILE": profile]).keyRing("SHOP_CODE")
        }
        for (mode, profile) in [(0o400, "production"), (0o440, "staging"), (0o444, "development")] {
            #expect(throws: Never.self) { _ = try ring(mode, profile) }
        }
        for (mode, profile) in [(0o444, "production"), (0o404, "staging"), (0o402, "production")] {
            let error = #expect(throws: ConfigurationError.self) { _ = try ring(mode, profile) }
            #expect(error?.description.hasPrefix("SHOP_CODE_FILE may be read or written by others") == true)
        }
    }

    @Test(
        "a hold of less than a day is for development only",
        arguments: [
            ("development", "1s", 1), ("staging", "24h", 86_400), ("production", "23h", nil), ("staging", "1s", nil),
        ] as [(String, String, Int64?)])
    func recoveryHold(profile: String, hold: String, seconds: Int64?) throws {
        let configuration = try Configuration(
            variables: [RecoveryHold.variable], prefix: "AUTH_",
            environment: ["VESTIBULE_PROFILE": profile, "RECOVERY_HOLD": hold])
        #expect((try? RecoveryHold.seconds(configuration)) == seconds)
    }

    @Test(
        "a misspelled variable is refused",
        arguments: [
            "VESTIBULE_PROFIL", "VESTIBULE_PROFLE", "VESTIBUL_PROFIL", "VESTIBULE-PROFILE", "VESTIBULE_PROFIEL",
        ])
    func misspellings(name: String) {
        let variables = Self.variables + [.init("VESTIBULE_PROFILE", .text, "development", "Which")]
        func read(_ environment: [String: String]) throws {
            _ = try Configuration(variables: variables, prefix: "SHOP_", environment: environment)
        }
        let error = #expect(throws: ConfigurationError.self) { try read([name: "production"]) }
        #expect(error?.description == "\(name) is no variable of this program: is VESTIBULE_PROFILE meant?")
        // These belong to other programs, though they begin alike.
        #expect(throws: Never.self) {
            try read(["VESTIBULE_PROVE": "1", "VESTIBULE_IMAGE": "x", "SHO_NME": "x", "HOP_SIZE_PORT": "1"])
        }
        #expect(throws: ConfigurationError.self) { try read(["SHOP_COD_FILE": "x"]) }
    }

    @Test func durationsHaveUnits() throws {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86_400)] as [(String, Int64)] {
            #expect(try read(["SHOP_OPEN": text]).duration("SHOP_OPEN") == .seconds(seconds))
        }
        for text in ["", "s", "1", "1.5m", "-1m", "1 m", "1w", "9223372036854775807d"] {
            #expect(Configuration.seconds(text) == nil, "\(text)")
        }
    }

    @Test func aMissingVariableIsNamedWithItsFileVariant() throws {
        let configuration = try read([:])
        func missing(_ name: String) -> String? {
            #expect(throws: ConfigurationError.self) { try configuration.text(name) }?.description
        }
        #expect(missing("SHOP_NAME") == "SHOP_NAME is required")
        #expect(missing("SHOP_CODE") == "SHOP_CODE or SHOP_CODE_FILE is required")
    }

    @Test func aSecretMayStandInAFileAndIsNeverShown() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID())")
        try "open sesame\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try read(["SHOP_CODE_FILE": file.path]).text("SHOP_CODE") == "open sesame")
        try "\n".write(to: file, atomically: true, encoding: .utf8)
        #expect(try read(["SHOP_CODE_FILE": file.path]).optionalText("SHOP_CODE") == nil, "an empty file says nothing")
        let lost = refusal(["SHOP_CODE_FILE": "/nowhere/secret"])
        #expect(lost == "SHOP_CODE_FILE names a file that cannot be read")
    }

    @Test func variablesInjectedByOrchestratorsAreIgnored() throws {
        _ = try read(["SHOP_SERVICE_HOST": "10.0.0.1", "SHOP_PORT_80_TCP": "x"])
    }
}
