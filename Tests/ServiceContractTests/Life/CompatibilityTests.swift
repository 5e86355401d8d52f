import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("compatibility") struct CompatibilityTests {
    @Test func scoresAreRoundedAndNeedSeveralQuestions() {
        func told(
            _ psychological: Double?, _ physical: Double?, _ affinity: Double?, over questions: Int64 = 4
        ) -> Compatibility {
            CompatibilityFigure.rounded(
                ProfilesCompared(
                    psychological: Likeness(score: psychological, coverage: psychological == nil ? 0 : 100),
                    physical: Likeness(score: physical, coverage: physical == nil ? 0 : 52, compared: questions),
                    affinity: affinity.map { Likeness(score: $0, coverage: 33, compared: questions) }))
        }
        let all = told(82.4, 67.6, 12.5)
        #expect(all.score == 55 && all.confidence == 60, "54.17 and 61.67")
        #expect(all.dimensions.map(\.key) == ["psychological", "physical", "affinity"])
        #expect(all.dimensions.map(\.score) == [80, 70, 15])
        #expect(told(nil, nil, nil) == Compatibility(dimensions: [], confidence: 0))
        let one = told(100, nil, nil)
        #expect(one.score == 100 && one.confidence == 35)
        // Were one tag compared with another's, the figure would say whether the other has it.
        #expect(told(100, 0, 0, over: 3) == one)
        let former = ProfilesCompared(
            psychological: Likeness(score: 100, coverage: 100), physical: Likeness(score: 0, coverage: 100))
        #expect(CompatibilityFigure.rounded(former) == one, "a former replica does not count the questions")
    }

    /// Two people of the whole system, who answered the questionnaire alike and put the pictures off.
    @Test func bothOfAPairSeeOneLastingFigure() async throws {
        try await TestSystem.run { system in
            let (anna, bo) = (
                try await Self.matched("+14155552671", system), try await Self.matched("+14155552672", system)
            )
            let curious = try await system.signIn("+14155552673")
            func look(_ other: Session, as session: Session) async throws -> Exchange {
                try await system.send("GET", "/compatibility/with/\(other.user.id)", as: session)
            }
            let first = try await look(bo, as: anna)
            #expect(first.status == 200 && first.json["score"]?.integerValue == 100, "they say the same")
            // Were the figure made anew, a change of one's answers would tell the other's.
            try await system.rows(
                .profile,
                #"UPDATE compatibility_looks SET figure = '{"score": 35, "dimensions": [], "confidence": 10}'"#)
            for (other, session) in [(bo, anna), (anna, bo)] {
                #expect(try await look(other, as: session).json["score"] == 35)
            }
            #expect(try await system.rows(.profile, "SELECT count(*) FROM compatibility_looks") == "2")
            #expect(try await look(curious, as: anna).status == 404, "who is not matched is seen by nobody")
            #expect(try await look(anna, as: anna).status == 404)
            #expect(try await look(anna, as: curious).status == 403)
            // A person without a city stays complete, but is matched with nobody.
            try await system.rows(
                .profile, "UPDATE profiles SET fields = fields - 'city' WHERE person_id = '\(bo.user.id)'")
            #expect(try await look(bo, as: anna).status == 404)
            #expect(try await look(anna, as: bo).status == 403)
            try await system.rows(
                .profile, "UPDATE profiles SET fields = other.fields FROM profiles AS other WHERE other.fields ? 'city'"
            )
            let looks = "UPDATE compatibility_looks SET made_on = made_on - "
            try await system.rows(.profile, looks + "29")
            #expect(try await look(bo, as: anna).json["score"] == 35)
            try await system.rows(.profile, looks + "1")
            #expect(try await look(bo, as: anna).json["score"] == 100, "another month, another figure")
        }
    }

    /// Each wishes the build that the other has and nobody the same, so their tastes differ where their wishes are met.
    @Test func aWishIsComparedWithTheOthersProfile() async throws {
        try await TestSystem.run { system in
            func person(_ phone: String, _ build: JSONValue, wishes: String) async throws -> Session {
                let tags = [
                    ("preferredBuild", wishes), ("preferredHair", "short"), ("preferredStyle", "casual"),
                    ("preferredDetails", "glasses"),
                ].map { ResponseItem(question: $0, value: [.string($1)]) }
                return try await Self.matched(phone, system, ["bodyType": build], tags)
            }
            let anna = try await person("+14155552671", "slim", wishes: "athletic")
            let bo = try await person("+14155552672", "athletic", wishes: "slim")
            let figure = try await system.send("GET", "/compatibility/with/\(bo.user.id)", as: anna)
            let physical = figure.json["dimensions"]?.arrayValue?.first { $0["key"] == "physical" }
            #expect(physical?["score"] == 100)
        }
    }

    @Test func twoPeopleComparedConcurrentlySeeTheSameFigure() async throws {
        try await TestSystem.run { system in
            let (anna, bo) = (
                try await Self.matched("+14155552671", system), try await Self.matched("+14155552672", system)
            )
            for _ in 0..<Rounds.count(5, prove: 100) {
                let looks = [(anna, bo), (bo, anna), (anna, bo), (bo, anna)].map { session, other in
                    Loop.spawn { try await system.send("GET", "/compatibility/with/\(other.user.id)", as: session) }
                }
                for look in looks {
                    let told = try await look.value
                    #expect(told.status == 200 && told.json["score"] == 100)
                }
                let kept = try await system.rows(
                    .profile, "DELETE FROM compatibility_looks RETURNING figure ->> 'score'")
                #expect(kept == "100\n100")
            }
        }
    }

    @Loop private static func matched(
        _ phone: String, _ system: TestSystem, _ more: [String: JSONValue] = [:], _ tags: [ResponseItem] = []
    ) async throws -> Session {
        let session = try await system.signIn(phone)
        let fields: [String: JSONValue] = [
            "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "female", "lookingFor": ["everyone"],
            "city": "Umeå",
        ]
        _ = try await system.ask(UpdateMe(fields: fields.merging(more) { $1 }), as: session)
        _ = try await system.ask(
            SubmitResponses(answers: QuestionnaireProvider.required + tags, complete: true), as: session)
        let pictures = try await system.ask(GetVisualSession(), as: session)
        _ = try await system.ask(SaveVisualChoices(sessionId: pictures.sessionId, defer: true), as: session)
        let decided = VerificationDecided(
            personID: session.user.id, personSequence: 1, level: "photo", outcome: "verified", at: .now())
        _ = try await system.voice(of: .verification).call(decided, CallOptions(timeout: .seconds(10)))
        while try await system.ask(ViewOnboarding(), as: session).onboardingStatus != "complete" {
            try await Loop.sleep(for: .milliseconds(10))
        }
        return session
    }
}
