import BusProtocol
import Documents
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("the library of fields as data") struct FieldLibraryTests {
    private static let file = String(decoding: EmbeddedFiles.Fields.fields.bytes, as: UTF8.self)

    /// The library of this release with a part of its text replaced.
    private static func edited(_ part: String, _ other: String) throws -> JSONValue {
        try #require(file.contains(part), "the file has no such part")
        return try JSONValue.parse(
            Array(file.replacing(part, with: other, maxReplacements: 1).utf8), limits: DocumentText.limits)
    }

    /// One more optional field at the end.
    private static func extended(visibility: String = "public") throws -> JSONValue {
        try edited(
            "\"fields\": [",
            """
            "fields": [{
                "key": "motto", "label": {"en": "Motto", "sv": "Motto"}, "type": "text", "sensitive": false,
                "allowsPreferNotToSay": false, "visibility": "\(visibility)", "storage": "text",
                "format": "single_line", "minLength": 1, "maxLength": 80,
                "pattern": {"web": "text_input", "ios": "text_field", "android": "material_text_field"}
            },
            """)
    }

    @Test(
        "each change has its class, and breaking ones are refused",
        arguments: [
            ("\"en\": \"Male\"", "\"en\": \"Man\"", "label_changed"),
            ("\"web\": \"chips\"", "\"web\": \"select\"", "presentation_changed"),
            ("\"minLength\": 2, \"maxLength\": 50", "\"minLength\": 2, \"maxLength\": 60", "bound_widened"),
            ("\"minLength\": 2, \"maxLength\": 50", "\"minLength\": 1, \"maxLength\": 50", "bound_widened"),
            ("\"minLength\": 2, \"maxLength\": 50", "\"minLength\": 2, \"maxLength\": 40", "bound_narrowed"),
            ("\"minLength\": 2, \"maxLength\": 50", "\"minLength\": 3, \"maxLength\": 50", "bound_narrowed"),
            ("\"maxAge\": 120, ", "", "bound_widened"),
            (
                "{\"key\": \"other\", \"label\": {\"en\": \"Other\", \"sv\": \"Annat\"}}",
                "{\"key\": \"else\", \"label\": {\"en\": \"Other\", \"sv\": \"Annat\"}}", "option_added option_removed"
            ),
            ("\"exclusive\": true, ", "", "field_retyped"),
            ("\"visibility\": \"private\"", "\"visibility\": \"public\"", "field_retyped"),
            ("\"setOnce\": true", "\"setOnce\": false", "field_retyped"),
            ("\"key\": \"lastName\"", "\"key\": \"surname\"", "field_added field_removed"),
            ("\"languages\": [\"en\", \"sv\"]", "\"languages\": [\"en\"]", "language_removed"),
            ("\"languages\": [\"en\", \"sv\"]", "\"languages\": [\"sv\", \"en\"]", "order_changed"),
        ] as [(String, String, String)])
    func changes(part: String, other: String, kinds: String) throws {
        let shipped = try FieldLibrary.shippedDocument.get()
        let draft = try Self.edited(part, other)
        let difference = FieldLibraryDifference(from: shipped, to: try FieldLibraryDocument(draft))
        #expect(difference.changes.map(\.kind.rawValue).sorted().joined(separator: " ") == kinds)
        let refused = difference.changes.filter { $0.changeClass == .breaking }
        let report = FieldLibraryPublication.report(on: draft, after: shipped)
        #expect(report.problems.map(\.code) == refused.map(\.kind.rawValue))
        #expect(report.problems.map(\.pointer) == refused.map(\.pointer))
    }

    @Test func aLibraryThatAddsAFieldOnlyAdds() throws {
        let shipped = try FieldLibrary.shippedDocument.get()
        let made = try FieldLibraryPublication(Self.extended(), after: shipped)
        #expect(made.changes.map(\.kind) == [.fieldAdded] && made.changeClass == .additive)
        #expect(made.changes[0].keys == ["motto"] && made.document.version == shipped.version + 1)
        // Every shipped plan can still be read.
        let library = try FieldLibrary.InUse(made.document).library
        for file in EmbeddedFiles.Plans.all { _ = try PlanParser.parse(PlanDocument(file.bytes), library) }
    }

    /// A plan is judged by the newest library, and another replica follows it without a restart.
    @Test func aPlanAsksForAFieldOfANewerLibrary() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let other = try profile.plans()
            #expect(try await other.current(for: "eko-family").catalogue.field("motto") == nil)
            let plan = try Self.plan(with: "motto")
            let early = try await editor.draft(plan, of: "motto")
            let refused = try await editor.ask(CheckPlanDraft(key: "motto", draft: early))
            #expect(refused.findings.map(\.code) == ["unknown_field"])

            let draft = try await editor.ask(CreateFieldLibraryDraft(library: Self.extended())).number
            #expect(try await editor.ask(CheckFieldLibraryDraft(draft: "\(draft)")).publishable)
            let held = try await editor.refusal(of: PublishFieldLibraryDraft(draft: "\(draft)"))
            #expect(held.code == "change_not_accepted" && held.details?["changeClass"] == "additive")
            let published = try await editor.ask(
                PublishFieldLibraryDraft(draft: "\(draft)", acceptClass: "additive"))
            #expect(published.version == 3 && published.changes.map(\.kind) == ["field_added"])
            _ = try await editor.ask(PublishPlanDraft(key: "motto", draft: early))

            // The replica has read neither the library nor the plan yet.
            let reference = PlanReference(key: "motto", version: 1)
            #expect(try await other.plan(reference).catalogue.field("motto") != nil)
            other.refresh()
            #expect(try await other.current(for: "motto").reference == reference)
            // Plans from before are read with the newer library, too.
            #expect(try await other.current(for: "eko-family").catalogue.field("displayName") != nil)
            let overview = try await editor.ask(ViewFieldLibrary())
            #expect(overview.versions.map(\.version) == [3, 2] && overview.drafts.map(\.publishedAs) == [3])
            let acts = try await profile.stage.rows("SELECT act FROM audit WHERE chain = 'service' ORDER BY at")
            #expect(acts == "fields_published\nplan_published")
        }
    }

    @Test func aPrivateFieldOfANewerLibraryIsNotReadForOthers() async throws {
        try await ProfileStage.run { profile in
            _ = try await profile.update(["displayName": "Zoë"])
            try await profile.stage.rows(
                """
                UPDATE profiles SET fields = fields || '{"motto": {"state": "answered", "value": "secret"}}'
                WHERE person_id = '\(profile.person)'
                """)
            let shown = try profile.libraries().known.catalogue.publicKeys
            let record = try #require(try await profile.store().part(of: profile.person, showing: shown))
            #expect(record.fields["motto"] == nil && record.fields["displayName"] != nil)
        }
    }

    private static func plan(with field: JSONValue) throws -> JSONValue {
        let file = try #require(EmbeddedFiles.Plans.all.first { $0.name == "eko-family" })
        var members = try #require(JSONValue.parse(file.bytes).objectValue)
        var steps = try #require(members["steps"]?.arrayValue)
        steps[1] = [
            "key": "profile", "need": "optional",
            "screens": [["key": "about_you", "titleKey": "screen.about_you", "fields": [["field": field]]]],
        ]
        (members["key"], members["apps"], members["steps"]) = ("motto", ["motto"], .array(steps))
        return .object(members)
    }
}
