import BusProtocol
import BusRuntime
import Documents
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

/// Versions of a plan for an app of its own.
private enum Garden {
    /// The first version: a questionnaire, and a screen that asks for the display name.
    static func plan(_ edit: (inout [String: JSONValue]) -> Void = { _ in }) throws -> JSONValue {
        var members = try #require(JSONValue.parse(EmbeddedFiles.Plans.eko_family.bytes).objectValue)
        (members["key"], members["apps"]) = ("garden", ["garden"])
        members["capabilities"] = ["browse": [:], "like": ["due": ["questionnaire"]]]
        edit(&members)
        return .object(members)
    }

    /// The first version with a text to accept and a required field, both with a date unless it is `nil`.
    static func grown(due: Timestamp?, moves: [Int64] = []) throws -> JSONValue {
        func dated(_ members: [String: JSONValue]) -> JSONValue {
            .object(members.merging(due.map { ["dueAt": .string($0.description)] } ?? [:]) { $1 })
        }
        return try plan { members in
            let fields: JSONValue = [
                ["field": "displayName"], dated(["field": "bio", "need": "required"]),
                ["field": "gender", "need": "required"],
            ]
            members["steps"] = [
                ["key": "questionnaire", "questionnaire": "eko-family", "need": "required"],
                [
                    "key": "profile", "need": "optional",
                    "screens": [["key": "about_you", "titleKey": "screen.about_you", "fields": fields]],
                ],
                dated([
                    "key": "texts", "need": "required",
                    "terms": [["document": "terms", "version": "1", "url": "https://example.com/terms"]],
                ]),
            ]
            members["capabilities"] = ["browse": [:], "like": ["due": ["questionnaire", "bio"]]]
            if !moves.isEmpty { members["moves"] = ["from": .array(moves.map { .integer($0) })] }
        }
    }

    static func parsed(_ json: JSONValue, version: Int64) throws -> Plan {
        var members = try #require(json.objectValue)
        members["version"] = .integer(version)
        return try PlanParser.parse(PlanDocument(.object(members)), FieldLibrary.shipped.get().library)
    }
}

@Suite("what a newer version of a plan asks for") struct PlanAdditionsTests {
    private static let published = Timestamp("2026-11-24T09:00:00Z")!
    private static let due = published + .seconds(14 * 86_400)

    private static func followed(moves: [Int64] = []) throws -> Plan {
        try Garden.parsed(Garden.plan(), version: 1)
            .followed(beside: Garden.parsed(Garden.grown(due: due, moves: moves), version: 2))
    }

    /// A person who has completed the first version.
    private static func complete() -> ProfileRecord {
        var record = ProfileRecord(personID: .random(), createdAt: published, updatedAt: published)
        record.questionnaires["eko-family"] = published
        return record
    }

    private static func requirements(_ record: ProfileRecord, at time: Timestamp) throws -> Requirements {
        RequirementRules.requirements(of: record, try followed(), today: time.date, now: time)
    }

    @Test func anAdditionWithADateOf14DaysIsNotDueASecondEarly() throws {
        let record = Self.complete()
        let future = ["texts", "bio"].map { FutureRequirement(key: $0, dueAt: Self.due) }
        for early in [Self.published, Self.due - .seconds(1), Self.due - .microseconds(1)] {
            let needs = try Self.requirements(record, at: early)
            #expect(needs.appAccess.futureRequirements == future && needs.appAccess.currentDeadline == Self.due)
            #expect(needs.like.futureRequirements == [future[1]] && needs.like.currentDeadline == Self.due)
            #expect(needs.appAccess.pastDue == [] && needs.like.pastDue == [] && needs.browse == CapabilityNeeds())
        }
        for late in [Self.due, Self.due + .seconds(365 * 86_400)] {
            let needs = try Self.requirements(record, at: late)
            #expect(needs.appAccess.pastDue == ["texts", "bio"] && needs.like.pastDue == ["bio"])
            #expect(needs.appAccess.futureRequirements == nil && needs.appAccess.currentDeadline == nil)
            #expect(needs.browse == CapabilityNeeds())
        }
    }

