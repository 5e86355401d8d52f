import BusProtocol
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

@Suite("languages of the catalogue") struct LanguageTests {
    @Test(
        "the language that is read best",
        arguments: [
            (nil, "en"), ("", "en"), ("sv", "sv"), ("sv-SE", "sv"), ("SV-fi", "sv"), ("en, sv", "en"),
            ("sv;q=0.5, en;q=0.9", "en"), ("de, sv;q=0.2", "sv"), ("de", "en"), ("*", "en"), ("sv;q=0, *;q=0.1", "en"),
            ("sve", "en"), (";;;,,q=", "en"), ("sv;q=high, en;q=0.1", "en"),
        ] as [(String?, String)])
    func best(header: String?, expected: String) {
        #expect(LanguagePreference(header ?? "").choose(from: ["en", "sv"], fallback: "en") == expected)
    }

    @Test func theCatalogueIsTheSameInEachLanguageButForItsLabels() async throws {
        try await ProfileStage.run { profile in
            let english = try await profile.ask(GetProfileFields())
            let swedish = try await profile.ask(GetProfileFields(acceptLanguage: "sv-SE, en;q=0.5"))
            #expect(english.language == "en" && swedish.language == "sv")
            #expect(english.version == swedish.version && english.hash != swedish.hash)
            #expect(english.entityRevision != swedish.entityRevision, "a cache must not take one for the other")
            #expect(swedish.fields.first { $0.key == "heightInches" }?.label == "Längd")
            let countries = swedish.fields.first { $0.key == "country" }?.options
            #expect(countries?.first { $0.key == "DE" }?.label == "Tyskland")
            var relabelled = swedish
            (relabelled.language, relabelled.hash) = (english.language, english.hash)
            #expect(swedish.preferNotToSay?.label == "Vill inte svara")
            relabelled.preferNotToSay = english.preferNotToSay
            for (index, step) in english.steps.enumerated() { relabelled.steps[index].label = step.label }
            for (index, field) in english.fields.enumerated() {
                relabelled.fields[index].label = field.label
                for (place, option) in (field.options ?? []).enumerated() {
                    relabelled.fields[index].options?[place].label = option.label
                }
            }
            #expect(relabelled == english)
        }
    }
}
