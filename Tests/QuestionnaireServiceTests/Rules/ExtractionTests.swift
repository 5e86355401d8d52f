import BusProtocol
import JSONText
import Testing

@testable import QuestionnaireService

/// What a result says of fields of the profile.
@Suite("extracts") struct ExtractionTests {
    private static func definition(_ questions: [JSONValue]) throws -> Definition {
        try DefinitionParserTests.parse(Sample.definition(questions))
    }

    private static func question(_ key: String, _ type: String, field: String) -> JSONValue {
        Sample.question(key, type, ["extract": ["profileField": .string(field)]])
    }

    private static func answered(_ value: JSONValue) -> JSONValue {
        ["state": "answered", "revision": 1, "value": value]
    }

    @Test func extractsAreTheAnswersInTheirOrder() throws {
        let definition = try Self.definition([
            Self.question("tall", "height", field: "heightInches"), Self.question("name", "text", field: "firstName"),
            Self.question("nick", "text", field: "firstName"), Sample.question("plain", "text"),
            Self.question("left", "text", field: "bio"), Self.question("unsaid", "text", field: "religion"),
            Self.question("suggested", "text", field: "city"), Self.question("absent", "text", field: "state"),
        ])
        let found = Extraction.extracts(
            of: definition,
            from: [
                "tall": Self.answered(["unit": "in", "value": 70]), "name": Self.answered("Zoë"),
                "nick": Self.answered("Zo"), "plain": Self.answered("x"), "left": ["state": "skipped", "revision": 1],
                "unsaid": ["state": "declined", "revision": 1], "suggested": ["state": "default", "value": "Lund"],
            ])
        #expect(
            found == [
                ProfileExtract(field: "heightInches", value: 70), ProfileExtract(field: "firstName", value: "Zoë"),
            ])
        #expect(definition.hasExtracts)
        #expect(try !Self.definition([Sample.question("plain", "text")]).hasExtracts)
    }

    @Test func anExtractInARepeatedSectionOrInfoScreenIsRefused() {
        let repeated = Sample.definition(sections: [
            [
                "key": "first", "repeat": ["subject": "child", "min": 1, "max": 2],
                "questions": [Self.question("name", "text", field: "firstName")],
            ]
        ])
        #expect(DefinitionParserTests.problems(repeated) == ["E08 /sections/0/questions/0/extract"])
        let screen = Sample.definition([Self.question("note", "info", field: "firstName")])
        #expect(DefinitionParserTests.problems(screen) == ["E08 /sections/0/questions/0/extract"])
    }
}
