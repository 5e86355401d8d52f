import BusProtocol
import BusRuntime
import EventLoop
import HTTPServer
import TestSupport
import Testing

@testable import VisualPreferenceService

@Suite @Loop struct VisualPreferenceServiceTests {
    @Test func consistentAnswersMakeAPersonReadyAndNotifyProfile() async throws {
        try await Visual.run(replicas: 2) { visual in
            let person = Identifier.random()
            #expect(try await visual.ask(GetVisualProfile(), person).status == "not_started")
            var session = try await visual.ask(GetVisualSession(), person)
            #expect(session.total == 20 && session.comparisons.count == 5 && session.status == "in_progress")
            #expect(try await visual.ask(GetVisualSession(), person) == session, "every replica shows the same pairs")
            while !session.comparisons.isEmpty {
                session = try await visual.save(visual.taste(session), session, person).session
            }
            #expect(session.status == "ready" && session.answered == 20)
            let profile = try await visual.ask(GetVisualProfile(), person)
            #expect(profile.status == "ready" && profile.attributes.count == 8 && profile.confidence ?? 0 > 0.2)
            let strongest = profile.attributes.max { abs($0.weight) < abs($1.weight) }
            #expect(strongest?.key == "glasses" && strongest?.weight ?? 0 > 0)
            #expect(try await visual.ready.atLeast(1).map(\.personID) == [person])
            #expect(try await visual.ask(GetVisualSession(), person) == session, "it is over")
        }
    }

    @Test func theFirstChoiceOfAComparisonCountsFromAnyDevice() async throws {
        try await Visual.run { visual in
            let person = Identifier.random()
            let session = try await visual.ask(GetVisualSession(), person)
            let choices = visual.taste(session)
            let saved = try await visual.save(choices, session, person)
            #expect(saved.results.allSatisfy(\.saved) && saved.session.answered == 5)
            #expect(try await visual.save(choices, session, person) == saved, "a repetition changes nothing")
            var (same, other, reused, unknown) = (choices[0], choices[1], choices[2], choices[3])
            same.mutationId = .ordered()
            (other.mutationId, other.choice) = (.ordered(), "neither")
            reused.choice = "neither"
            (unknown.mutationId, unknown.presentationId) = (.ordered(), .ordered())
            let late = try await visual.save([same, other, reused, unknown], session, person)
            #expect(late.results.map(\.code) == [nil, "answer_conflict", "mutation_id_reused", "not_found"])
            #expect(late.session == saved.session)
        }
    }

    @Test func aDeferredSessionMayContinueAtAnyTime() async throws {
        try await Visual.run { visual in
            let person = Identifier.random()
            let session = try await visual.ask(GetVisualSession(), person)
            for _ in 0..<2 {
                let deferred = try await visual.ask(
                    SaveVisualChoices(sessionId: session.sessionId, defer: true), person, key: "\(Identifier.random())")
                #expect(deferred.session.status == "deferred" && deferred.session.newSessionAt == nil)
            }
            let told = try await visual.deferred.atLeast(2)
            #expect(told.map(\.personID) == [person, person])
            #expect(told[0].at < told[1].at, "each puts the next question off")
            #expect(try await visual.ask(GetVisualProfile(), person).status == "deferred")
            let resumed = try await visual.save(visual.taste(session), session, person).session
            #expect(resumed.status == "in_progress")
        }
    }

