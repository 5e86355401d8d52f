import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("the funnel of a plan") struct PlanFunnelTests {
    /// A person as the table has them.
    private struct Person {
        let version: Int64
        let entry: String?
        let began: Timestamp
        let steps: [String: Double]
        let completed: Double?
    }

    private static let shipped = Plan.yoked.reference.version
    private static let from = CivilDate("2026-02-08")!
    private static let to = CivilDate("2026-02-09")!
    private static let keys = ["profile", "questionnaire", "visual_preferences", "verification"]

    private static func people(_ count: Int) -> [Person] {
        (0..<count).map { number in
            var steps: [String: Double] = [:]
            for key in keys where Bool.random() { steps[key] = Double(Int.random(in: 0...200_000)) }
            return Person(
                version: number % 5 == 0 ? shipped + 1 : shipped, entry: [nil, "spring", "fair"][number % 3],
                began: Timestamp("2026-02-09T00:00:00Z")! + .seconds(Int.random(in: -172_800...172_800)), steps: steps,
                completed: Bool.random() ? Double(Int.random(in: 0...172_800)) : nil)
        }
    }

    /// Against a count by hand over people with random events in random order.
    @Test func theFunnelAgreesWithACountByHand() async throws {
        let all = Self.people(300)
        try await ProfileStage.run { profile in
            try await Self.plant(all, profile)
            for entry in [nil, "fair"] as [String?] {
                let funnel = try await profile.ask(
                    GetFunnel(from: Self.from, to: Self.to, plan: "yoked", version: Self.shipped, entry: entry))
                let cohort = all.filter {
                    $0.version == Self.shipped && (Self.from...Self.to).contains($0.began.date)
                        && (entry == nil || $0.entry == entry)
                }
                #expect(cohort.count > 10)
                Self.check(funnel.steps, of: cohort)
                let completed = cohort.compactMap(\.completed)
                #expect(funnel.plan == PlanVersion(key: "yoked", version: Self.shipped) && funnel.events.isEmpty)
                #expect(
                    funnel.total?.people == Int64(cohort.count) && funnel.total?.completed == Int64(completed.count))
                #expect(
                    funnel.total?.withinDayPercent
                        == PlanFunnel.share(Int64(completed.count { $0 <= 86_400 }), of: Int64(cohort.count)))
                #expect(funnel.total?.medianSeconds == Self.percentile(0.5, of: completed))
                #expect(funnel.total?.p90Seconds == Self.percentile(0.9, of: completed))
                let entries = Dictionary(grouping: cohort, by: \.entry)
                #expect(funnel.entries?.count == entries.count)
                for found in funnel.entries ?? [] {
                    let those = try #require(entries[found.entry])
                    #expect(found.people == Int64(those.count))
                    #expect(found.completed == Int64(those.count { $0.completed != nil }))
                }
            }
        }
    }

    private static func check(_ found: [Funnel.Step], of cohort: [Person]) {
        #expect(found.map(\.key) == ["phone"] + keys && found[0].people == Int64(cohort.count))
        #expect(found.map(\.need) == ["required", "required", "required", "required", "required"])
        for (step, before) in zip(found.dropFirst(), [[], ["profile"], keys.prefix(2), keys.prefix(3)].map(Array.init))
        {
            let reached = cohort.filter { person in before.allSatisfy { person.steps[$0] != nil } }
            let passed = reached.filter { $0.steps[step.key] != nil }
            #expect(step.people == Int64(cohort.count { $0.steps[step.key] != nil }))
            let left = FunnelStep.dropOff(from: Int64(reached.count), to: Int64(passed.count))
            #expect(step.dropOffPercent == (step.need == "required" ? left : nil))
            let taken = cohort.compactMap { person -> Double? in
                guard let time = person.steps[step.key] else { return nil }
                guard let last = before.last else { return time }
                return person.steps[last].flatMap { time >= $0 ? time - $0 : nil }
            }
            #expect(step.medianSeconds == percentile(0.5, of: taken), "\(step.key)")
        }
    }

    /// As PostgreSQL's `percentile_cont` does it.
    private static func percentile(_ share: Double, of values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let (sorted, place) = (values.sorted(), share * Double(values.count - 1))
        let (low, high) = (sorted[Int(place)], sorted[min(Int(place) + 1, values.count - 1)])
        return low + (place - place.rounded(.down)) * (high - low)
    }

    @Loop private static func plant(_ people: [Person], _ profile: ProfileStage) async throws {
        let rows = people.enumerated().map { number, person in
            let steps = String(
                decoding: CanonicalJSON.bytes(of: .object(person.steps.mapValues { .integer(Int64($0)) })),
                as: UTF8.self)
            let entry = person.entry.map { "'\($0)'" } ?? "NULL"
            let completed = person.completed.map { "'\(person.began + .seconds($0))'" } ?? "NULL"
            return "(md5('\(number)')::uuid, \(person.version), \(entry), '\(person.began)', '\(steps)', \(completed))"
        }
        _ = try await profile.stage.rows(
            """
            INSERT INTO plans SELECT plan, \(Self.shipped + 1), content_hash, content FROM plans WHERE plan = 'yoked';
            INSERT INTO profiles (person_id, catalogue_version)
                SELECT md5(n::text)::uuid, 1 FROM generate_series(0, \(people.count - 1)) AS n;
            INSERT INTO person_plans (person_id, version, entry, began_at, steps, completed_at, app, plan)
                SELECT p, v, e, b::timestamptz, s::jsonb, c::timestamptz, '', 'yoked'
                FROM (VALUES \(rows.joined(separator: ", "))) AS t (p, v, e, b, s, c)
            """)
    }

    /// Progress is stored from the first request on. Answers from another app count from the beginning.
    @Test func aPersonsStepsAreStoredAsTheyAreDone() async throws {
        try await ProfileStage.run { profile in
            let progress = """
                SELECT plan, (SELECT string_agg(key, ',' ORDER BY key) FROM jsonb_object_keys(steps) AS key),
                    completed_at IS NOT NULL FROM person_plans ORDER BY plan
                """
            _ = try await profile.ask(ViewOnboarding())
            #expect(try await profile.stage.rows(progress) == "yoked||f")
            try await profile.update(["dateOfBirth": "1994-02-28", "displayName": "Åsa", "gender": "female"])
            #expect(try await profile.stage.rows(progress) == "yoked||f")
            try await profile.update(["lookingFor": ["everyone"]])
            #expect(try await profile.stage.rows(progress) == "yoked|profile|f")
            for (sequence, key) in [(1, "yoked-compat"), (2, "eko-family")] as [(Int64, String)] {
                let done = SessionCompleted(
                    personID: profile.person, personSequence: sequence, sessionID: .ordered(), questionnaire: key,
                    version: 1, completedAt: .now())
                _ = try await profile.stage.asking(as: .questionnaire).call(done, CallOptions(timeout: .seconds(10)))
            }
            #expect(try await profile.stage.rows(progress) == "yoked|profile,questionnaire|f")
            _ = try await profile.stage.asking(as: .visualPreference).call(
                VisualPreferencesReady(personID: profile.person, personSequence: 1, at: .now()),
                CallOptions(timeout: .seconds(10)))
            #expect(try await profile.stage.rows(progress) == "yoked|profile,questionnaire,visual_preferences|f")
            _ = try await profile.stage.asking(as: .verification).call(
                VerificationDecided(
                    personID: profile.person, personSequence: 1, level: "photo", outcome: "verified", at: .now()),
                CallOptions(timeout: .seconds(10)))
            let all = "yoked|profile,questionnaire,verification,visual_preferences|t"
            #expect(try await profile.stage.rows(progress) == all)
            let other = GetOnboarding(personID: profile.person, app: "eko-family")
            _ = try await profile.stage.asking(as: .auth).call(other, CallOptions(timeout: .seconds(10)))
            #expect(
                try await profile.stage.rows(progress)
                    == "eko-family|profile,questionnaire|t\n\(all)")
            let zero = "SELECT steps = '{\"profile\": 0, \"questionnaire\": 0}' AND completed_at = began_at"
            #expect(try await profile.stage.rows(zero + " FROM person_plans WHERE plan = 'eko-family'") == "t")
            // What is done once stays.
            let stored = try await profile.stage.rows("SELECT steps, completed_at FROM person_plans ORDER BY plan")
            try await profile.update(["city": "Umeå"])
            try await profile.update(["displayName": nil])
            try await profile.update(["displayName": "Eva"])
            #expect(
                try await profile.stage.rows("SELECT steps, completed_at FROM person_plans ORDER BY plan") == stored)
        }
    }

    /// Time alone makes the person old enough. It is stored at the next request, or with the next change.
    @Test(arguments: [true, false]) func aBirthdayCompletesTheOnboarding(byItself: Bool) async throws {
        try await ProfileStage.run(environment: ProfileStage.requiringNoTasks) { profile in
            let today = Timestamp.now().date
            let stored = """
                SELECT completed_at IS NOT NULL, age_verified IS NOT NULL, onboarding_completed IS NOT NULL
                FROM person_plans JOIN journeys USING (person_id)
                """
            try await profile.update([
                "dateOfBirth": .string(CivilDate(daysSinceEpoch: today.daysSinceEpoch - 17 * 365).description),
                "displayName": "Åsa", "gender": "female",
            ])
            let done = SessionCompleted(
                personID: profile.person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat",
                version: 1, completedAt: .now())
            _ = try await profile.stage.asking(as: .questionnaire).call(done, CallOptions(timeout: .seconds(10)))
            if byItself { try await profile.update(["lookingFor": ["everyone"]]) }
            #expect(try await profile.ask(ViewOnboarding()).onboardingStatus == "blocked")
            #expect(try await profile.stage.rows(stored) == "f|f|f")

            // The same person a year later. Their birthday was two to four days ago, and their last visit was before
            // it.
            let born = CivilDate(daysSinceEpoch: today.daysSinceEpoch - 18 * 365 - 7)
            let sealed = profile.sealer.seal(Array(born.description.utf8), associated: profile.person.array)
            try await profile.stage.rows(
                """
                UPDATE profiles SET date_of_birth_sealed = '\\x\(Hex.encode(sealed))',
                    created_at = created_at - interval '9 days', updated_at = updated_at - interval '9 days'
                """)
            if !byItself { try await profile.update(["lookingFor": ["everyone"]]) }
            for _ in 0..<2 { #expect(try await profile.ask(ViewOnboarding()).onboardingStatus == "complete") }
            #expect(try await profile.stage.rows(stored) == "t|t|t")
            #expect(try await profile.ask(GetFunnel(plan: "yoked")).total?.completed == 1)
        }
    }

    /// Another change of the profile may come before the next one by the person. The birthday between them must be
    /// stored all the same.
    @Test(arguments: ["recheck", "skip", "move"]) func aBirthdayBeforeAnotherChangeIsStored(other: String) async throws
    {
        try await ProfileStage.run { profile in
            let today = Timestamp.now().date
            try await profile.update([
                "dateOfBirth": .string(CivilDate(daysSinceEpoch: today.daysSinceEpoch - 17 * 365).description),
                "gender": "female",
            ])
            let born = CivilDate(daysSinceEpoch: today.daysSinceEpoch - 18 * 365 - 7)
            let sealed = profile.sealer.seal(Array(born.description.utf8), associated: profile.person.array)
            try await profile.stage.rows(
                """
                UPDATE profiles SET date_of_birth_sealed = '\\x\(Hex.encode(sealed))',
                    created_at = created_at - interval '9 days', updated_at = updated_at - interval '9 days',
                    catalogue_version = 0, fields = fields || '{"gender": {"state": "answered", "value": "unsaid"}}'
                """)
            switch other {
            case "recheck": try await profile.recheckFields()
            case "skip": _ = try await profile.ask(SkipField(field: "photo"))
            default:
                let editor = try await PlanEditor(profile)
                var plan = try #require(JSONValue.parse(EmbeddedFiles.Plans.yoked.bytes).objectValue)
                plan["moves"] = ["from": [.integer(Self.shipped)]]
                let draft = try await editor.draft(.object(plan), of: "yoked")
                _ = try await editor.ask(PublishPlanDraft(key: "yoked", draft: draft, acceptClass: "breaking"))
                let moved = try await profile.ask(ViewOnboarding())
                #expect(moved.plan?.version == Self.shipped + 1)
            }
            try await profile.update(["bio": "Hej"])
            #expect(try await profile.stage.rows("SELECT age_verified IS NOT NULL FROM journeys") == "t")
        }
    }

    @Test func aFunnelWithoutAKnownPlanIsRefused() async throws {
        try await ProfileStage.run { profile in
            for request in [
                GetFunnel(plan: "meadow"), GetFunnel(plan: "yoked", version: 9), GetFunnel(version: 1),
                GetFunnel(entry: "spring"),
            ] {
                #expect(try await profile.refusal(of: request).errors?.map(\.field) == ["plan"])
            }
            let funnel = try await profile.ask(GetFunnel(plan: "eko-family"))
            #expect(funnel.steps.map(\.key) == ["account", "questionnaire", "profile"] && funnel.total?.people == 0)
            #expect(funnel.total?.withinDayPercent == nil && funnel.entries == [])
        }
    }
}
