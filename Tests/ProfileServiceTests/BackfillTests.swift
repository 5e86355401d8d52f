import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import ProfileService

@Suite("backfill") struct BackfillTests {
    @Loop private func backfill(_ people: [Identifier], _ profile: ProfileStage) async throws -> OnboardingBackfilled {
        let bus = try profile.stage.asking(as: .operator)
        return try await bus.call(BackfillOnboarding(userIDs: people), profile.options(signedIn: false))
    }

    @Test func aBackfilledPersonSkipsTheOnboardingForGood() async throws {
        try await ProfileStage.run { profile in
            let before = try await profile.ask(GetMe())
            #expect(before.onboardingStep == "profile" && before.onboardingStatus == "questionnaire_pending")
            let stranger = Identifier.random()
            let people = [profile.person, stranger, profile.person]
            #expect(try await backfill(people, profile) == .init(done: 1, already: 0, unknown: [stranger]))
            let after = try await profile.ask(GetMe())
            #expect(after.onboardingStep == "complete" && after.onboardingStatus == "complete")
            #expect(after.revision == before.revision + 1, "who has the profile by its entity tag asks anew")
            let view = try await profile.ask(ViewOnboarding())
            #expect(view.resumeAt == nil && view.steps.allSatisfy { $0.state == "done" })
            let needs = try await profile.ask(GetRequirements())
            #expect(!needs.match.currentlyDue.contains("questionnaire"))
            #expect(!needs.like.currentlyDue.contains("verification"))

            #expect(try await backfill(people, profile) == .init(done: 0, already: 1, unknown: [stranger]))
            #expect(try await profile.ask(GetMe()) == after, "a second time changes nothing")
            #expect(try await profile.stage.rows("SELECT count(*) FROM profiles") == "1", "nobody was made")
            // What a person changes later leaves it so.
            #expect(try await profile.update(["bio": "Hej"]).onboardingStatus == "complete")
            #expect(
                try await profile.stage.rows("SELECT chain || ' ' || act || ' ' || details FROM audit")
                    == #"service onboarding_backfilled {"people":"1"}"#)
        }
    }

    @Test func aBackfilledPersonsBegunPlanIsStoredAsComplete() async throws {
        try await ProfileStage.run { profile in
            _ = try await profile.ask(ViewOnboarding())
            #expect(try await backfill([profile.person], profile).done == 1)
            #expect(try await profile.stage.rows("SELECT steps, completed_at IS NOT NULL FROM person_plans") == "{}|t")
        }
    }

    @Test func aBackfilledMinorStaysBlocked() async throws {
        try await ProfileStage.run { profile in
            let today = Timestamp.now().date
            try await profile.update(["dateOfBirth": .string("\(today.year - 17)-12-31")])
            #expect(try await backfill([profile.person], profile).done == 1)
            let me = try await profile.ask(GetMe())
            #expect(me.onboardingStatus == "blocked" && me.matchingMode == "none")
            #expect(try await profile.stage.rows("SELECT count(completed_at), count(*) FROM person_plans") == "0|1")
        }
    }

    /// Two operators send overlapping lists in different orders to two replicas. Each person is set once.
    @Test func concurrentBackfillsSetEachPersonOnce() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            try await profile.stage.rows(
                """
                INSERT INTO profiles (person_id, catalogue_version)
                SELECT gen_random_uuid(), 1 FROM generate_series(1, 1000)
                """)
            let ids = try await profile.stage.rows("SELECT person_id FROM profiles").split(separator: "\n")
            let people = ids.compactMap { Identifier(String($0)) }
            try #require(people.count == 1000)
            let tasks = [people, people.reversed(), people.shuffled(), people.shuffled()].map { list in
                Loop.spawn { try await patiently { try await backfill(list, profile) } }
            }
            var done: Int64 = 0
            for task in tasks {
                let backfilled = try await task.value
                #expect(backfilled.done + backfilled.already == 1000 && backfilled.unknown == [])
                done += backfilled.done
            }
            #expect(done == 1000)
        }
    }
}