    @Test func answersOfOneSideAreInsufficientAndANewSessionWaits() async throws {
        try await Visual.run { visual in
            let person = Identifier.random()
            var session = try await visual.ask(GetVisualSession(), person)
            while !session.comparisons.isEmpty {
                session = try await visual.save(
                    session.comparisons.map { visual.choice($0, "left", latency: 90) }, session, person
                ).session
            }
            #expect(session.status == "insufficient" && session.answered == 25 && session.total == 25)
            #expect(session.newSessionAt != nil)
            _ = try await visual.deferred.atLeast(1)
            #expect(
                try await visual.stage.rows("SELECT flags FROM visual_preference_profiles") == "{too_fast,one_side}")
            #expect(try await visual.ask(GetVisualSession(), person) == session)
            try await visual.stage.rows("UPDATE visual_preference_profiles SET new_session_at = now()")
            let anew = try await visual.ask(GetVisualSession(), person)
            #expect(anew.sessionId != session.sessionId && anew.comparisons.count == 5 && anew.answered == 0)
            #expect(try await visual.stage.rows("SELECT count(*) FROM presentations") == "5")
        }
    }

    @Test func staffSeesStatisticsOfTheAnswers() async throws {
        try await Visual.run { visual in
            var chosen: [String: Int64] = [:]
            var shown: [String: Int64] = [:]
            let people: [([String], Int64)] = [(["left", "neither"], 90), (["right"], 1500)]
            let more = [([String], Int64)](repeating: (["left"], 1500), count: 18)
            for (sides, latency) in people + more {
                let person = Identifier.random()
                let session = try await visual.ask(GetVisualSession(), person)
                let choices = session.comparisons.enumerated().map {
                    visual.choice($1, sides[$0 % sides.count], latency: latency)
                }
                for (comparison, choice) in zip(session.comparisons, choices) {
                    for item in [comparison.left, comparison.right] { shown[item.id, default: 0] += 1 }
                    if choice.choice == "left" { chosen[comparison.left.id, default: 0] += 1 }
                    if choice.choice == "right" { chosen[comparison.right.id, default: 0] += 1 }
                }
                _ = try await visual.save(choices, session, person)
            }
            let found = try await visual.edit(GetStimulusStatistics(version: "1"))
            #expect(found.sessions == 20 && found.statuses == ["in_progress": 20] && found.flags.isEmpty)
            #expect(found.answered == 100 && found.left == 93 && found.neither == 2 && found.checks == 0)
            #expect(found.medianMs == 1500 && found.items.count == 40)
            #expect(Dictionary(uniqueKeysWithValues: found.items.map { ($0.id, $0.shown) }).filter { $1 > 0 } == shown)
            #expect(
                Dictionary(uniqueKeysWithValues: found.items.map { ($0.id, $0.chosen) }).filter { $1 > 0 } == chosen)
        }
    }

    @Test func onlyStatisticsNeedTheStandby() async throws {
        try await Visual.run(environment: ["VISUAL_PREFERENCE_STATISTICS_HOST": "/nowhere"]) { visual in
            _ = try await visual.ask(GetVisualSession(), .random())
            let refusal = await #expect(throws: BusError.self) {
                try await visual.edit(GetStimulusStatistics(version: "1"))
            }
            #expect(refusal?.code == "service_unavailable")
        }
    }

    @Test func everyPictureHasAnAddressAndADescription() throws {
        let pictures = Pictures(base: "https://example.com")
        let set = try StimulusSet(StimulusSet.shipped.get())
        for item in set.items {
            let url = pictures.url(of: item.id)
            #expect(url.hasPrefix("https://example.com/visual-preferences/images/face_") && url.hasSuffix(".svg"))
            #expect(item.alt["sv"]?.isEmpty == false)
        }
    }
}

/// The service as it is, with a gateway that asks it and a profile service that listens.
@Loop struct Visual {
    let stage: ServiceStage
    let gateway: Bus
    let ready = EventRecorder<VisualPreferencesReady>()
    let deferred = EventRecorder<VisualPreferencesDeferred>()

    nonisolated static func run(
        replicas: Int = 1, environment: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (Visual) async throws -> Void
    ) async throws {
        let definition = VisualPreferenceServiceDefinition.definition
        try await ServiceStage.run(definition, replicas: replicas, environment: environment) { stage in
            let visual = Visual(stage: stage, gateway: try stage.asking(as: .gateway))
            try stage.answering(as: .profile, visual.ready, visual.deferred)
            try await body(visual)
        }
    }

    func ask<Request: BusRequest>(
        _ request: Request, _ person: Identifier, key: String? = nil
    ) async throws -> Request.Reply {
        let actor = Actor(userID: person, sessionID: .ordered(), role: .user)
        return try await gateway.call(
            request, CallOptions(timeout: .seconds(10), actor: actor, idempotencyKey: key))
    }

    /// Asks as an administrator.
    func edit<Request: BusRequest>(_ request: Request) async throws -> Request.Reply {
        let admin = Actor(userID: .random(), sessionID: .ordered(), role: .admin)
        let key = Request.rules.effect == .once ? "editor-\(Identifier.random())" : nil
        return try await gateway.call(
            request, CallOptions(timeout: .seconds(10), actor: admin, idempotencyKey: key))
    }

    func save(
        _ choices: [VisualChoice], _ session: VisualSession, _ person: Identifier
    ) async throws -> VisualChoicesSaved {
        try await ask(SaveVisualChoices(sessionId: session.sessionId, choices: choices), person, key: "gw 1")
    }

    func choice(_ comparison: VisualComparison, _ side: String, latency: Int64 = 900) -> VisualChoice {
        VisualChoice(
            presentationId: comparison.presentationId, choice: side, latencyMs: latency, mutationId: .ordered())
    }

    /// What somebody chooses who likes glasses, and among two with or without them the first by name.
    func taste(_ session: VisualSession) -> [VisualChoice] {
        session.comparisons.map { comparison in
            let (left, right) = (rank(comparison.left), rank(comparison.right))
            return choice(comparison, left < right ? "left" : "right")
        }
    }

    private func rank(_ item: VisualItem) -> String { (item.alt.contains("no glasses") ? "1" : "0") + item.id }
}