    @Test func anAdditionLocksNoDoor() throws {
        let (plan, record) = (try Self.followed(), Self.complete())
        for time in [Self.published, Self.due + .seconds(1)] {
            let needs = try Self.requirements(record, at: time)
            for capability in [needs.appAccess, needs.browse, needs.like] {
                #expect(capability.disabledReason == nil && capability.currentlyDue == [])
            }
            let view = Onboarding.view(of: record, plan, today: time.date)
            #expect(view.onboardingStatus == "complete" && view.resumeAt == nil)
            #expect(view.steps.map(\.key) == ["account", "questionnaire", "profile"])
        }
    }

    @Test func anAdditionIsShownWithItsTextsAndEndsOnceItIsDone() throws {
        let plan = try Self.followed()
        var record = Self.complete()
        func addition() -> OnboardingStep? { Onboarding.view(of: record, plan, today: Self.due.date).additions?.first }
        #expect(addition()?.key == "texts" && addition()?.state == "pending" && addition()?.dueAt == Self.due)
        #expect(addition()?.terms?.map(\.url) == ["https://example.com/terms"])
        record.consents[plan.askedSteps[2].terms[0].key] = Self.published
        record.fields["bio"] = .answered("Hej")
        #expect(addition()?.state == "done" && addition()?.terms?.first?.acceptedAt == Self.published)
        let needs = try Self.requirements(record, at: Self.due)
        #expect(needs.appAccess == CapabilityNeeds() && needs.like == CapabilityNeeds())
    }

    @Test func aFollowerOfTheNewestVersionSeesItsStepsAsUsual() throws {
        let plan = try Garden.parsed(Garden.grown(due: Self.due), version: 2)
        let view = Onboarding.view(of: Self.complete(), plan, today: Self.published.date)
        #expect(view.resumeAt == "texts" && view.additions == nil)
        let needs = RequirementRules.requirements(
            of: Self.complete(), plan, today: Self.published.date, now: Self.due)
        #expect(needs.appAccess == CapabilityNeeds() && needs.like.currentlyDue == ["bio"])
    }

    @Test func onlyANewRequirementWithADateIsAnAddition() throws {
        let old = try Garden.parsed(Garden.grown(due: Self.due), version: 2)
        // The next version has both dates still, and asks for another version of the text.
        let same = try Garden.parsed(Garden.grown(due: Self.due), version: 3)
        #expect(PlanAdditions(of: same, to: old).open(for: Self.complete()) == [])
        var members = try #require(Garden.grown(due: Self.due).objectValue)
        var steps = try #require(members["steps"]?.arrayValue)
        var texts = try #require(steps[2].objectValue)
        texts["terms"] = [["document": "terms", "version": "2", "url": "https://example.com/terms"]]
        steps[2] = .object(texts)
        members["steps"] = .array(steps)
        let newer = try Garden.parsed(.object(members), version: 3)
        #expect(PlanAdditions(of: newer, to: old).open(for: Self.complete()).map(\.key) == ["texts"])
        // A step that asks for another kind of thing is a breaking change, and nobody is asked for it.
        texts = ["key": "texts", "need": "required", "operator": "check", "dueAt": .string(Self.due.description)]
        steps[2] = .object(texts)
        members["steps"] = .array(steps)
        let broken = try Garden.parsed(.object(members), version: 3)
        #expect(PlanAdditions(of: broken, to: old).open(for: Self.complete()) == [])
    }

    @Test func aMoveNeedsARuleAndKeepsCompletePeopleComplete() throws {
        let record = Self.complete()
        var open = record
        open.questionnaires = [:]
        #expect(PlanProgress.move(open, from: try Self.followed()) == nil)
        #expect(PlanProgress.move(open, from: try Self.followed(moves: [1]))?.reference.version == 2)
        #expect(PlanProgress.move(record, from: try Self.followed(moves: [1])) == nil)
        var suspended = record
        suspended.isSuspended = true
        #expect(PlanProgress.move(suspended, from: try Self.followed(moves: [1])) == nil)
        var accepted = record
        let terms = try Self.followed().askedSteps[2].terms[0].key
        accepted.consents[terms] = Self.published
        #expect(PlanProgress.move(accepted, from: try Self.followed(moves: [1]))?.reference.version == 2)
    }

