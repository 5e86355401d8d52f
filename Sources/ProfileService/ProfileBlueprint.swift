import BusProtocol
import Cryptography
import EventLoop
import ServiceRuntime

@main enum ProfileMain {
    static func main() async { await ServiceProcess.main(ProfileBlueprint.blueprint) }
}

/// How profile is put together.
enum ProfileBlueprint {
    static let blueprint = ServiceBlueprint(
        name: .profile, variables: variables, migrations: ProfileMigrations.all, peers: [.auth, .questionnaire],
        assemble: assemble)

    @Loop private static func assemble(_ house: ServiceHouse) throws {
        let configuration = house.configuration
        let policy = Onboarding.Policy(
            requiresVerification: try configuration.boolean("PROFILE_REQUIRE_VERIFICATION"),
            requiresVisualSignal: try configuration.boolean("MATCH_REQUIRE_VISUAL_SIGNAL"),
            provisionalMaxOffers: configuration.optionalText("MATCH_PROVISIONAL_MAX_OFFERS").flatMap { Int64($0) })
        let profile = ProfileContext(
            house: house,
            store: ProfileStore(database: house.database, sealer: Sealer(house.keys, purpose: "date-of-birth")),
            events: EventStore(database: house.database),
            policy: policy, rejectsUnderage: try configuration.text("PROFILE_AGE_POLICY") == "reject",
            appName: try configuration.text("APP_NAME"),
            completion: CompletionRules(repromptAfter: try configuration.duration("PROFILE_REPROMPT_AFTER")),
            questionnaire: try configuration.text("PROFILE_QUESTIONNAIRE"))
        _ = try ProfanityFilter.shipped.get()
        house.handle(GetProfileFieldsHandler(views: try FieldCatalogue.shippedViews.get()))
        house.handle(GetMeHandler(profile: profile))
        house.handle(UpdateMeHandler(profile: profile))
        house.handle(GetCompletionHandler(profile: profile))
        house.handle(SkipFieldHandler(profile: profile))
        house.handle(ViewOnboardingHandler(profile: profile))
        house.handle(GetOnboardingHandler(profile: profile))
        house.handle(GetRequirementsHandler(profile: profile))
        house.handle(GetPersonHandler(profile: profile))
        house.handle(GetFactsHandler(store: profile.store))
        let notes = Sealer(house.keys, purpose: "staff-note")
        house.handle(
            ExportProfileHandler(
                export: PersonExport(
                    database: house.database,
                    sections: ProfileExport.sections(profile.store.sealer, notes: notes, audit: house.audit))))
        house.handle(
            CorrectDateOfBirthHandler(profile: profile, staff: StaffReader(house: house), notes: notes))
        house.handle(AccountCreatedHandler(profile: profile))
        house.handle(AccountStatusHandler(profile: profile))
        house.handle(
            AccountDeletedHandler(house: house) {
                profile.store.erase($0, in: $1)
                profile.events.erase($0, in: $1)
            })
        house.handle(SessionOpenedHandler(profile: profile))
        house.handle(SessionCompletedHandler(profile: profile))
        house.handle(SessionAmendedHandler(profile: profile))
        house.handle(VisualPreferencesReadyHandler(profile: profile))
        house.handle(VisualPreferencesDeferredHandler(profile: profile))
        house.handle(VerificationDecidedHandler(profile: profile))
        house.handle(BackfillOnboardingHandler(profile: profile))
        house.handle(FindCitiesHandler())
        let limits = VisitorLimits(
            perAddress: try configuration.integer("PROFILE_VISITORS_PER_ADDRESS"),
            perDay: try configuration.integer("PROFILE_VISITORS_PER_DAY"),
            hash: KeyedHash(house.keys, purpose: "visitor-address"))
        let refused = RefusedEvents()
        house.ownGauges = { refused.gauges }
        house.handle(RecordEventsHandler(events: profile.events, limits: limits, refused: refused))
        house.handle(VisitorIdentifiedHandler(profile: profile))
        house.handle(GetFunnelHandler(profile: profile))
        house.background("visitors") {
            try await house.database.waitUntilAvailable()
            while try await profile.events.purge() {}
            try await Loop.sleep(for: .seconds(3600))
        }
        house.background("field-history") {
            try await house.database.waitUntilAvailable()
            while try await profile.store.purgeHistory() {}
            try await Loop.sleep(for: .seconds(3600))
        }
        let waitlist = WaitlistStore(profiles: profile.store, outbox: house.outbox, log: house.log)
        house.handle(JoinWaitlistHandler(profile: profile, waitlist: waitlist))
        house.background("waitlist") {
            try await house.database.waitUntilAvailable()
            try await waitlist.tellWhoIsEligible(at: .now())
            // More often than the days change, since a replica may have started at any hour.
            try await Loop.sleep(for: .seconds(900))
        }
        house.background("cities") {
            // Made before anybody asks for it.
            _ = try await Loop.compute { CityTable.shipped.count }
            try await Loop.sleep(for: .seconds(86_400))
        }
        let review = CatalogueReview(store: profile.store, log: house.log)
        house.background("catalogue-review") {
            try await house.database.waitUntilAvailable()
            try await review.run()
            try await Loop.sleep(for: .seconds(3600))
        }
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
