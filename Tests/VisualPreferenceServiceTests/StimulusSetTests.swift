import BusProtocol
import Documents
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VisualPreferenceService

@Suite("stimulus sets as data") struct StimulusSetTests {
    /// The set of this release with other members.
    private static func edited(_ edit: (inout [String: JSONValue], inout [JSONValue]) -> Void) throws -> JSONValue {
        let shipped = try JSONValue.parse(StimulusSet.shipped.get().canonicalText, limits: DocumentText.limits)
        var members = try #require(shipped.objectValue)
        var items = try #require(members["items"]?.arrayValue)
        edit(&members, &items)
        members["items"] = .array(items)
        return .object(members)
    }

    private static func with(_ member: String, _ value: JSONValue?, in item: JSONValue) -> JSONValue {
        var members = item.objectValue ?? [:]
        members[member] = value
        return .object(members)
    }

    /// The levels of each item with one more, or another last one.
    private static func relevelled(
        _ attributes: [JSONValue], _ level: (_ place: Int, _ levels: [JSONValue]) -> [JSONValue]
    ) throws -> JSONValue {
        try edited { members, items in
            members["attributes"] = .array(attributes)
            items = items.enumerated().map { place, item in
                with("levels", .array(level(place, item["levels"]?.arrayValue ?? [])), in: item)
            }
        }
    }

    private static let attributes: [JSONValue] = (0..<8).map { .string("a\($0)") }

    /// The set of this release with one member of one item changed.
    private static func edited(_ place: Int, _ member: String, _ value: JSONValue?) throws -> JSONValue {
        try edited { _, items in items[place] = with(member, value, in: items[place]) }
    }

    /// Levels of five more attributes, none of which follows from the others.
    private static func scattered(_ place: Int) -> [JSONValue] {
        (0..<5).map { number in
            let residue: Int = (place * place + 7 * place * number + number) % 11
            return .number(Double(residue) / 11)
        }
    }

    private static func level(_ value: JSONValue) -> Double { Double(value.integerValue ?? 0) }

    /// Drafts with one defect, each with the code and the place that the gate says.
    private static func defects() throws -> [(String, JSONValue)] {
        let image: JSONValue = "https://example.com/41.svg"
        let many: JSONValue = try edited { _, items in
            for number in 41...101 {
                items.append(with("id", .string("face_\(number)"), in: with("image", image, in: items[0])))
            }
        }
        let oddKey: JSONValue = try edited { _, items in
            items[1] = with("id", "Face 2", in: with("image", image, in: items[1]))
        }
        let opposite: JSONValue = try relevelled(attributes + ["opposite"]) { $1 + [.number(-level($1[0]))] }
        let mean: JSONValue = try relevelled(attributes + ["mean"]) { _, levels in
            levels + [.number((level(levels[0]) + level(levels[1])) / 2)]
        }
        let thirteen: [JSONValue] = (0..<13).map { .string("a\($0)") }
        return [
            ("malformed /licence", try edited { members, _ in members["licence"] = nil }),
            ("malformed /extra", try edited { members, _ in members["extra"] = 1 }),
            ("malformed /key", try edited { members, _ in members["key"] = "Drawn Faces" }),
            ("malformed /items/2/levels/0", try edited(2, "levels", [1.5, 1, 1, 1, 1, 1, 1, 1])),
            ("too_few_items /items", try edited { _, items in items.removeLast() }),
            ("too_many_items /items", many),
            ("duplicate_key /items/1/id", try edited(1, "id", "face_01")),
            ("malformed /items/1/id", oddKey),
            ("duplicate_key /attributes/7", try relevelled(attributes.dropLast() + ["a0"]) { $1 }),
            ("missing_text /items/3/alt", try edited(3, "alt", ["sv": "Ett ansikte"])),
            ("wrong_levels /items/3/levels", try edited(3, "levels", [1, 1])),
            ("unknown_picture /items/5/id", try edited(5, "id", "face_99")),
            ("malformed /items/5/image", try edited(5, "image", "http://example.com/a.svg")),
            ("malformed /items/5/image", try edited(5, "image", "https:///a.svg")),
            ("constant_attribute /attributes/8", try relevelled(attributes + ["same"]) { $1 + [0.5] }),
            ("dependent_attribute /attributes/8", opposite),
            ("dependent_attribute /attributes/8", mean),
            ("too_many_attributes /attributes", try relevelled(thirteen) { $1 + scattered($0) }),
        ]
    }

    @Test func theGateNamesEachDefectWithItsPlace() throws {
        for (expected, draft) in try Self.defects() {
            let problems = StimulusSetPublication.report(on: draft, after: nil).problems
            #expect(problems.map { "\($0.code) \($0.pointer)" } == [expected])
        }
    }

    @Test func picturesOfTheOperatorWithOwnLicencesPass() throws {
        let draft = try Self.edited { _, items in
            items = items.enumerated().map { place, item in
                let picture = Self.with("image", .string("https://example.com/\(place).webp"), in: item)
                return Self.with(
                    "licence", "CC-BY-4.0, A. Painter", in: Self.with("id", .string("p\(place)"), in: picture))
            }
        }
        #expect(StimulusSetPublication.report(on: draft, after: nil).problems.isEmpty)
    }

