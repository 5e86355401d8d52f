import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import VisualPreferenceService

/// An operator splits the comparisons that people were shown while they choose.
@Suite("presentations that are split while people choose") @Loop struct SplitTableTests {
    /// People who come one after the other and choose until they are done.
    @Loop private final class Choosers {
        var isOver = false
        private(set) var choices = 0
        private(set) var done = 0

        func choose(_ visual: Visual) async throws {
            while !isOver {
                let person = Identifier.random()
                var session = try await patiently { try await visual.ask(GetVisualSession(), person) }
                while !session.comparisons.isEmpty {
                    let shown = session
                    session = try await patiently {
                        try await visual.save(visual.taste(shown), shown, person).session
                    }
                    choices += 1
                }
                #expect(session.status == "ready")
                done += 1
            }
        }
    }

    @Test func aSplitLosesNoChoiceAndTheServiceGoesOn() async throws {
        try await Visual.run(replicas: 2) { visual in
            let (person, stage) = (Identifier.random(), visual.stage)
            let before = try await visual.ask(GetVisualSession(), person)
            let early = visual.taste(before)
            var session = try await visual.save(early, before, person).session

            let choosers = Choosers()
            let choosing = Loop.spawn { try await choosers.choose(visual) }
            #expect(try await eventually { choosers.choices > 0 })
            let choices = choosers.choices
            try await stage.scratch.split("presentations", into: 3)
            #expect(choosers.choices > choices, "nobody chose meanwhile")
            choosers.isOver = true
            try await choosing.value

            #expect(try await stage.rows("SELECT count(*) FROM pg_partition_tree('presentations') WHERE isleaf") == "3")
            let chosen = "SELECT count(*), count(choice) FROM presentations WHERE person_id <> '\(person)'"
            #expect(try await stage.rows(chosen) == "\(choosers.done * 20)|\(choosers.done * 20)")

            // What was chosen before counts, and cannot be chosen again.
            #expect(try await visual.ask(GetVisualSession(), person) == session)
            var again = early[0]
            (again.mutationId, again.choice) = (.ordered(), "neither")
            #expect(try await visual.save([again], before, person).results.map(\.code) == ["answer_conflict"])
            while !session.comparisons.isEmpty {
                session = try await visual.save(visual.taste(session), session, person).session
            }
            #expect(session.status == "ready" && session.answered == 20)
            let records = try await visual.ask(ExportVisualPreferences(after: nil), person).records
            let kinds = try records.compactMap { try JSONValue.parse(Array($0.utf8))["kind"]?.stringValue }
            #expect(kinds.count { $0 == "presentations" } == 20)

            let deleted = AccountDeleted(personID: person, personSequence: 1, deletedAt: .now())
            var rules = AccountDeleted.rules
            rules.service = .visualPreference
            _ = try await stage.asking(as: .auth).callRaw(
                type: AccountDeleted.type, version: 1, rules: rules, body: try WireJSON.encode(deleted),
                CallOptions(timeout: .seconds(10)))
            #expect(try await stage.rows("SELECT count(*) FROM presentations WHERE person_id = '\(person)'") == "0")
            #expect(try await stage.rows(chosen) == "\(choosers.done * 20)|\(choosers.done * 20)")
        }
    }
}
