import BusProtocol
import Cities
import Cryptography
import Documents
import EventLoop
import ServiceRuntime

@main enum ProfileMain {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        PlanCommand.runIfAsked(arguments)
        LibraryCommand.runIfAsked(arguments)
        await ServiceProcess.main(ProfileServiceDefinition.definition)
    }
}

/// Assembles the profile service.
enum ProfileServiceDefinition {
    static let definition = ServiceDefinition(
        name: .profile, variables: variables, migrations: ProfileMigrations.all, peers: [.auth, .questionnaire],
        countsPeople: true, assemble: assemble)

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let configuration = container.configuration
        let files = try PlanFiles(folder: configuration.optionalText("PROFILE_PLANS_FOLDER"))
        let libraries = try PublishedLibraries(
            database: container.database, files: files.libraries, log: container.log)
        let plans = PublishedPlans(
            database: container.database, libraries: libraries, files: files.plans,
            defaultPlan: try configuration.text("PROFILE_DEFAULT_PLAN"),
            overrides: try overrides(configuration, container.log), log: container.log)
        let profile = ProfileContext(
            database: container.database, inbox: container.inbox, audit: container.audit, bus: container.bus,
            log: container.log,
            store: ProfileStore(
                database: container.database, keys: container.keys,
                formerQuestionnaire: configuration.optionalText("PROFILE_QUESTIONNAIRE") ?? "yoked-compat"),
            libraries: libraries, plans: plans, events: EventStore(database: container.database),
            appName: try configuration.text("APP_NAME"))
        _ = try ProfanityFilter.shipped.get()
        container.handle(GetProfileFieldsHandler(plans: plans, libraries: libraries))
        container.handle(GetMeHandler(profile: profile))
        container.handle(UpdateMeHandler(profile: profile))
        container.handle(GetCompletionHandler(profile: profile))
        container.handle(SkipFieldHandler(profile: profile))
        container.handle(ViewOnboardingHandler(profile: profile))
        container.handle(GetOnboardingHandler(profile: profile))
        container.handle(GetSignInRulesHandler(plans: plans))
        container.handle(GetRequirementsHandler(profile: profile))
        handlePlans(container, libraries, plans)
        handleLibrary(container, libraries)
        container.handle(GetPersonHandler(profile: profile))
        container.handle(DescribePersonHandler(profile: profile))
        container.handle(GetFactsHandler(profile: profile))
        let notes = Sealer(container.keys, purpose: "staff-note")
        container.handlePersonalData(
            ExportProfile.self,
            sections: ProfileExport.sections(profile.store.sealer, notes: notes, audit: container.audit)
        ) {
            profile.store.erase($0, in: $1)
            profile.events.erase($0, in: $1)
        }
        container.handle(
            CorrectDateOfBirthHandler(profile: profile, bearers: BearerReader(bus: container.bus), notes: notes))
        container.handle(AccountCreatedHandler(profile: profile))
        container.handle(AccountStatusHandler(profile: profile))
        container.handle(SessionOpenedHandler(profile: profile))
        container.handle(SessionCompletedHandler(profile: profile))
        container.handle(SessionAmendedHandler(profile: profile))
        container.handle(JudgeAnswersHandler(profile: profile))
        container.handle(ProfileAnswersChangedHandler(profile: profile))
        container.handle(VisualPreferencesReadyHandler(profile: profile))
        container.handle(VisualPreferencesDeferredHandler(profile: profile))
        container.handle(VerificationDecidedHandler(profile: profile))
        container.handle(PhotoChangedHandler(profile: profile))
        container.handle(BackfillOnboardingHandler(profile: profile))
        container.handle(AcceptTermsHandler(profile: profile))
        container.handle(SetOperatorTaskHandler(profile: profile))
        container.handle(FindCitiesHandler())
        container.handle(
            GetCompatibilityHandler(
                profile: profile, limit: try configuration.integer("PROFILE_COMPATIBILITY_PER_DAY")))
        let limits = VisitorLimits(
            perAddress: try configuration.integer("PROFILE_VISITORS_PER_ADDRESS"),
            perDay: try configuration.integer("PROFILE_VISITORS_PER_DAY"),
            hash: KeyedHash(container.keys, purpose: "visitor-address"))
        let refused = RefusedEvents()
        container.ownGauges = { refused.gauges }
        container.handle(RecordEventsHandler(events: profile.events, limits: limits, refused: refused))
        container.handle(VisitorIdentifiedHandler(database: container.database, events: profile.events))
        container.handle(GetFunnelHandler(plans: plans, statistics: container.statistics))
        container.background("visitors", every: .seconds(3600)) { while try await profile.events.purge() {} }
        container.background("compatibility-looks", every: .seconds(3600)) {
            while try await CompatibilityStore.purge(today: Timestamp.now().date, container.database) {}
        }
        container.background("field-history", every: .seconds(3600)) { while try await profile.store.purgeHistory() {} }
        let waitlist = WaitlistNotifier(
            profiles: profile.store, plans: plans, outbox: container.outbox, log: container.log)
        container.handle(JoinWaitlistHandler(profile: profile))
        // The job runs every 15 minutes, since a replica may have started at any hour. It processes the list once per
        // UTC day.
        container.background("waitlist", every: .seconds(900)) { try await waitlist.tellWhoIsEligible(at: .now()) }
        // Builds the table of cities before the first search needs it.
        container.background("cities", every: nil) { _ = try await Loop.compute { CityTable.shipped.count } }
        let formerPhotos = FormerPhotos(database: container.database, outbox: container.outbox)
        container.background("former-photos", every: .seconds(3600)) { try await formerPhotos.round() }
        let recheck = FieldRecheck(profile: profile)
        container.prepare = {
            do {
                try await plans.importFiles()
                return try await plans.defaultPlanProblem()
            } catch let refused as DocumentFileRefused {
                return refused.description
            }
        }
        // A version that was published in the last seconds is not followed yet.
        container.background("plans", every: .seconds(5)) { plans.refresh() }
        container.background("field-recheck", every: .seconds(3600)) { try await recheck.run() }
    }

    /// Handles the requests of editors of plans.
    @Loop private static func handlePlans(
        _ container: ServiceContainer, _ libraries: PublishedLibraries, _ plans: PublishedPlans
    ) {
        let store = DocumentStore(.plan, database: container.database)
        let drafts = DocumentDrafts(store)
        let gate = PlanGate(libraries: libraries, bus: container.bus)
        container.handle(ListPlansHandler(store: store))
        container.handle(ViewPlanHandler(store: store))
        container.handle(GetPlanVersionHandler(drafts: drafts))
        container.handle(ComparePlanVersionsHandler(drafts: drafts, libraries: libraries))
        container.handle(RetirePlanVersionHandler(audit: container.audit, drafts: drafts, plans: plans))
        container.handlePlanDrafts(drafts)
        container.handle(CheckPlanDraftHandler(drafts: drafts, gate: gate, plans: plans))
        container.handle(
            PublishPlanDraftHandler(
                inbox: container.inbox, audit: container.audit, drafts: drafts, gate: gate, plans: plans))
    }

    /// Handles the requests of editors of the library of fields.
    @Loop private static func handleLibrary(_ container: ServiceContainer, _ libraries: PublishedLibraries) {
        let drafts = DocumentDrafts(libraries.documents)
        container.handle(ViewFieldLibraryHandler(drafts: drafts))
        container.handle(GetFieldLibraryVersionHandler(drafts: drafts))
        container.handleLibraryDrafts(drafts)
        container.handle(CheckFieldLibraryDraftHandler(drafts: drafts, libraries: libraries))
        container.handle(
            PublishFieldLibraryDraftHandler(
                inbox: container.inbox, audit: container.audit, drafts: drafts, libraries: libraries))
    }

    /// The settings in the variables that are older than plans. Each variable that is set causes a warning in the log.
    private static func overrides(_ configuration: Configuration, _ log: Log) throws -> PlanOverrides {
        for variable in former where configuration.optionalText(variable.name) != nil {
            log.warning("variable_belongs_to_plan", ["variable": .string(variable.name)])
        }
        func given<Value>(_ name: String, _ value: (String) throws -> Value) rethrows -> Value? {
            try configuration.optionalText(name) == nil ? nil : value(name)
        }
        return PlanOverrides(
            requiresVerification: try given("PROFILE_REQUIRE_VERIFICATION", configuration.boolean),
            requiresVisualSignal: try given("MATCH_REQUIRE_VISUAL_SIGNAL", configuration.boolean),
            questionnaire: configuration.optionalText("PROFILE_QUESTIONNAIRE"),
            refusesUnderage: configuration.optionalText("PROFILE_AGE_POLICY").map { $0 == "reject" },
            repromptAfter: try given("PROFILE_REPROMPT_AFTER", configuration.duration),
            provisionalMaxOffers: try given("MATCH_PROVISIONAL_MAX_OFFERS", configuration.integer))
    }

    /// Variables that set properties of the default plan. The next release does not read them.
    private static let former: [ConfigurationVariable] = [
        .init(
            "PROFILE_AGE_POLICY", .choice(["soft_block", "reject"]), nil,
            "Until the next release: what a date of birth under the minimum age does in the default plan"),
        .init(
            "PROFILE_REPROMPT_AFTER", .duration(3600...31_536_000, mayBeOff: false), nil,
            "Until the next release: when the default plan asks again for a skipped field"),
        .init(
            "PROFILE_REQUIRE_VERIFICATION", .boolean, nil,
            "Until the next release: whether photo verification is a step of the default plan"),
        .init(
            "PROFILE_QUESTIONNAIRE", .text, nil,
            "Until the next release: key of the questionnaire in the default plan and before there were plans"),
        .init(
            "MATCH_REQUIRE_VISUAL_SIGNAL", .boolean, nil,
            "Until the next release: whether visual preferences are a step of the default plan"),
        .init(
            "MATCH_PROVISIONAL_MAX_OFFERS", .integer(0...1000), nil,
            "Until the next release: offers that a provisional person gets in the default plan"),
    ]

    private static let variables: [ConfigurationVariable] =
        former + [
            .init(
                "PROFILE_DEFAULT_PLAN", .text, "yoked", "Key of the plan of people whose app names no key of its own"),
            .init(
                "PROFILE_PLANS_FOLDER", .text, nil,
                "Folder with files of plans (KEY.json) and of the library of fields (fields.json), read at the start"),
            .init(
                "PROFILE_VISITORS_PER_ADDRESS", .integer(1...1_000_000), "200",
                "New visitors of an address in an hour whose events are stored"),
            .init(
                "PROFILE_VISITORS_PER_DAY", .integer(1...1_000_000_000), "100000",
                "New visitors in a day (UTC) whose events are stored"),
            .init(
                "PROFILE_COMPATIBILITY_PER_DAY", .integer(1...10_000), "100",
                "How many people a person may compare themselves with in a day (UTC)"),
        ]
}