    @Test func eachChangeHasItsClass() throws {
        let shipped = try StimulusSet.shipped.get()
        func more(_ items: inout [JSONValue]) {
            items.append(Self.with("id", "face_41", in: Self.with("image", "https://example.com/41", in: items[0])))
        }
        let cases: [(String, JSONValue)] = [
            ("", try Self.edited { _, _ in }),
            ("editorial key_changed /key", try Self.edited { members, _ in members["key"] = "faces" }),
            ("editorial licence_changed /licence", try Self.edited { members, _ in members["licence"] = "CC-BY-4.0" }),
            (
                "editorial licence_changed /items/2/licence",
                try Self.edited(2, "licence", "x")
            ),
            (
                "editorial image_changed /items/2/image",
                try Self.edited(2, "image", "https://example.com/3.svg")
            ),
            (
                "editorial text_changed /items/2/alt/en, editorial text_changed /items/2/alt/sv",
                try Self.edited(2, "alt", ["en": "A face."])
            ),
            ("editorial order_changed /items", try Self.edited { _, items in items.swapAt(0, 1) }),
            (
                "editorial order_changed /attributes",
                try Self.edited { members, items in
                    members["attributes"] = .array((members["attributes"]?.arrayValue ?? []).reversed())
                    items = items.map {
                        Self.with("levels", .array(($0["levels"]?.arrayValue ?? []).reversed()), in: $0)
                    }
                }
            ),
            ("additive item_added /items/40", try Self.edited { _, items in more(&items) }),
            (
                "additive item_added /items/39, breaking item_removed /items/0",
                try Self.edited { _, items in
                    more(&items)
                    items.removeFirst()
                }
            ),
            (
                "breaking levels_changed /items/2/levels",
                try Self.edited(2, "levels", [0, -1, -1, -1, -1, -1, -1, 1])
            ),
            (
                "breaking attribute_added /attributes/7, breaking attribute_removed /attributes/7",
                try Self.edited { members, _ in
                    members["attributes"] = .array((members["attributes"]?.arrayValue ?? []).dropLast() + ["hat"])
                }
            ),
        ]
        for (expected, draft) in cases {
            let made = try StimulusSetPublication(draft, after: shipped)
            let changes = made.changes.map { "\($0.changeClass.rawValue) \($0.kind.rawValue) \($0.pointer)" }
            #expect(changes.joined(separator: ", ") == expected)
            #expect(made.document.version == 2)
        }
    }

    @Test func theExportedSchemaIsThatOfTheBuild() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/schema/stimuli.json")
        let committed = try String(contentsOf: file, encoding: .utf8)
        #expect(committed == StimulusSetDocument.schemaText, "run: vestibule schema export docs/schema")
    }

    @Test func aSessionKeepsItsVersionAndOthersBeginWithTheNewest() async throws {
        try await Visual.run { visual in
            try await visual.stage.untilReady()
            let (early, late) = (Identifier.random(), Identifier.random())
            let open = try await visual.ask(GetVisualSession(), early)
            let draft = try Self.edited { _, items in
                items = items.enumerated().map { place, item in
                    let picture = Self.with("image", .string("https://example.com/\(place).webp"), in: item)
                    return Self.with("id", .string("p\(place)"), in: picture)
                }
            }
            let number = String(try await visual.edit(CreateStimulusSetDraft(set: draft)).number)
            #expect(try await visual.edit(CheckStimulusSetDraft(draft: number)).publishable)
            let held = try await #require(throws: BusError.self) {
                try await visual.edit(PublishStimulusSetDraft(draft: number, acceptClass: "additive"))
            }
            #expect(held.code == "change_not_accepted" && held.details?["changeClass"] == "breaking")
            // This replica has read the version before.
            let made = try await visual.edit(PublishStimulusSetDraft(draft: number, acceptClass: "breaking"))
            #expect(made.version == 2 && made.changeClass == "breaking")

            let begun = try await visual.ask(GetVisualSession(), late)
            #expect(begun.comparisons.allSatisfy { $0.left.imageUrl.hasPrefix("https://example.com/") })
            #expect(begun.comparisons.allSatisfy { $0.left.id.hasPrefix("p") && $0.right.id.hasPrefix("p") })
            let saved = try await visual.save(visual.taste(open), open, early)
            #expect(saved.session.comparisons.allSatisfy { $0.left.id.hasPrefix("face_") })

            // A replica that has read neither version goes on with both.
            try await visual.stage.replaceReplicas(without: [])
            #expect(try await visual.ask(GetVisualSession(), early) == saved.session)
            #expect(try await visual.ask(GetVisualSession(), late) == begun)
            let overview = try await visual.edit(ViewStimulusSets())
            #expect(overview.versions.map(\.version) == [2, 1] && overview.drafts.map(\.publishedAs) == [2])
            for version in ["1", "2"] {
                let found = try await visual.edit(GetStimulusStatistics(version: version))
                #expect(found.sessions == 1 && found.items.isEmpty, "the counts would be one person's choices")
            }
            #expect(
                try await visual.stage.rows("SELECT act FROM audit WHERE chain = 'service'") == "stimuli_published")
        }
    }

    /// The background job of each replica calls ``StimulusSets/refresh()``.
    @Test func aVersionThatThisReleaseCannotReadIsSkipped() async throws {
        try await Visual.run { visual in
            try await visual.stage.untilReady()
            let container = visual.stage.containers[0]
            let sets = StimulusSets(database: container.database, log: container.log)
            #expect(try await sets.newest().version == 1)
            try await visual.stage.rows(
                """
                INSERT INTO stimulus_sets SELECT stimuli, 2, sha256('2'), replace(content, ',"beard"]', ']')
                FROM stimulus_sets
                """)
            sets.refresh()
            #expect(try await sets.newest().version == 1)
            #expect(visual.stage.log.text.contains("set_not_readable"))
            try await visual.stage.rows(
                """
                INSERT INTO stimulus_sets SELECT stimuli, 3, sha256('3'), replace(content, '"version":1', '"version":3')
                FROM stimulus_sets WHERE version = 1
                """)
            #expect(try await sets.newest().version == 1)
            sets.refresh()
            #expect(try await sets.newest().version == 3)
        }
    }
}