    /// A person who is too young or declined the verification is not matched, but stays complete.
    @Test func aBlockedPersonDoesNotStopBeingCompleteEither() throws {
        let old = try Garden.plan { $0["age"] = ["minimum": 18, "under": "soft_block"] }
        func dated(_ json: JSONValue) throws -> JSONValue {
            var members = try #require(json.objectValue)
            var steps = try #require(members["steps"]?.arrayValue)
            var profile = try #require(steps[1].objectValue)
            profile["screens"] = [
                ["key": "about_you", "titleKey": "screen.about_you", "fields": [["field": "dateOfBirth"]]]
            ]
            (steps[1], members["capabilities"]) = (.object(profile), ["browse": [:]])
            (members["steps"], members["age"]) = (.array(steps), ["minimum": 18, "under": "soft_block"])
            return .object(members)
        }
        let plan = try Garden.parsed(dated(old), version: 1).followed(
            beside: Garden.parsed(dated(Garden.grown(due: nil, moves: [1])), version: 2))
        var record = Self.complete()
        record.dateOfBirth = CivilDate("2015-01-01")
        #expect(Onboarding.status(of: record, plan, today: Self.published.date) == .nonMatching)
        #expect(PlanProgress.move(record, from: plan) == nil, "the text is not accepted yet")
        record.questionnaires = [:]
        #expect(PlanProgress.move(record, from: plan)?.reference.version == 2)
    }

    @Test func declinedDeferredAndInReviewAdditionsAreDone() throws {
        let newest = try Garden.plan { members in
            let steps = members["steps"]?.arrayValue ?? []
            let due = JSONValue.string(Self.due.description)
            members["steps"] = .array(
                steps + [
                    ["key": "verified", "need": "required", "task": "verification", "dueAt": due],
                    ["key": "visual", "need": "required", "task": "visual_preferences", "dueAt": due],
                ])
        }
        let plan = try Garden.parsed(Garden.plan(), version: 1).followed(beside: Garden.parsed(newest, version: 2))
        var record = Self.complete()
        func states() -> [String]? { Onboarding.view(of: record, plan, today: Self.due.date).additions?.map(\.state) }
        #expect(states() == ["pending", "pending"] && plan.additions?.open(for: record).count == 2)
        record.visualPreferences = .deferred
        for verification in [Onboarding.Verification.inReview, .declined, .verified] {
            record.photoVerification = verification
            #expect(states() == ["done", "done"] && plan.additions?.open(for: record) == [])
        }
        record.photoVerification = .failed
        #expect(states() == ["pending", "done"] && plan.additions?.open(for: record).map(\.key) == ["verified"])
    }

    /// `GET /profile/fields` shows the options of the newest version.
    @Test func aFieldWithADateIsAnsweredByTheNewestVersion() throws {
        func plan(_ options: [JSONValue], due: Timestamp?) throws -> JSONValue {
            try Garden.plan { members in
                var field: [String: JSONValue] = ["field": "gender", "options": .array(options)]
                if let due { (field["need"], field["dueAt"]) = ("required", .string(due.description)) }
                members["steps"] = [
                    ["key": "questionnaire", "questionnaire": "eko-family", "need": "required"],
                    [
                        "key": "profile", "need": "optional",
                        "screens": [
                            ["key": "about_you", "titleKey": "screen.about_you", "fields": [.object(field)]]
                        ],
                    ],
                ]
            }
        }
        let plan = try Garden.parsed(plan(["male"], due: nil), version: 1)
            .followed(beside: Garden.parsed(plan(["female", "male"], due: Self.due), version: 2))
        let change = ProfileChange(
            ["gender": "female"], to: Self.complete(), plan.answerable, today: Self.published.date)
        #expect(change.problems == [] && change.states["gender"] == .some(.answered("female")))
        #expect(plan.catalogue.field("gender")?.category == .optional)
    }

