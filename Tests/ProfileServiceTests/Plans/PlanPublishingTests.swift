import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

@Suite("publishing plans") struct PlanPublishingTests {
    private static func edited(_ plan: String, _ edits: [String: JSONValue]) throws -> JSONValue {
        let file = try #require(EmbeddedFiles.Plans.all.first { $0.name == plan })
        return .object(try #require(JSONValue.parse(file.bytes).objectValue).merging(edits) { $1 })
    }

    /// A plan for an app of its own, with this questionnaire as its first step.
    private static func garden(_ questionnaire: String = "eko-family", apps: [JSONValue] = ["garden"]) throws
        -> JSONValue
    {
        var steps = try #require(edited("eko-family", [:])["steps"]?.arrayValue)
        steps[0] = ["key": "questionnaire", "questionnaire": .string(questionnaire), "need": "required"]
        return try edited("eko-family", ["key": "garden", "apps": .array(apps), "steps": .array(steps)])
    }

    /// The default plan as a new deployment has it, and the version that is published next.
    private static let shipped = PlanVersion(key: "yoked", version: Plan.yoked.reference.version)
    private static let next = PlanVersion(key: "yoked", version: shipped.version + 1)

    @Test func peopleGoOnWithTheVersionThatTheyFollow() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            #expect(try await profile.ask(ViewOnboarding()).plan == Self.shipped)
            let minimum: JSONValue = ["minimum": 21, "under": "soft_block"]
            let draft = try await editor.draft(Self.edited("yoked", ["age": minimum]), of: "yoked")
            let held = try await editor.refusal(of: PublishPlanDraft(key: "yoked", draft: draft))
            #expect(held.code == "change_not_accepted" && held.details?["people"] == 1)
            #expect(held.details?["changeClass"] == "reask")
            let published = try await editor.ask(PublishPlanDraft(key: "yoked", draft: draft, acceptClass: "reask"))
            #expect(published.version == Self.next.version && published.people == 1 && published.changeClass == "reask")
            #expect(published.changes.map(\.kind) == ["age_rule"])

            #expect(try await profile.ask(ViewOnboarding()).plan == Self.shipped)
            let newcomer = ProfileStage(stage: profile.stage, gateway: profile.gateway)
            #expect(try await newcomer.ask(ViewOnboarding()).plan == Self.next)

            // A retired version is read on by who follows it. Others begin with the newest that is left.
            let retired = try await editor.ask(RetirePlanVersion(key: "yoked", version: "\(Self.next.version)"))
            #expect(retired.retiredAt != nil && !retired.current && retired.people == 1)
            #expect(try await newcomer.ask(ViewOnboarding()).plan == Self.next)
            let last = ProfileStage(stage: profile.stage, gateway: profile.gateway)
            #expect(try await last.ask(ViewOnboarding()).plan == Self.shipped)
            let overview = try await editor.ask(ViewPlan(key: "yoked"))
            #expect(overview.versions.map(\.people) == [1, 2] && overview.versions.map(\.current) == [false, true])
            let acts = try await profile.stage.rows("SELECT act FROM audit WHERE chain = 'service' ORDER BY at")
            #expect(acts == "plan_published\nplan_retired")
        }
    }

    /// Nobody could sign in to the default app without its plan; another app may end.
    @Test func theLastVersionOfTheDefaultPlanStays() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let refused = try await editor.refusal(
                of: RetirePlanVersion(key: "yoked", version: "\(Self.shipped.version)"))
            #expect(refused.code == "definition_invalid" && refused.errors?.map(\.code) == ["default_plan"])
            let person = ProfileStage(stage: profile.stage, gateway: profile.gateway)
            #expect(try await person.ask(ViewOnboarding()).plan == Self.shipped)
            _ = try await editor.ask(RetirePlanVersion(key: "eko-family", version: "1"))
            #expect(await editor.code { try await editor.rules(of: "eko-family") } == "app_unknown")
            let draft = try await editor.draft(Self.edited("yoked", [:]), of: "yoked")
            _ = try await editor.ask(PublishPlanDraft(key: "yoked", draft: draft))
            _ = try await editor.ask(RetirePlanVersion(key: "yoked", version: "\(Self.shipped.version)"))
            #expect(
                try await editor.refusal(of: RetirePlanVersion(key: "yoked", version: "\(Self.next.version)")).code
                    == "definition_invalid"
            )
        }
    }

    /// The background job of each replica calls ``PublishedPlans/refresh()``.
    @Test func anotherReplicaSeesAVersionOnceItReadsAgain() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let other = try profile.plans()
            #expect(try await other.current(for: "eko-family").reference.version == 1)
            let draft = try await editor.draft(Self.garden(), of: "garden")
            _ = try await editor.ask(PublishPlanDraft(key: "garden", draft: draft))
            #expect(await editor.code { try await other.current(for: "garden") } == "app_unknown")
            other.refresh()
            #expect(try await other.current(for: "garden").reference == PlanReference(key: "garden", version: 1))
        }
    }

    @Test func aPlanForANewAppAnswersForIt() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            #expect(await editor.code { try await editor.rules(of: "garden") } == "app_unknown")
            let draft = try await editor.draft(Self.garden(), of: "garden")
            #expect(try await editor.ask(CheckPlanDraft(key: "garden", draft: draft)).publishable)
            _ = try await editor.ask(PublishPlanDraft(key: "garden", draft: draft))
            #expect(try await editor.rules(of: "garden") == SignInRules(methods: ["google"], phone: "none"))
            let list = try await editor.ask(ListPlans()).plans
            #expect(list.map(\.key) == ["eko-family", "garden", "realsingles", "skin-care", "yoked"])
            #expect(list[1].apps == ["garden"])
        }
    }

    /// How a person came is stored once, when the person begins with the plan.
    @Test func anEntryOfThePlanIsStored() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            var plan = try #require(try Self.garden().objectValue)
            plan["entries"] = ["spring", "fair"]
            let draft = try await editor.draft(.object(plan), of: "garden")
            _ = try await editor.ask(PublishPlanDraft(key: "garden", draft: draft))
            let auth = try profile.stage.asking(as: .auth)
            let people = (0..<3).map { _ in Identifier.random() }
            for (person, entry) in [(0, "spring"), (0, "fair"), (1, "fair"), (2, "winter"), (2, nil)]
                as [(Int, String?)]
            {
                let request = GetOnboarding(personID: people[person], app: "garden", entry: entry)
                _ = try await auth.call(request, CallOptions(timeout: .seconds(10)))
            }
            for (person, entry) in zip(people, ["spring", "fair", ""]) {
                let stored = try await profile.stage.rows(
                    "SELECT entry FROM person_plans WHERE person_id = '\(person)'")
                #expect(stored == entry)
            }
            let funnel = try await profile.ask(GetFunnel(plan: "garden"))
            #expect(funnel.entries?.map(\.entry) == ["fair", "spring", nil] && funnel.total?.people == 3)
            #expect(try await profile.ask(GetFunnel(plan: "garden", entry: "fair")).total?.people == 1)
        }
    }

    @Test func aRefusalLeavesEverythingAsItIs() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let before = try await profile.stage.rows("SELECT plan, version, content_hash FROM plans ORDER BY 1, 2")
            for (plan, code, pointer) in [
                (try Self.garden(apps: ["garden", "yoked"]), "duplicate_app", "/apps/1"),
                (try Self.garden("meadow"), "unknown_questionnaire", "/steps/0/questionnaire"),
                (try Self.garden(apps: ["garden", "garden"]), "duplicate_key", "/apps/1"),
            ] {
                let draft = try await editor.draft(plan, of: "garden")
                let report = try await editor.ask(CheckPlanDraft(key: "garden", draft: draft))
                #expect(report.findings.map(\.code) == [code] && !report.publishable)
                let refusal = try await editor.refusal(of: PublishPlanDraft(key: "garden", draft: draft))
                #expect(refusal.code == "definition_invalid")
                #expect(refusal.errors?.map { "\($0.code) \($0.field)" } == ["\(code) \(pointer)"])
            }
            #expect(
                try await profile.stage.rows("SELECT plan, version, content_hash FROM plans ORDER BY 1, 2") == before)
            #expect(try await editor.ask(ViewPlan(key: "garden")).drafts.allSatisfy { $0.publishedAs == nil })
            #expect(await editor.code { try await editor.rules(of: "garden") } == "app_unknown")
        }
    }

    @Test func aPlanNamingAQuestionnaireNeedsThatServiceToPublish() async throws {
        try await ProfileStage.run { profile in
            let editor = PlanEditor(alone: profile)
            let draft = try await editor.draft(Self.garden(), of: "garden")
            let code = await editor.code { try await editor.ask(PublishPlanDraft(key: "garden", draft: draft)) }
            #expect(code == "service_unavailable")
        }
    }

    @Test func concurrentPublicationsGiveOneVersionEach() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            var drafts: [String] = []
            for minimum in [19, 20, 21, 22] {
                let age: JSONValue = ["minimum": .integer(Int64(minimum)), "under": "soft_block"]
                drafts.append(try await editor.draft(Self.edited("yoked", ["age": age]), of: "yoked"))
            }
            let tasks = drafts.map { draft in
                Loop.spawn {
                    try await patiently {
                        try await editor.ask(PublishPlanDraft(key: "yoked", draft: draft, acceptClass: "breaking"))
                            .version
                    }
                }
            }
            var versions: [Int64] = []
            for task in tasks { versions.append(try await task.value) }
            #expect(versions.sorted() == (0..<4).map { Self.next.version + $0 })
            #expect(
                try await profile.stage.rows("SELECT count(DISTINCT content_hash) FROM plans WHERE plan = 'yoked'")
                    == "5"
            )
        }
    }

    /// People send requests to two replicas while an editor publishes, and again when both replicas follow the new
    /// version.
    @Test func aBreakingVersionChangesNoStepOfPeopleUnderWay() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let editor = try await PlanEditor(profile)
            let count = Rounds.count(60, prove: 1000)
            let people = (0..<count).map { _ in ProfileStage(stage: profile.stage, gateway: profile.gateway) }
            // So many at once as a replica takes without turning anybody away.
            func views() async throws -> [OnboardingView] {
                var views: [OnboardingView] = []
                for start in stride(from: 0, to: count, by: 50) {
                    let tasks = people[start..<min(start + 50, count)].map { person in
                        Loop.spawn { try await person.ask(ViewOnboarding()) }
                    }
                    for task in tasks { views.append(try await task.value) }
                }
                return views
            }
            for person in people.prefix(count / 2) { try await person.update(["displayName": "Zoë"]) }
            let before = try await views()
            #expect(before.allSatisfy { $0.plan == Self.shipped })

            var steps = try #require(Self.edited("yoked", [:])["steps"]?.arrayValue)
            let place = try #require(steps.firstIndex { $0["questionnaire"] != nil })
            steps[place] = ["key": "questionnaire", "questionnaire": "skin-care", "need": "required"]
            let draft = try await editor.draft(Self.edited("yoked", ["steps": .array(steps)]), of: "yoked")
            let publishing = Loop.spawn {
                try await editor.ask(PublishPlanDraft(key: "yoked", draft: draft, acceptClass: "breaking"))
            }
            let during = try await views()
            let published = try await publishing.value
            #expect(
                published.version == Self.next.version && published.changeClass == "breaking"
                    && published.people == count)
            #expect(during == before)
            for container in profile.stage.containers { container.hurry() }
            // Newcomers find the new version once both replicas have read it.
            var hrefs: [String?] = []
            while hrefs.suffix(4).count(where: { $0 == "/questionnaires/skin-care/sessions" }) < 4, hrefs.count < 1000 {
                let newcomer = ProfileStage(stage: profile.stage, gateway: profile.gateway)
                hrefs.append(try await newcomer.ask(ViewOnboarding()).steps[2].href)
            }
            #expect(hrefs.count < 1000)
            #expect(try await views() == before)
        }
    }

    @Test func aCopyNamesItsOriginAndPublishesAsItWas() async throws {
        try await ProfileStage.run { profile in
            let editor = try await PlanEditor(profile)
            let copy = try await editor.ask(CreatePlanDraft(key: "yoked", from: Self.shipped.version))
            #expect(copy.plan["derivedFrom"]?["version"] == .integer(Self.shipped.version))
            let published = try await editor.ask(PublishPlanDraft(key: "yoked", draft: String(copy.number)))
            #expect(published.version == Self.next.version && published.changes.isEmpty && published.changeClass == nil)
            let difference = try await editor.ask(
                ComparePlanVersions(key: "yoked", from: Self.shipped.version, to: Self.next.version))
            #expect(difference.changes.isEmpty)
            let stored = try await editor.ask(GetPlanVersion(key: "yoked", version: "\(Self.next.version)"))
            #expect(stored.plan["version"] == .integer(Self.next.version) && stored.hash == published.hash)
        }
    }
}
