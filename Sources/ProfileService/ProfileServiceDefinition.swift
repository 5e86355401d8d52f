import BusProtocol
import Cryptography
import EventLoop
import ServiceRuntime

@main enum ProfileMain {
    static func main() async { await ServiceProcess.main(ProfileServiceDefinition.definition) }
}

/// Assembles the profile service.
enum ProfileServiceDefinition {
    static let definition = ServiceDefinition(
        name: .profile, variables: variables, migrations: ProfileMigrations.all, peers: [.auth, .questionnaire],
        assemble: assemble)

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let configuration = container.configuration
        let policy = Onboarding.Policy(
            requiresVerification: try configuration.boolean("PROFILE_REQUIRE_VERIFICATION"),
            requiresVisualSignal: try configuration.boolean("MATCH_REQUIRE_VISUAL_SIGNAL"),
            provisionalMaxOffers: configuration.optionalText("MATCH_PROVISIONAL_MAX_OFFERS").flatMap { Int64($0) })
        let profile = ProfileContext(
            database: container.database, inbox: container.inbox, audit: container.audit, bus: container.bus,
            log: container.log,
            store: ProfileStore(database: container.database, sealer: Sealer(container.keys, purpose: "date-of-birth")),
            events: EventStore(database: container.database),
            policy: policy, rejectsUnderage: try configuration.text("PROFILE_AGE_POLICY") == "reject",
            appName: try configuration.text("APP_NAME"),
            completion: CompletionRules(repromptAfter: try configuration.duration("PROFILE_REPROMPT_AFTER")),
            questionnaire: try configuration.text("PROFILE_QUESTIONNAIRE"))
        _ = try ProfanityFilter.shipped.get()
        container.handle(GetProfileFieldsHandler(views: try FieldCatalogue.shippedViews.get()))
        container.handle(GetMeHandler(profile: profile))
        container.handle(UpdateMeHandler(profile: profile))
        container.handle(GetCompletionHandler(profile: profile))
        container.handle(SkipFieldHandler(profile: profile))
        container.handle(ViewOnboardingHandler(profile: profile))
        container.handle(GetOnboardingHandler(profile: profile))
        container.handle(GetRequirementsHandler(profile: profile))
        container.handle(GetPersonHandler(profile: profile))
        container.handle(GetFactsHandler(store: profile.store))
        let notes = Sealer(container.keys, purpose: "staff-note")
        container.sections = ProfileExport.sections(profile.store.sealer, notes: notes, audit: container.audit)
        container.handle(ExportProfileHandler(export: container.export))
        container.handle(
            CorrectDateOfBirthHandler(
                profile: profile,
                staff: StaffReader(database: container.database, audit: container.audit, bus: container.bus),
                notes: notes))
        container.handle(AccountCreatedHandler(profile: profile))
        container.handle(AccountStatusHandler(profile: profile))
        container.handle(
            AccountDeletedHandler(container: container) {
                profile.store.erase($0, in: $1)
                profile.events.erase($0, in: $1)
            })
        container.handle(SessionOpenedHandler(profile: profile))
        container.handle(SessionCompletedHandler(profile: profile))
        container.handle(SessionAmendedHandler(profile: profile))
        container.handle(VisualPreferencesReadyHandler(profile: profile))
        container.handle(VisualPreferencesDeferredHandler(profile: profile))
        container.handle(VerificationDecidedHandler(profile: profile))
        container.handle(BackfillOnboardingHandler(profile: profile))
        container.handle(FindCitiesHandler())
        let limits = VisitorLimits(
            perAddress: try configuration.integer("PROFILE_VISITORS_PER_ADDRESS"),
            perDay: try configuration.integer("PROFILE_VISITORS_PER_DAY"),
            hash: KeyedHash(container.keys, purpose: "visitor-address"))
        let refused = RefusedEvents()
        container.ownGauges = { refused.gauges }
        container.handle(RecordEventsHandler(events: profile.events, limits: limits, refused: refused))
        container.handle(VisitorIdentifiedHandler(profile: profile))
        container.handle(GetFunnelHandler(profile: profile))
        container.background("visitors", every: .seconds(3600)) { while try await profile.events.purge() {} }
        container.background("field-history", every: .seconds(3600)) { while try await profile.store.purgeHistory() {} }
        let waitlist = WaitlistNotifier(profiles: profile.store, outbox: container.outbox, log: container.log)
        container.handle(JoinWaitlistHandler(profile: profile))
        // The job runs every 15 minutes, since a replica may have started at any hour. It processes the list once per
        // UTC day.
        container.background("waitlist", every: .seconds(900)) { try await waitlist.tellWhoIsEligible(at: .now()) }
        // Builds the table of cities before the first search needs it.
        container.background("cities", every: nil) { _ = try await Loop.compute { CityTable.shipped.count } }
        let review = FieldRecheck(store: profile.store, log: container.log)
        container.background("catalogue-review", every: .seconds(3600)) { try await review.run() }
    }

    private static let variables: [ConfigurationVariable] = [
        .init(
            "PROFILE_AGE_POLICY", .choice(["soft_block", "reject"]), "soft_block", "What a date of birth under 18 does"),
        .init(
            "PROFILE_REPROMPT_AFTER", .duration(3600...31_536_000, mayBeOff: false), "168h",
            "Until an encouraged field that was skipped is asked for again"),
        .init("PROFILE_REQUIRE_VERIFICATION", .boolean, "true", "Whether photo verification is a step"),
        .init("PROFILE_QUESTIONNAIRE", .text, "yoked-compat", "Key of the questionnaire that the onboarding asks for"),
        .init("MATCH_REQUIRE_VISUAL_SIGNAL", .boolean, "true", "Whether visual preferences are a step"),
        .init("MATCH_PROVISIONAL_MAX_OFFERS", .integer(0...1000), nil, "Offers that a provisional person gets"),
        .init(
            "PROFILE_VISITORS_PER_ADDRESS", .integer(1...1_000_000), "200",
            "New visitors of an address in an hour whose events are stored"),
        .init(
            "PROFILE_VISITORS_PER_DAY", .integer(1...1_000_000_000), "100000",
            "New visitors in a day (UTC) whose events are stored"),
    ]
}