    /// People of an older version that requires the step would not be asked for it, although it has a date.
    @Test func aDateOfAStepThatAsksForAnotherThingIsRefused() throws {
        let library = try FieldLibrary.shipped.get().library
        func problems(_ edit: [String: JSONValue]) throws -> [String] {
            var members = try #require(Garden.grown(due: Self.due).objectValue)
            var steps = try #require(members["steps"]?.arrayValue)
            var step = try #require(steps[0].objectValue).merging(edit) { $1 }
            step["dueAt"] = .string(Self.due.description)
            if edit["questionnaire"] == nil { step["questionnaire"] = nil }
            steps[0] = .object(step)
            members["steps"] = .array(steps)
            return PlanPublication.report(
                on: .object(members), of: "garden", after: [try Garden.plan()], library, beside: nil,
                now: Self.published
            ).problems.map { "\($0.code) \($0.pointer)" }
        }
        let refused = ["changed_step /steps/0/dueAt"]
        #expect(try problems(["questionnaire": "skin-care"]) == refused)
        #expect(try problems(["operator": "check"]) == refused)
        #expect(try problems(["questionnaire": "eko-family"]) == [])
        #expect(
            try problems(["questionnaire": "eko-family", "visibleIf": ["==": [["var": "displayName"], "Alex"]]])
                .contains(refused[0]))
        #expect(try problems(["key": "another", "questionnaire": "skin-care"]).contains(refused[0]) == false)
    }

    @Test func aDateInThePastAndAnUnknownVersionAreRefused() throws {
        let library = try FieldLibrary.shipped.get().library
        func problems(_ due: Timestamp, moves: [Int64] = [], after earlier: [JSONValue]) throws -> [String] {
            PlanPublication.report(
                on: try Garden.grown(due: due, moves: moves), of: "garden", after: earlier, library, beside: nil,
                now: Self.published
            ).problems.map { "\($0.code) \($0.pointer)" }
        }
        let first = try Garden.plan()
        let field = "/steps/1/screens/0/fields/1/dueAt"
        // A capability would close before the date for people who move.
        let ahead = ["date_ahead \(field)", "date_ahead /steps/2/dueAt"]
        #expect(try problems(Self.due, moves: [1], after: [first]) == ahead)
        #expect(
            try problems(Self.published, after: [first]) == ["past_date \(field)", "past_date /steps/2/dueAt"])
        // The version before has the same date: it passed since then.
        let dated = try Garden.grown(due: Self.published)
        #expect(try problems(Self.published, after: [dated]) == [])
        #expect(try problems(Self.published, moves: [1], after: [dated]) == [])
        #expect(try problems(Self.published, after: [dated, first]) == [], "the way back to it")
        var second = try #require(first.objectValue)
        second["version"] = 2
        #expect(
            try problems(Self.due, moves: [1, 2], after: [.object(second)]) == ["unknown_version /moves/from/0"] + ahead
        )
    }
}

@Suite("people and a newer version of their plan") struct PlanMoveTests {
    private static func ask<Request: BusRequest>(
        _ request: Request, _ profile: ProfileStage, _ person: Identifier
    ) async throws -> Request.Reply {
        let actor = Actor(userID: person, sessionID: .ordered(), role: .user, app: "garden")
        let key = Request.rules.effect == .once ? "key-\(Identifier.random())" : nil
        return try await profile.gateway.call(
            request, CallOptions(timeout: .seconds(10), actor: actor, idempotencyKey: key))
    }

    private static func publish(_ plan: JSONValue, _ editor: PlanEditor) async throws -> PlanPublished {
        let draft = try await editor.draft(plan, of: "garden")
        return try await editor.ask(PublishPlanDraft(key: "garden", draft: draft, acceptClass: "breaking"))
    }

