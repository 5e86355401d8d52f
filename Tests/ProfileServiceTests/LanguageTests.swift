import BusProtocol
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

@Suite("languages of the field catalogue") struct LanguageTests {
    @Test(
        "the best language of the reader is chosen",
        arguments: [
            (nil, "en"), ("", "en"), ("sv", "sv"), ("sv-SE", "sv"), ("SV-fi", "sv"), ("en, sv", "en"),
            ("sv;q=0.5, en;q=0.9", "en"), ("de, sv;q=0.2", "sv"), ("de", "en"), ("*", "en"), ("sv;q=0, *;q=0.1", "en"),
            ("sve", "en"), (";;;,,q=", "en"), ("sv;q=high, en;q=0.1", "en"),
        ] as [(String?, String)])
    func best(header: String?, expected: String) {
        #expect(LanguagePreference(header ?? "").choose(from: ["en", "sv"], fallback: "en") == expected)
    }

    @Test func theFieldCatalogueIsTheSameInEachLanguageButForItsLabels() async throws {
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
            for (index, step) in english.steps.enumerated() {
                (relabelled.steps[index].label, relabelled.steps[index].questions) = (step.label, step.questions)
            }
            for (index, field) in english.fields.enumerated() {
                relabelled.fields[index].label = field.label
                for (place, option) in (field.options ?? []).enumerated() {
                    relabelled.fields[index].options?[place].label = option.label
                }
            }
            #expect(relabelled == english)
        }
    }

    /// An app can draw questions and profile fields with the same code.
    @Test func everyFieldThatIsFilledInByHandIsAQuestion() async throws {
        try await ProfileStage.run { profile in
            let swedish = try await profile.ask(GetProfileFields(acceptLanguage: "sv"))
            for step in swedish.steps {
                let fields = step.fields.compactMap { key in swedish.fields.first { $0.key == key } }
                let questions = try #require(step.questions)
                #expect(questions.map(\.key) == fields.filter { $0.members == nil }.map(\.key))
                for question in questions {
                    let field = try #require(fields.first { $0.key == question.key })
                    #expect(question.label == field.label && question.required == field.required)
                    #expect(question.skippable == field.skippable && question.unit == field.unit)
                    #expect(question.declineLabel == (field.allowsPreferNotToSay ? "Vill inte svara" : nil))
                    #expect(question.constraints.max == field.max.map(Double.init))
                    #expect(question.constraints.maxSelections == field.maxSelections)
                }
            }
            let questions = swedish.steps.flatMap { $0.questions ?? [] }
            func drawn(_ key: String) -> String? {
                questions.first { $0.key == key }.map { "\($0.type) \($0.control)" }
            }
            #expect(drawn("bio") == "text text_area" && drawn("displayName") == "text text")
            #expect(drawn("gender") == "single_choice select" && drawn("interests") == "multi_choice chips")
            #expect(drawn("dateOfBirth") == "date date" && drawn("heightInches") == "number number")
            #expect(drawn("hasKids") == "boolean switch" && drawn("coordinates") == nil)
            #expect(questions.first { $0.key == "heightInches" }?.default == 66)
        }
    }
}
