import BusProtocol
import BusRuntime
import Documents
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("texts to accept and tasks of the operator") struct TermsTests {
    private static func plan(_ version: String, url: String = "https://example.com/terms") throws -> JSONValue {
        var members = try #require(JSONValue.parse(EmbeddedFiles.Plans.eko_family.bytes).objectValue)
        let profile = try #require(members["steps"]?.arrayValue?.last)
        members["steps"] = [
            [
                "key": "texts", "need": "required",
                "terms": [
                    ["document": "terms", "version": .string(version), "url": .string(url)],
                    ["document": "privacy", "version": "1", "url": "https://example.com/privacy"],
                ],
            ],
            ["key": "check", "need": "required", "operator": "background_check"], profile,
        ]
        (members["key"], members["apps"]) = ("bank", ["bank"])
        members["capabilities"] = ["like": ["due": ["texts", "check"]]]
        return .object(members)
    }

    /// A person in the app of the plan.
    private static func ask<Request: BusRequest>(
        _ request: Request, _ profile: ProfileStage, _ person: Identifier
    ) async throws -> Request.Reply {
        let actor = Actor(userID: person, sessionID: .ordered(), role: .user, app: "bank")
        return try await profile.gateway.call(request, CallOptions(timeout: .seconds(10), actor: actor))
    }

    private static func publish(_ plan: JSONValue, _ editor: PlanEditor) async throws {
        let draft = try await editor.draft(plan, of: "bank")
        _ = try await editor.ask(PublishPlanDraft(key: "bank", draft: draft, acceptClass: "reask"))
    }

    @Test func textsAreAcceptedInTheirVersionAndAnotherVersionAsksAgain() async throws {
        try await ProfileStage.run { profile in
            let editor = PlanEditor(alone: profile)
            let person = Identifier.random()
            try await Self.publish(Self.plan("2026-11"), editor)
            let before = try await Self.ask(ViewOnboarding(), profile, person)
            #expect(before.resumeAt == "texts" && before.onboardingStep == "profile")
            #expect(before.steps.map(\.kind) == ["account", "terms", "operator", "fields"])
            #expect(before.steps[1].href == "/users/me/consents" && before.steps[2].href == nil)
            #expect(before.steps[1].terms?.map(\.url) == ["https://example.com/terms", "https://example.com/privacy"])

            func accept(_ document: String, _ version: String) async throws -> AcceptedTerms {
                let text = TermsReference(document: document, version: version)
                return try await Self.ask(AcceptTerms(documents: [text]), profile, person)
            }
            await #expect(throws: BusError.self) { try await accept("terms", "2025-01") }
            let first = try await accept("terms", "2026-11").consents
            #expect(first.map(\.document) == ["terms"])
            #expect(try await Self.ask(ViewOnboarding(), profile, person).resumeAt == "texts")
            let both = try await accept("privacy", "1").consents
            // The first acceptance keeps its time.
            #expect(both.map(\.document) == ["terms", "privacy"] && both[0] == first[0])
            #expect(try await accept("terms", "2026-11").consents == both)
            let after = try await Self.ask(ViewOnboarding(), profile, person)
            #expect(after.resumeAt == "check" && after.steps[1].state == "done")
            #expect(after.steps[1].terms?.map(\.acceptedAt) == both.map(\.acceptedAt))
            #expect(after.onboardingStep == "verification" && after.onboardingStatus == "verification_pending")
            #expect(try await Self.ask(GetRequirements(), profile, person).like.currentlyDue == ["check"])

            // A person who begins with a newer version is asked for the newer text. The older consent stays.
            try await Self.publish(Self.plan("2027-01"), editor)
            #expect(try await Self.ask(ViewOnboarding(), profile, person).steps[1].state == "done")
            try await profile.stage.rows("UPDATE person_plans SET version = 2 WHERE person_id = '\(person)'")
            #expect(try await Self.ask(ViewOnboarding(), profile, person).resumeAt == "texts")
            let stored = try await profile.stage.rows(
                "SELECT document, version FROM consents WHERE person_id = '\(person)' ORDER BY 1")
            #expect(stored == "privacy|1\nterms|2026-11")
        }
    }

    /// Each device accepts one of the two texts of a step.
    @Test func textsAcceptedConcurrentlyEndTheStep() async throws {
        try await ProfileStage.run { profile in
            let person = Identifier.random()
            try await Self.publish(Self.plan("1"), PlanEditor(alone: profile))
            _ = try await Self.ask(ViewOnboarding(), profile, person)
            let requests = ["terms", "privacy"].map { document -> @Loop @Sendable () async throws -> Void in
                {
                    let text = TermsReference(document: document, version: "1")
                    _ = try await Self.ask(AcceptTerms(documents: [text]), profile, person)
                }
            }
            try await profile.holding(person, requests)
            #expect(try await profile.stage.rows("SELECT steps ? 'texts' FROM person_plans") == "t")
        }
    }

    private static let texts = [
        TermsReference(document: "terms", version: "1"), TermsReference(document: "privacy", version: "1"),
    ]

    /// A profile from before `m0030` has no copies of what the tables have.
    @Test func aProfileWithoutCopiesIsReadFromTheTablesAndGetsThem() async throws {
        try await ProfileStage.run { profile in
            let editor = PlanEditor(alone: profile)
            let person = Identifier.random()
            try await Self.publish(Self.plan("1"), editor)
            _ = try await Self.ask(AcceptTerms(documents: Self.texts), profile, person)
            _ = try await editor.ask(SetOperatorTask(personId: person, task: "background_check", done: true))
            let copies = """
                SELECT copied_plans, copied_consents, copied_tasks FROM profiles WHERE person_id = '\(person)'
                """
            let (stored, shown) = (
                try await profile.stage.rows(copies), try await Self.ask(ViewOnboarding(), profile, person)
            )
            #expect(shown.onboardingStatus == "complete")
            try await profile.stage.rows(
                "UPDATE profiles SET copied_plans = NULL, copied_consents = NULL, copied_tasks = NULL")
            #expect(try await Self.ask(ViewOnboarding(), profile, person) == shown)
            #expect(try await eventually { try await profile.stage.rows(copies) == stored })
        }
    }

    @Test func aTaskOfTheOperatorIsDoneAndUndoneWithAnEntryInTheTrail() async throws {
        try await ProfileStage.run { profile in
            let editor = PlanEditor(alone: profile)
            let person = Identifier.random()
            try await Self.publish(Self.plan("1"), editor)
            _ = try await Self.ask(AcceptTerms(documents: Self.texts), profile, person)
            func task(_ key: String, _ done: Bool) -> SetOperatorTask {
                SetOperatorTask(personId: person, task: key, done: done)
            }
            #expect(try await editor.refusal(of: task("horoscope", true)).code == "not_found")
            await #expect(throws: BusError.self) {
                try await Self.ask(task("background_check", true), profile, person)
            }
            let options = CallOptions(timeout: .seconds(10), actor: editor.admin)
            _ = try await profile.gateway.call(task("background_check", true), options)
            _ = try await editor.ask(task("background_check", true))
            #expect(try await Self.ask(ViewOnboarding(), profile, person).onboardingStatus == "complete")
            #expect(try await Self.ask(GetRequirements(), profile, person).like.disabledReason == nil)
            let completed = try await profile.stage.rows(
                "SELECT count(*) FROM onboarding_events WHERE name = 'onboarding_completed'")
            #expect(completed == "1")
            _ = try await editor.ask(task("background_check", false))
            // The bus repeats a message whose answer was lost.
            _ = try await profile.gateway.call(task("background_check", true), options)
            #expect(try await Self.ask(ViewOnboarding(), profile, person).resumeAt == "check")
            let acts = try await profile.stage.rows("SELECT act FROM audit WHERE act LIKE 'operator%' ORDER BY at")
            #expect(acts == "operator_task_done\noperator_task_undone")
        }
    }

    @Test func aBackfillAcceptsNoTextForAPerson() throws {
        let library = try FieldLibrary.shipped.get().library
        let plan = try PlanParser.parse(PlanDocument(Self.plan("1")), library)
        let now = Timestamp("2026-02-20T09:00:00Z")!
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        record.isBackfilled = true
        let today = CivilDate("2026-02-20")!
        let held = Onboarding.view(of: record, plan, today: today)
        #expect(held.resumeAt == "texts" && held.steps.map(\.state) == ["done", "current", "done", "done"])
        // A person who was complete stays complete, but must still accept the texts.
        record.completedPlans = [plan.reference]
        let view = Onboarding.view(of: record, plan, today: today)
        #expect(view.onboardingStatus == "complete" && view.steps.map(\.state) == ["done", "pending", "done", "done"])
        #expect(RequirementRules.requirements(of: record, plan, today: today, now: now).like.currentlyDue == ["texts"])
    }

    @Test func aConsentDoesNotCountInAnotherAppWithTheSameText() async throws {
        try await ProfileStage.run { profile in
            let editor = PlanEditor(alone: profile)
            let person = Identifier.random()
            try await Self.publish(Self.plan("1"), editor)
            var members = try #require(Self.plan("1", url: "https://example.org/terms").objectValue)
            (members["key"], members["apps"]) = ("shop", ["shop"])
            let draft = try await editor.draft(.object(members), of: "shop")
            _ = try await editor.ask(PublishPlanDraft(key: "shop", draft: draft))
            _ = try await Self.ask(AcceptTerms(documents: Self.texts), profile, person)
            #expect(try await Self.ask(ViewOnboarding(), profile, person).resumeAt == "check")
            let actor = Actor(userID: person, sessionID: .ordered(), role: .user, app: "shop")
            let options = CallOptions(timeout: .seconds(10), actor: actor)
            #expect(try await profile.gateway.call(ViewOnboarding(), options).resumeAt == "texts")
            _ = try await profile.gateway.call(AcceptTerms(documents: Self.texts), options)
            #expect(try await profile.gateway.call(ViewOnboarding(), options).resumeAt == "check")
            let stored = try await profile.stage.rows("SELECT count(*) FROM consents WHERE person_id = '\(person)'")
            #expect(stored == "4")
        }
    }

    /// The page says that a backfill accepts no text for anybody. Who was complete already stays complete.
    @Test func aBackfilledPersonMustAcceptTextsUnlessComplete() async throws {
        try await ProfileStage.run { profile in
            let editor = PlanEditor(alone: profile)
            try await Self.publish(Self.plan("1"), editor)
            let (held, former) = (Identifier.random(), Identifier.random())
            for person in [held, former] { _ = try await Self.ask(ViewOnboarding(), profile, person) }
            try await profile.stage.rows(
                "UPDATE person_plans SET completed_at = now() WHERE person_id = '\(former)'")
            let bus = try profile.stage.asking(as: .operator)
            _ = try await bus.call(BackfillOnboarding(userIDs: [held, former]), CallOptions(timeout: .seconds(10)))
            #expect(try await Self.ask(ViewOnboarding(), profile, former).onboardingStatus == "complete")
            let view = try await Self.ask(ViewOnboarding(), profile, held)
            #expect(view.resumeAt == "texts" && view.onboardingStatus == "questionnaire_pending")
            #expect(view.steps.map(\.state) == ["done", "current", "done", "done"])
            _ = try await Self.ask(AcceptTerms(documents: Self.texts), profile, held)
            #expect(try await Self.ask(ViewOnboarding(), profile, held).onboardingStatus == "complete")
        }
    }

    @Test(
        "a step that cannot be shown is refused",
        arguments: [
            ("/steps/0/terms/0/url", "malformed", "http://example.com/terms"),
            ("/steps/0/terms/0/url", "malformed", "https://example.com/the terms"),
        ])
    func refused(pointer: String, code: String, url: String) throws {
        let library = try FieldLibrary.shipped.get().library
        let document = try PlanDocument(Self.plan("1", url: url))
        let error = #expect(throws: DocumentError.self) { try PlanParser.parse(document, library) }
        #expect(error?.problems.map { "\($0.code) \($0.pointer)" } == ["\(code) \(pointer)"])
    }

    @Test func anotherVersionOfATextIsAskedForAndAnotherAddressIsNot() throws {
        let library = try FieldLibrary.shipped.get().library
        let old = try PlanDocument(Self.plan("1")).file
        func kinds(_ plan: JSONValue) throws -> [PlanChangeKind] {
            PlanDifference(from: old, to: try PlanDocument(plan).file, library).changes.map(\.kind)
        }
        #expect(try kinds(Self.plan("2")) == [.termsChanged])
        #expect(try kinds(Self.plan("1", url: "https://example.org/terms")) == [.termsMoved])
    }
}