    @Test func anAdditionIsFilledInByPeopleOfTheOlderVersion() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let person = Identifier.random()
            _ = try await Self.publish(Garden.plan(), editor)
            let before = try await Self.ask(ViewOnboarding(), profile, person)
            await #expect(throws: BusError.self) {
                try await Self.ask(UpdateMe(fields: ["bio": "Hej"]), profile, person)
            }
            _ = try await Self.publish(Garden.grown(due: .now() + .seconds(14 * 86_400)), editor)

            let after = try await Self.ask(ViewOnboarding(), profile, person)
            #expect(after.steps == before.steps && after.plan?.version == 1)
            #expect(after.additions?.map(\.key) == ["texts"])
            var needs = try await Self.ask(GetRequirements(), profile, person)
            #expect(needs.appAccess.futureRequirements?.map(\.key) == ["texts", "bio"])
            // Its form has every field of the newest version, and each is taken.
            let me = try await Self.ask(UpdateMe(fields: ["bio": "Hej", "gender": "female"]), profile, person)
            #expect(me.profile == ["bio": "Hej", "gender": "female"])
            let text = TermsReference(document: "terms", version: "1")
            #expect(try await Self.ask(AcceptTerms(documents: [text]), profile, person).consents.count == 1)
            needs = try await Self.ask(GetRequirements(), profile, person)
            #expect(needs.appAccess.futureRequirements == nil)
            await #expect(throws: BusError.self) {
                try await Self.ask(UpdateMe(fields: ["religion": "sikh"]), profile, person)
            }
        }
    }

    /// Each reads the plans of the person once it has the profile.
    @Test(arguments: ["session", "change"]) func eventsThatWaitForAMoveCountForTheNewerVersion(step: String)
        async throws
    {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let person = Identifier.random()
            _ = try await Self.publish(Garden.plan(), editor)
            _ = try await Self.ask(GetMe(), profile, person)
            _ = try await Self.publish(Garden.plan { $0["capabilities"] = ["browse": [:]] }, editor)
            let questionnaire = try profile.stage.asking(as: .questionnaire)
            let done = SessionCompleted(
                personID: person, personSequence: 1, sessionID: .ordered(), questionnaire: "eko-family", version: 1,
                completedAt: .now())
            try await profile.holding(
                person,
                [
                    {
                        if step == "session" {
                            _ = try await questionnaire.call(done, CallOptions(timeout: .seconds(10)))
                        } else {
                            _ = try await Self.ask(UpdateMe(fields: ["displayName": "Eva"]), profile, person)
                        }
                    }
                ],
                change: """
                    WITH moved AS (UPDATE person_plans SET version = 2) UPDATE profiles SET revision = revision + 1
                    """)
            let stored = "SELECT version, (SELECT string_agg(key, ',') FROM jsonb_object_keys(steps) AS key)"
            #expect(
                try await profile.stage.rows("\(stored) FROM person_plans")
                    == "2|\(step == "session" ? "questionnaire" : "profile")")
        }
    }

    @Test func aRuleMovesOnlyPeopleItDoesNotMakeIncomplete() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let (open, complete, other) = (Identifier.random(), Identifier.random(), Identifier.random())
            _ = try await Self.publish(Garden.plan(), editor)
            for person in [open, complete] { _ = try await Self.ask(GetMe(), profile, person) }
            try await profile.stage.rows(
                """
                UPDATE profiles SET questionnaires = '{"eko-family": "2026-02-20T09:00:00Z"}'
                WHERE person_id = '\(complete)'
                """)
            _ = try await Self.publish(Garden.grown(due: nil), editor)
            _ = try await Self.ask(GetMe(), profile, other)
            #expect(try await Self.ask(ViewOnboarding(), profile, open).plan?.version == 1)

            let published = try await Self.publish(Garden.grown(due: nil, moves: [1]), editor)
            #expect(published.changeClass == "breaking" && published.changes.map(\.kind) == ["people_moved"])
            let revision = try await profile.stage.rows("SELECT revision FROM profiles WHERE person_id = '\(open)'")
            for _ in 0..<2 {
                let moved = try await Self.ask(ViewOnboarding(), profile, open)
                #expect(moved.plan?.version == 3 && moved.steps.map(\.key).contains("texts") && moved.additions == nil)
                let stays = try await Self.ask(ViewOnboarding(), profile, complete)
                #expect(stays.plan?.version == 1 && stays.onboardingStatus == "complete")
                // The rule does not name the version that this person follows.
                #expect(try await Self.ask(ViewOnboarding(), profile, other).plan?.version == 2)
            }
            let me = try await Self.ask(GetMe(), profile, open)
            #expect(me.revision == Int64(revision).map { $0 + 1 }, "who has the profile by its entity tag asks anew")

            // The last step of the newer version is done: then the person follows it, and is complete there.
            let text = TermsReference(document: "terms", version: "1")
            _ = try await Self.ask(AcceptTerms(documents: [text]), profile, complete)
            let moved = try await Self.ask(ViewOnboarding(), profile, complete)
            #expect(moved.plan?.version == 3 && moved.onboardingStatus == "complete")
            let stored = try await profile.stage.rows(
                "SELECT version, completed_at IS NOT NULL FROM person_plans WHERE person_id = '\(complete)'")
            #expect(stored == "3|t")
            // A person who was complete once, and is not now, moves as well. In the newer version the person is not
            // complete.
            let former = Identifier.random()
            _ = try await Self.ask(GetMe(), profile, former)
            try await profile.stage.rows(
                """
                UPDATE person_plans SET version = 1, completed_at = '2026-02-20T09:00:00Z' WHERE person_id = '\(former)'
                """)
            let again = try await Self.ask(ViewOnboarding(), profile, former)
            #expect(again.plan?.version == 3 && again.resumeAt == "questionnaire")
            let kept = try await profile.stage.rows(
                "SELECT version, completed_at IS NOT NULL FROM person_plans WHERE person_id = '\(former)'")
            #expect(kept == "3|f")
        }
    }
}
