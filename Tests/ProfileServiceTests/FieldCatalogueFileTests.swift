import BusProtocol
import Cryptography
import Documents
import Foundation
import JSONText
import Testing

@testable import ProfileService

@Suite("the catalogue of fields") struct FieldCatalogueFileTests {
    private static let file = String(decoding: EmbeddedFiles.Fields.fields.bytes, as: UTF8.self)

    private static let library = Result { try FieldLibrary.shipped.get().library }

    /// The content of each version that was released. It never changes: another content is another version.
    private static let released: [String: String] = [
        "fields 2": "fb5e240d6bcaad41a830f7ab287653e034bc8e0e283ae4afab547fa213a21ea7",
        "yoked 1": "d69c47d42fddc73c7d1ea5e746288843d17fbfbe1c390c11769f566bccf60844",
        "yoked 2": "6f5da3507b4f0043d477bcf09690cf1aa028e67eac98a233d29eff1e0f0ff48e",
        "yoked 3": "c5c17d65d65fd144072ab983e618088754c1268c7688d9c28231df8a68fc5fd9",
        "yoked 4": "53c7b26d058223f863c6f89ecf70ca674584e1a1161d2593d8b25ff5c0160a73",
        "realsingles 1": "d5895db32cbca7e38043df993e3f8a6e63d0cef67a47196f2638835e9fc64b6c",
        "realsingles 2": "c027fd7b31c64f240f1d2422001471182e22aa19b3bb6b47f81056400562668f",
        "skin-care 1": "10d558e214969fbeaaad80c21259f5c0ae0961ee43ba2103664fc1d3db7805e4",
        "eko-family 1": "d78344fd461fc8cadb54d097cc297f8803c6aaf5d4a4ece39849e13600a40572",
    ]

    @Test func aVersionIsOneContent() throws {
        let library = try Self.library.get()
        var hashes = ["fields \(library.version)": Hex.encode(try FieldLibrary.shippedDocument.get().hash)]
        for file in EmbeddedFiles.Plans.all {
            let document = try PlanDocument(file.bytes)
            #expect(try PlanParser.parse(document, library).reference.key == file.name)
            hashes["\(file.name) \(document.version)"] = Hex.encode(document.hash)
        }
        for (version, hash) in hashes { #expect(Self.released[version] == hash, "\(version)") }
    }

    @Test func theExportedSchemasAreThoseOfTheBuild() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/schema")
        for (name, text) in [("plan.json", PlanFile.schemaText), ("fields.json", FieldLibraryDocument.schemaText)] {
            let committed = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(committed == text, "run: vestibule schema export docs/schema")
        }
    }

    @Test func everyFieldOfTheSourcesIsThere() {
        let expected: [(Int64, String)] = [
            (2, "displayName"), (2, "firstName"), (2, "lastName"), (3, "dateOfBirth"), (4, "gender"),
            (5, "lookingFor"), (6, "photo"), (7, "city"), (7, "state"), (7, "country"), (7, "coordinates"),
            (8, "heightInches"), (8, "bodyType"), (9, "bio"), (10, "interests"), (11, "ethnicity"), (11, "languages"),
            (12, "religion"), (12, "politicalViews"), (13, "hasKids"), (13, "pets"), (13, "zodiac"),
        ]
        #expect(FieldCatalogue.shipped.fields.map(\.key) == expected.map(\.1))
        #expect(FieldCatalogue.shipped.fields.map(\.step) == expected.map(\.0))
        #expect(FieldCatalogue.shipped.totalSteps == 13)
    }

    @Test func theKindsOfFieldsAreThoseOfTheDocuments() {
        func keys(_ matches: (ProfileFieldView) -> Bool) -> Set<String> {
            Set(FieldCatalogue.shipped.views[0].fields.filter(matches).map(\.key))
        }
        #expect(keys(\.required) == ["displayName", "dateOfBirth", "gender", "lookingFor"])
        #expect(keys(\.encouraged) == ["photo", "city", "bio"])
        #expect(
            keys(\.sensitive) == [
                "gender", "ethnicity", "religion", "politicalViews", "bodyType", "heightInches", "hasKids",
            ])
        #expect(keys(\.allowsPreferNotToSay) == keys(\.sensitive))
        #expect(keys { $0.visibility != "public" } == ["dateOfBirth", "coordinates", "lastName"])
        #expect(keys { $0.storage == "text[]" } == ["lookingFor", "interests", "ethnicity", "languages", "pets"])
        #expect(keys { $0.options?.contains { $0.exclusive == true } == true } == ["lookingFor", "pets"])
        let options = Dictionary(
            uniqueKeysWithValues: FieldCatalogue.shipped.views[0].fields.map { ($0.key, $0.options?.count) })
        #expect(options["interests"] == 40 && options["languages"] == 183 && options["country"] == 249)
    }

    /// What a client cannot know from the type of a field.
    @Test func theFormMarksSetOnceLookupAndCompositeFields() {
        let view = FieldCatalogue.shipped.views[0]
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
        "a library that does not hold together is refused",
        arguments: [
            ("\"key\": \"firstName\"", "\"key\": \"lastName\""), ("\"type\": \"boolean\"", "\"type\": \"maybe\""),
            ("\"min\": 48", "\"min\": 96"), ("\"format\": \"free_text\"", "\"format\": \"prose\""),
            ("\"key\": \"female\"", "\"key\": \"male\""), ("\"sv\": \"Vattumannen\"", "\"sv\": \"\""),
            ("\"sv\": \"Vattumannen\"", "\"se\": \"Vattumannen\""),
            ("\"key\": \"dogs\",", "\"key\": \"dogs\", \"exclusive\": true,"), ("\"version\": 2", "\"version\": 0"),
            ("\"prefer_not_to_say\"", "\"rather_not\""), ("\"field\": \"state\"", "\"field\": \"district\""),
            ("{", "["),
        ] as [(String, String)])
    func refused(part: String, by other: String) throws {
        try #require(Self.file.contains(part), "the file has no such part")
        let edited = Self.file.replacing(part, with: other, maxReplacements: 1)
        #expect(throws: DocumentError.self) { try FieldLibrary.InUse(FieldLibraryDocument(Array(edited.utf8))) }
    }
}
