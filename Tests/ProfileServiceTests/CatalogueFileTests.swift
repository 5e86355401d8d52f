import BusProtocol
import JSONText
import Testing

@testable import ProfileService

@Suite("the catalogue of fields") struct CatalogueFileTests {
    private static let file = String(decoding: EmbeddedFiles.Catalogue.profile_fields.bytes, as: UTF8.self)

    /// One entry for each version that was released, never edited: another content is another version.
    private static let released: [Int64: String] = [
        1: "6b3f07982660c6de5133dbf8f5d9289b9f6287955ca67bda0d24e9d1ec166313",
        2: "dc9c237754691e24c1a882ec7509abf487ebae887adf1acf5da9c5d67d6f8943",
    ]

    @Test func aVersionIsOneContent() throws {
        let view = try FieldCatalogue.shipped.get().view
        #expect(Self.released[view.version] == view.hash)
        #expect(view.version == Self.released.keys.max())
    }

    @Test func theHashIsOfTheContentAndNotOfItsLayout() throws {
        let value = try JSONValue.parse(EmbeddedFiles.Catalogue.profile_fields.bytes)
        let respaced = try CatalogueFile.read(CanonicalJSON.bytes(of: value))
        #expect(respaced.view == (try FieldCatalogue.shipped.get().view))
        let changed = Self.file.replacing("\"Zodiac sign\"", with: "\"Star sign\"")
        #expect(try CatalogueFile.read(Array(changed.utf8)).view.hash != respaced.view.hash)
    }

    @Test func everyFieldOfTheSourcesIsThere() {
        let expected: [(Int64, String)] = [
            (2, "displayName"), (2, "firstName"), (2, "lastName"), (3, "dateOfBirth"), (4, "gender"),
            (5, "lookingFor"), (6, "photo"), (7, "city"), (7, "state"), (7, "country"), (7, "coordinates"),
            (8, "heightInches"), (8, "bodyType"), (9, "bio"), (10, "interests"), (11, "ethnicity"), (11, "languages"),
            (12, "religion"), (12, "politicalViews"), (13, "hasKids"), (13, "pets"), (13, "zodiac"),
        ]
        #expect(FieldCatalogue.fields.map(\.key) == expected.map(\.1))
        #expect(FieldCatalogue.fields.map(\.step) == expected.map(\.0))
        #expect(FieldCatalogue.totalSteps == 13)
    }

    @Test func theKindsOfFieldsAreThoseOfTheDocuments() throws {
        func keys(_ matches: (ProfileFieldView) -> Bool) throws -> Set<String> {
            Set(try FieldCatalogue.shipped.get().view.fields.filter(matches).map(\.key))
        }
        #expect(try keys(\.required) == ["displayName", "dateOfBirth", "gender", "lookingFor"])
        #expect(try keys(\.encouraged) == ["photo", "city", "bio"])
        #expect(
            try keys(\.sensitive) == [
                "gender", "ethnicity", "religion", "politicalViews", "bodyType", "heightInches", "hasKids",
            ])
        #expect(try keys(\.allowsPreferNotToSay) == keys(\.sensitive))
        #expect(try keys { $0.visibility != "public" } == ["dateOfBirth", "coordinates", "lastName"])
        #expect(try keys { $0.storage == "text[]" } == ["lookingFor", "interests", "ethnicity", "languages", "pets"])
        #expect(try keys { $0.options?.contains { $0.exclusive == true } == true } == ["lookingFor", "pets"])
        let options = Dictionary(
            uniqueKeysWithValues: try FieldCatalogue.shipped.get().view.fields.map { ($0.key, $0.options?.count) })
        #expect(options["interests"] == 40 && options["languages"] == 183 && options["country"] == 249)
    }

    /// What a client cannot know from the type of a field.
    @Test func theFormKnowsWhatIsSetOnceLookedUpAndMadeOfParts() throws {
        let view = try FieldCatalogue.shipped.get().view
        #expect(view.fields.filter { $0.setOnce == true }.map(\.key) == ["dateOfBirth"])
        let lookups = view.fields.compactMap(\.lookup)
        #expect(lookups.map(\.path) == [FindCities.route.path] && lookups[0].parameter == "query")
        #expect(lookups[0].fills.map(\.field) == ["city", "state", "country"])
        let members = view.fields.filter { $0.members != nil }
        #expect(members.map(\.key) == ["coordinates"])
        #expect(members[0].members?.map(\.key) == ["latitude", "longitude"])
        #expect(view.preferNotToSay?.label == "Prefer not to say")
    }

    @Test(
        "a file that does not hold together is refused",
        arguments: [
            ("\"step\": 13, \"key\": \"life\"", "\"step\": 14, \"key\": \"life\""),
            ("\"key\": \"firstName\"", "\"key\": \"lastName\""), ("\"type\": \"boolean\"", "\"type\": \"maybe\""),
            ("\"min\": 48", "\"min\": 96"), ("\"format\": \"free_text\"", "\"format\": \"prose\""),
            ("\"key\": \"female\"", "\"key\": \"male\""),
            ("\"required\": true, \"encouraged\": false", "\"required\": false, \"encouraged\": false"),
            ("\"key\": \"dogs\",", "\"key\": \"dogs\", \"exclusive\": true,"), ("\"version\": 2", "\"version\": 0"),
            ("\"prefer_not_to_say\"", "\"rather_not\""), ("\"field\": \"state\"", "\"field\": \"district\""),
            ("{", "["),
        ] as [(String, String)])
    func refused(part: String, by other: String) throws {
        try #require(Self.file.contains(part), "the file has no such part")
        let edited = Self.file.replacing(part, with: other, maxReplacements: 1)
        #expect(throws: CatalogueError.self) { try CatalogueFile.read(Array(edited.utf8)) }
    }
}
