import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("events of the onboarding") struct EventTests {
    private static let known: Set<OnboardingEvent> = [
        .otpVerified, .ageVerified, .profileCreated, .locationAllowed, .questionnaireCompleted, .onboardingCompleted,
    ]

    @Loop private static func event(
        _ name: OnboardingEvent, id: Identifier = .random(), at: Timestamp = .now()
    ) -> ClientEvent {
        ClientEvent(eventId: id, name: name.rawValue, at: at, properties: EventProperties(entryPoint: "cold_start"))
    }

    @Test func clientsReportOnlyEventsThatNoServiceKnows() throws {
        let told = OnboardingEvent.allCases.filter { !Self.known.contains($0) }.map(\.rawValue)
        for name in OnboardingEvent.allCases.map(\.rawValue) {
            let event: JSONValue = [
                "eventId": "00000000-0000-4000-8000-000000000001", "name": .string(name),
                "at": "2026-02-20T09:00:00Z",
            ]
            let body = CanonicalJSON.bytes(of: ["events": .array([event])])
            let problems = RecordEvents.schema.problems(in: try JSONDocument(body).root)
            #expect(problems.isEmpty == told.contains(name), "\(name)")
        }
    }

    @Test func anEventIsCountedOnceAndAStepOncePerPerson() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let (first, again) = (Self.event(.appOpened), Self.event(.questionnaireStarted))
            let told = RecordEvents(events: [first, again, Self.event(.questionnaireStarted), Self.event(.appOpened)])
            let taken = try await atOnce(16) { try await patiently { try await profile.ask(told).recorded } }
            #expect(taken.reduce(0, +) == 2)
            #expect(
                try await profile.stage.rows("SELECT name, count(*) FROM onboarding_events GROUP BY 1 ORDER BY 1")
                    == "app_opened|1\nquestionnaire_started|1")
            #expect(try await profile.refusal(of: told, signedIn: false).errors?.map(\.field) == ["anonymousId"])
        }
    }

    /// It counts once a day however often the app is opened, by a person or by a visitor who signs in later.
    @Test func anOpeningIsCountedOnceADay() async throws {
        try await ProfileStage.run { profile in
            let days = (0..<3).map { Timestamp.now() + .seconds(-86_400 * $0) }
            let openings = days.flatMap { day in (0..<5).map { _ in Self.event(.appOpened, at: day) } }
            let visitor = CallOptions(timeout: .seconds(10))
            let told = RecordEvents(anonymousId: "v", events: openings.map { Self.event(.appOpened, at: $0.at) })
            #expect(try await profile.gateway.call(told, visitor).recorded == 3)
            #expect(try await profile.ask(RecordEvents(events: Array(openings.prefix(5)))).recorded == 1)
            let event = VisitorIdentified(personID: profile.person, personSequence: 1, anonymousID: "v")
            _ = try await profile.stage.asking(as: .auth).call(event, visitor)
            #expect(try await profile.ask(RecordEvents(events: openings)).recorded == 0)
            #expect(
                try await profile.stage.rows("SELECT count(*), count(person_id) FROM onboarding_events") == "3|3")
        }
    }

    /// Records one opening for each visitor from an address, and counts the stored events.
    @Loop private static func open(
        _ visitors: [String], from address: String, _ profile: ProfileStage
    ) async throws -> Int64 {
        var recorded: Int64 = 0
        for visitor in visitors {
            let options = CallOptions(timeout: .seconds(10), clientAddress: address)
            let told = RecordEvents(anonymousId: visitor, events: [event(.appOpened), event(.phoneEntered)])
            recorded += try await profile.gateway.call(told, options).recorded
        }
        return recorded
    }

    /// A client that invents a visitor for each request cannot fill the tables.
    @Test func anAddressHasSoManyNewVisitorsInAnHour() async throws {
        try await ProfileStage.run(environment: ["PROFILE_VISITORS_PER_ADDRESS": "3"]) { profile in
            func visitors(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)\($0)" } }
            #expect(try await Self.open(visitors("a", 10), from: "198.51.100.7", profile) == 6)
            #expect(try await Self.open(visitors("b", 1), from: "198.51.100.8", profile) == 2, "another address")
            let known = RecordEvents(anonymousId: "a2", events: [Self.event(.onboardingStarted)])
            let options = CallOptions(timeout: .seconds(10), clientAddress: "198.51.100.7")
            #expect(try await profile.gateway.call(known, options).recorded == 1, "who is known goes on")
            // A household of IPv6 has as many as an address, and its site eight times as many.
            for household in 0..<10 {
                let stored = try await Self.open(
                    visitors("h\(household)-", 4), from: "2001:db8:7:\(household)::1", profile)
                #expect(stored == (household < 8 ? 6 : 0), "\(household)")
            }
            #expect(profile.stage.containers[0].ownGauges() == ["events_refused_address": 46, "events_refused_day": 0])
            _ = try await profile.stage.rows("UPDATE visitor_counts SET began = began - interval '1 hour' RETURNING 1")
            #expect(try await Self.open(visitors("c", 4), from: "198.51.100.7", profile) == 6, "an hour later")
        }
    }

    @Test func aDayHasSoManyNewVisitors() async throws {
        try await ProfileStage.run(replicas: 2, environment: ["PROFILE_VISITORS_PER_DAY": "20"]) { profile in
            var stored: Int64 = 0
            for number in 0..<30 {
                stored += try await Self.open(["v\(number)"], from: "198.51.100.\(number)", profile)
            }
            #expect(stored == 40)
            let refused = profile.stage.containers.map { $0.ownGauges()["events_refused_day"] ?? 0 }.reduce(0, +)
            #expect(refused == 20)
            let day = "SELECT sum(taken), count(*) > 1 FROM visitor_counts WHERE octet_length(key) = 1"
            #expect(try await profile.stage.rows(day) == "20|t", "counted in several rows")
            #expect(try await Self.open(["v0"], from: "198.51.100.99", profile) == 0, "known, and told the same again")
            _ = try await profile.stage.rows("UPDATE visitor_counts SET began = began - interval '2 days' RETURNING 1")
            #expect(try await Self.open(["late"], from: "198.51.100.7", profile) == 2, "on another day")
            _ = try await EventStore(database: profile.stage.containers[0].database).purge()
            #expect(try await profile.stage.rows("SELECT count(*) FROM visitor_counts") == "2")
        }
    }

    /// A client's clock may say anything.
    @Test func noEventIsInTheFutureOrLongAgo() async throws {
        try await ProfileStage.run { profile in
            let times = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].compactMap { Timestamp($0) }
            _ = try await profile.ask(RecordEvents(events: times.map { Self.event(.appOpened, at: $0) }))
            #expect(
                try await profile.stage.rows(
                    """
                    SELECT count(*) FROM onboarding_events
                    WHERE at BETWEEN now() - interval '31 days' AND clock_timestamp()
                    """) == "2")
        }
    }

    @Test func aVisitorsEventsBecomeThePersonsAfterSignIn() async throws {
        try await ProfileStage.run { profile in
            func report(_ events: [ClientEvent], as visitor: String) async throws {
                let options = CallOptions(timeout: .seconds(10))
                _ = try await profile.gateway.call(RecordEvents(anonymousId: visitor, events: events), options)
            }
            let auth = try profile.stage.asking(as: .auth)
            try await report([Self.event(.appOpened), Self.event(.phoneEntered)], as: "a")
            try await report([Self.event(.appOpened), Self.event(.onboardingStarted)], as: "z")
            _ = try await profile.ask(RecordEvents(events: [Self.event(.phoneEntered)]))
            let event = VisitorIdentified(personID: profile.person, personSequence: 1, anonymousID: "a")
            for _ in 0..<2 { _ = try await auth.call(event, CallOptions(timeout: .seconds(10))) }
            #expect(
                try await profile.stage.rows(
                    """
                    SELECT coalesce(person_id::text, anonymous_id), string_agg(name, ',' ORDER BY name)
                    FROM onboarding_events GROUP BY 1 ORDER BY 1
                    """)
                    == [profile.person.description + "|app_opened,phone_entered", "z|app_opened,onboarding_started"]
                    .sorted().joined(separator: "\n"))
        }
    }

    @Test func theServiceRecordsTheEventsItKnows() async throws {
        try await ProfileStage.run(environment: ProfileStage.requiringNoTasks) { profile in
            let names = "SELECT string_agg(name, ',' ORDER BY at, name) FROM onboarding_events"
            let options = CallOptions(timeout: .seconds(10))
            _ = try await profile.stage.asking(as: .auth).call(
                AccountCreated(
                    personID: profile.person, personSequence: 1, createdAt: Timestamp("2026-02-20T09:00:00Z")!),
                options)
            #expect(try await profile.stage.rows(names) == "otp_verified")
            try await profile.update(["dateOfBirth": "1994-02-28"])
            try await profile.update(["displayName": "Åsa", "gender": "female", "lookingFor": ["everyone"]])
            try await profile.update(["coordinates": ["latitude": 63.8, "longitude": 20.3]])
            try await profile.update(["displayName": "Eva"])
            let questionnaire = try profile.stage.asking(as: .questionnaire)
            for (sequence, key) in [(1, "skin-care"), (2, "yoked-compat"), (3, "yoked-compat")] as [(Int64, String)] {
                let opened = SessionOpened(
                    personID: profile.person, personSequence: sequence, sessionID: .ordered(), questionnaire: key,
                    version: 1, openedAt: Timestamp("2026-02-20T09:00:0\(sequence)Z")!)
                _ = try await questionnaire.call(opened, options)
            }
            let completed = SessionCompleted(
                personID: profile.person, personSequence: 4, sessionID: .ordered(), questionnaire: "yoked-compat",
                version: 1, completedAt: .now())
            _ = try await questionnaire.call(completed, options)
            #expect(
                try await profile.stage.rows(names)
                    == "otp_verified,questionnaire_started,age_verified,profile_created,location_allowed,"
                    + "onboarding_completed,questionnaire_completed")
            let began = "SELECT at = '2026-02-20T09:00:02Z' FROM onboarding_events WHERE name = 'questionnaire_started'"
            #expect(try await profile.stage.rows(began) == "t", "the first of the questionnaire that is waited for")
        }
    }

    /// The events of visual preferences and verification, and the onboarding status that follows from them.
    @Test func eventsOfLaterServicesEndTheOnboarding() async throws {
        try await ProfileStage.run(replicas: 2, environment: ProfileStage.requiringTasks) { profile in
            let (preferences, photos) = (
                try profile.stage.asking(as: .visualPreference), try profile.stage.asking(as: .verification)
            )
            let options = CallOptions(timeout: .seconds(10))
            func decided(_ sequence: Int64, _ level: String, _ outcome: String) async throws {
                let event = VerificationDecided(
                    personID: profile.person, personSequence: sequence, level: level, outcome: outcome, at: .now())
                _ = try await photos.call(event, options)
            }
            try await profile.update([
                "dateOfBirth": "1994-02-28", "displayName": "Åsa", "gender": "female", "lookingFor": ["everyone"],
                "city": "Umeå",
            ])
            let other = SessionCompleted(
                personID: profile.person, personSequence: 1, sessionID: .ordered(), questionnaire: "skin-care",
                version: 1, completedAt: .now())
            let questionnaire = try profile.stage.asking(as: .questionnaire)
            _ = try await questionnaire.call(other, options)
            #expect(try await profile.ask(ViewOnboarding()).onboardingStep == "questionnaire", "another one is no step")
            var own = other
            (own.personSequence, own.questionnaire) = (2, "yoked-compat")
            _ = try await questionnaire.call(own, options)
            #expect(try await profile.ask(ViewOnboarding()).onboardingStatus == "vps_pending")

            let deferred = VisualPreferencesDeferred(personID: profile.person, personSequence: 1, at: .now())
            for _ in 0..<2 { _ = try await preferences.call(deferred, options) }
            let putOff = try await profile.ask(ViewOnboarding())
            #expect(putOff.onboardingStatus == "verification_pending" && putOff.resumeAt == "verification")
            let step = putOff.steps.first { $0.key == "visual_preferences" }
            #expect(step?.state == "pending" && step?.askAgainAt == deferred.at + .seconds(604_800))

            try await decided(1, "photo", "in_review")
            var needs = try await profile.ask(GetRequirements()).match
            #expect(needs.pendingVerification == ["verification"] && needs.currentlyDue.isEmpty)
            #expect(needs.disabledReason == "pending_verification")
            try await decided(2, "photo", "failed")
            needs = try await profile.ask(GetRequirements()).match
            #expect(
                needs.currentlyDue == ["verification"] && needs.errors == [.init(field: "verification", code: "failed")]
            )
            try await decided(3, "photo", "verified")
            let provisional = try await profile.ask(ViewOnboarding())
            #expect(provisional.onboardingStatus == "complete" && provisional.matchingMode == "provisional")
            #expect(provisional.resumeAt == nil)
            let requirements = try await profile.ask(GetRequirements())
            #expect(requirements.match.disabledReason == nil)
            #expect(requirements.fullConfidence?.currentlyDue == ["visual_preferences"])
            #expect(try await profile.ask(GetPerson(personId: profile.person)).badges == ["photo_verified"])

            let ready = VisualPreferencesReady(personID: profile.person, personSequence: 2, at: .now())
            _ = try await preferences.call(ready, options)
            // Events with an unknown level or outcome change nothing.
            try await decided(4, "voice", "verified")
            try await decided(5, "photo", "superb")
            try await decided(6, "id", "verified")
            let full = try await profile.ask(ViewOnboarding())
            #expect(full.matchingMode == "full-confidence")
            #expect(full.steps.allSatisfy { $0.state == "done" && $0.askAgainAt == nil })
            let seen = try await profile.ask(GetPerson(personId: profile.person))
            #expect(seen.badges == ["photo_verified", "id_verified"])
            let confidence = try #require(try await profile.ask(GetRequirements()).fullConfidence)
            #expect(confidence.disabledReason == nil)
            #expect(
                try await profile.stage.rows("SELECT name, count(*) FROM onboarding_events GROUP BY 1 ORDER BY 1")
                    == [
                        "age_verified", "onboarding_completed", "profile_created", "questionnaire_completed",
                        "verification_completed", "vps_deferred", "vps_ready",
                    ].map { $0 + "|1" }.joined(separator: "\n"))
            try await decided(7, "id", "declined")
            #expect(try await profile.ask(GetPerson(personId: profile.person)).badges.count == 2, "it stays verified")
            // A photo that is not theirs after all.
            try await decided(8, "photo", "failed")
            #expect(try await profile.ask(ViewOnboarding()).onboardingStatus == "verification_pending")
        }
    }

    @Test func aPersonWhoDeclinesVerificationContinuesWithoutMatching() async throws {
        let variables = ["PROFILE_REQUIRE_VERIFICATION": "true", "MATCH_REQUIRE_VISUAL_SIGNAL": "false"]
        try await ProfileStage.run(environment: variables) { profile in
            let photos = try profile.stage.asking(as: .verification)
            func decided(_ sequence: Int64, _ outcome: String) async throws -> OnboardingView {
                let event = VerificationDecided(
                    personID: profile.person, personSequence: sequence, level: "photo", outcome: outcome, at: .now())
                _ = try await photos.call(event, CallOptions(timeout: .seconds(10)))
                return try await profile.ask(ViewOnboarding())
            }
            try await profile.update([
                "dateOfBirth": "1994-02-28", "displayName": "Åsa", "gender": "female", "lookingFor": ["everyone"],
            ])
            let done = SessionCompleted(
                personID: profile.person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat",
                version: 1, completedAt: .now())
            _ = try await profile.stage.asking(as: .questionnaire).call(done, CallOptions(timeout: .seconds(10)))
            let declined = try await decided(1, "declined")
            #expect(declined.onboardingStatus == "blocked" && declined.resumeAt == nil)
            #expect(try await profile.ask(GetRequirements()).match.disabledReason == "verification_declined")
            #expect(try await decided(2, "in_review").onboardingStatus == "verification_pending")
            #expect(try await decided(3, "verified").onboardingStatus == "complete")
            #expect(try await decided(4, "declined").onboardingStatus == "complete", "the photo stays verified")
        }
    }

    /// The first answer makes the profile where the plan requires none.
    @Test func aProfileIsCreatedInAPlanWithoutRequiredFields() {
        let now = Timestamp.now()
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        for key in ["skin-care", "eko-family"] {
            let plan = Plan.shipped(key)
            record.fields = [:]
            #expect(OnboardingEvent.reached(by: record, plan, today: now.date) == [])
            record.fields = ["displayName": .answered("Åsa")]
            #expect(OnboardingEvent.reached(by: record, plan, today: now.date) == [.profileCreated])
        }
    }

    @Test func noEventOfADeletedPersonIsRecorded() async throws {
        try await ProfileStage.run { profile in
            _ = try await profile.ask(RecordEvents(events: [Self.event(.appOpened)]))
            let auth = try profile.stage.asking(as: .auth)
            let options = CallOptions(timeout: .seconds(10))
            _ = try await auth.call(
                AccountDeleted(personID: profile.person, personSequence: 1, deletedAt: .now()), options)
            #expect(try await profile.ask(RecordEvents(events: [Self.event(.appOpened)])).recorded == 0)
            #expect(try await profile.stage.rows("SELECT count(*) FROM onboarding_events") == "0")
        }
    }

    /// A change at the same time as the deletion either comes first and is deleted with the rest, or comes later and is
    /// refused.
    @Test func aChangeDuringADeletionLeavesNothing() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let auth = try profile.stage.asking(as: .auth)
            let options = CallOptions(timeout: .seconds(10))
            for _ in 0..<20 {
                let person = Identifier.random()
                let actor = Actor(userID: person, sessionID: .ordered(), role: .user)
                @Loop @Sendable func update(_ fields: [String: JSONValue]) async throws {
                    _ = try await profile.gateway.call(
                        UpdateMe(fields: fields), CallOptions(timeout: .seconds(10), actor: actor))
                }
                try await update(["displayName": "Eva"])
                let changes = (0..<4).map { number in
                    Loop.spawn {
                        try? await update(["dateOfBirth": "1994-02-28", "bio": .string("No. \(number)")])
                    }
                }
                let deleted = AccountDeleted(personID: person, personSequence: 1, deletedAt: .now())
                _ = try await patiently { try await auth.call(deleted, options) }
                for change in changes { _ = try await change.value }
            }
            let left = """
                SELECT (SELECT count(*) FROM profiles) + (SELECT count(*) FROM profile_field_history)
                    + (SELECT count(*) FROM onboarding_events) + (SELECT count(*) FROM pseudonyms)
                """
            #expect(try await profile.stage.rows(left) == "0")
        }
    }

    @Test func eventsOfVisitorsAreForgottenAfterNinetyDays() async throws {
        try await ProfileStage.run { profile in
            _ = try await profile.stage.rows(
                """
                INSERT INTO onboarding_events (event_id, person_id, anonymous_id, name, at, received_at)
                SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN gen_random_uuid() END,
                    CASE WHEN n % 2 = 1 THEN 'v' || n END, 'app_opened', now(), now() - n * interval '1 day'
                FROM generate_series(1, 2500) AS n
                """)
            let events = EventStore(database: profile.stage.containers[0].database)
            // The service purges too. Of two at once, one may find nothing left of its page.
            let old = """
                SELECT count(*) FROM onboarding_events
                WHERE anonymous_id IS NOT NULL AND received_at < now() - interval '90 days'
                """
            while try await profile.stage.rows(old) != "0" { _ = try await events.purge() }
            #expect(
                try await profile.stage.rows(
                    """
                    SELECT count(person_id), count(anonymous_id), max(extract(day FROM now() - received_at))
                        FILTER (WHERE anonymous_id IS NOT NULL) FROM onboarding_events
                    """) == "1250|45|89")
        }
    }

    /// A visitor who opened the app many times before signing in counts from the first day.
    @Test func aLateSignInKeepsTheFirstEventOfEachKind() async throws {
        try await ProfileStage.run { profile in
            _ = try await profile.stage.rows(
                """
                INSERT INTO onboarding_events (event_id, anonymous_id, name, at, received_at)
                SELECT gen_random_uuid(), 'v', 'app_opened', at, at
                FROM generate_series(now() - interval '120 days', now(), interval '5 days') AS at
                UNION ALL SELECT gen_random_uuid(), 'v', 'onboarding_started', at, at
                FROM (VALUES (now() - interval '119 days')) AS t (at)
                """)
            let events = EventStore(database: profile.stage.containers[0].database)
            while try await events.purge() {}
            // The first, and those of the last 90 days.
            #expect(try await profile.stage.rows("SELECT count(*) FROM onboarding_events") == "20")
            let event = VisitorIdentified(personID: profile.person, personSequence: 1, anonymousID: "v")
            _ = try await profile.stage.asking(as: .auth).call(event, CallOptions(timeout: .seconds(10)))
            #expect(
                try await profile.stage.rows(
                    """
                    SELECT person_id IS NOT NULL, extract(day FROM now() - app_opened),
                        extract(day FROM now() - onboarding_started), began = app_opened FROM journeys
                    """) == "t|120|119|t")
        }
    }

    /// Each person and visitor with an event has one journey, with the first time of each event.
    private static let journeysThatAreWrong = """
        WITH told AS (
            SELECT person_id, anonymous_id, min(at) AS began, \(OnboardingEvent.allCases.map {
                "min(at) FILTER (WHERE name = '\($0.rawValue)') AS \($0.rawValue)"
            }.joined(separator: ", ")) FROM onboarding_events GROUP BY 1, 2)
        SELECT count(*) FROM (
            (TABLE told EXCEPT TABLE journeys) UNION ALL (TABLE journeys EXCEPT TABLE told)) AS wrong
        """

    @Test func journeysFollowFromTheEvents() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let auth = try profile.stage.asking(as: .auth)
            let options = CallOptions(timeout: .seconds(10))
            let names = OnboardingEvent.allCases.filter { !Self.known.contains($0) }
            for visitor in 0..<5 {
                let events = names.flatMap { name in
                    (0..<3).map { Self.event(name, at: .now() + .seconds(-86_400 * ($0 + visitor))) }
                }
                _ = try await atOnce(4) {
                    let part = RecordEvents(anonymousId: "v\(visitor)", events: Array(events.shuffled().prefix(12)))
                    _ = try await patiently { try await profile.gateway.call(part, options) }
                }
            }
            _ = try await profile.ask(
                RecordEvents(events: [Self.event(.appOpened), Self.event(.visualPreferencesDeferred)]))
            #expect(try await profile.stage.rows("SELECT count(*) FROM journeys") == "6")
            #expect(try await profile.stage.rows(Self.journeysThatAreWrong) == "0", "told")

            for (sequence, visitor) in [(1, "v0"), (2, "v1")] as [(Int64, String)] {
                _ = try await auth.call(
                    VisitorIdentified(personID: profile.person, personSequence: sequence, anonymousID: visitor), options
                )
            }
            #expect(try await profile.stage.rows("SELECT count(*) FROM journeys") == "4")
            #expect(try await profile.stage.rows(Self.journeysThatAreWrong) == "0", "identified")

            _ = try await profile.stage.rows(
                "UPDATE onboarding_events SET received_at = now() - interval '91 days' WHERE anonymous_id = 'v2' RETURNING 1"
            )
            _ = try await EventStore(database: profile.stage.containers[0].database).purge()
            #expect(try await profile.stage.rows("SELECT count(*) FROM journeys WHERE anonymous_id = 'v2'") == "0")
            _ = try await auth.call(
                AccountDeleted(personID: profile.person, personSequence: 3, deletedAt: .now()), options)
            #expect(
                try await profile.stage.rows("SELECT string_agg(anonymous_id, ' ' ORDER BY 1) FROM journeys") == "v3 v4"
            )
            #expect(try await profile.stage.rows(Self.journeysThatAreWrong) == "0", "forgotten")
        }
    }

    @Test func journeysFromBeforeAreCounted() async throws {
        let scratch = try await ScratchDatabase.empty(schema: "profile")
        func migrate(_ count: Int) async throws {
            _ = try await Migrator.run(
                owner: scratch.owner, schema: "profile", runtimeRole: "scratch_runtime",
                migrations: Array(ProfileMigrations.all.prefix(count)))
        }
        let before = try #require(ProfileMigrations.all.firstIndex { $0.name == "m0012_journeys" })
        func report(_ first: Int, _ last: Int) async throws {
            try await scratch.query(
                """
                INSERT INTO onboarding_events (event_id, person_id, name, at)
                SELECT gen_random_uuid(), md5((n / 2)::text)::uuid, CASE n % 2 WHEN 0 THEN 'vps_ready' ELSE 'otp_verified' END,
                    timestamptz '2026-02-10T09:00:00Z' + n * interval '1 hour'
                FROM generate_series(\(first), \(last)) AS n
                """)
        }
        try await migrate(before)
        try await report(1, 9)
        try await migrate(before + 1)
        // People with earlier events.
        try await report(10, 14)
        try await migrate(before + 2)
        #expect(try await scratch.query("SELECT count(*) FROM journeys") == "8")
        #expect(try await scratch.query(Self.journeysThatAreWrong) == "0")
    }

    /// There may be ten million events. A statement about one person must not read those of others, and the funnel must
    /// use its index.
    @Test(arguments: [
        ("identify", "uuid, text", "gen_random_uuid(), 'v'"), ("forget", "text", "'v'"),
        ("erase", "uuid", "gen_random_uuid()"),
        ("funnel", "date, date", "'2026-02-01', '2026-02-02'"),
    ])
    func eventQueriesUseAnIndexAndReadNoOtherEvents(_ name: String, _ types: String, _ values: String) async throws {
        let statements = [
            "identify": EventStore.identify, "forget": EventStore.forget, "erase": EventStore.erase,
            "funnel": EventStore.funnel,
        ]
        let sql = try #require(statements[name]).sql
        try await ProfileStage.run { profile in
            let plan = try await profile.stage.rows(
                """
                INSERT INTO onboarding_events (event_id, person_id, anonymous_id, name, at)
                SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN gen_random_uuid() END,
                    CASE WHEN n % 2 = 1 THEN 'v' || n END, 'app_opened', now() FROM generate_series(1, 3000) AS n;
                ANALYZE onboarding_events, journeys;
                SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
                PREPARE asked (\(types)) AS \(sql);
                EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE asked (\(values))
                """)
            #expect(
                plan.contains("Index Scan") && !plan.contains("Seq Scan on") && !plan.contains("Removed by Filter"),
                "\(plan)")
            #expect(!plan.contains("onboarding_events_pkey") && !plan.contains("onboarding_events_unknown"), "\(plan)")
        }
    }

    /// Each replica looks for old rows each hour, among all that are not old.
    @Test(arguments: [
        (
            "onboarding_events", EventStore.purge,
            """
            INSERT INTO onboarding_events (event_id, anonymous_id, name, at)
            SELECT gen_random_uuid(), 'v' || n, 'app_opened', now() FROM generate_series(1, 3000) AS n
            """
        ),
        (
            "visitor_counts", EventStore.purgeCounts,
            """
            INSERT INTO visitor_counts (key, began, taken)
            SELECT sha256(n::text::bytea), now(), 1 FROM generate_series(1, 3000) AS n
            """
        ),
        (
            "profile_field_history", ProfileStore.purgeHistory,
            """
            INSERT INTO profile_field_history (person_id, key, state)
            SELECT gen_random_uuid(), 'bio', 'cleared' FROM generate_series(1, 3000)
            """
        ),
    ])
    func oldRowsAreFoundWithoutReadingTheRest(_ table: String, _ statement: Statement, _ rows: String) async throws {
        let sql = statement.sql.replacing("$1", with: "1000")
        try await ProfileStage.run { profile in
            let read = try await profile.stage.rowsRead(of: table, by: sql, after: rows)
            #expect(try #require(read) < 100)
        }
    }

    /// Another server with the same tables and other rows stands in for the standby, and shows who counts there.
    @Test func onlyFunnelsAreCountedOnTheStandby() async throws {
        let standby = try await Loop.offload { try ScratchCluster("-statistics") }
        defer { standby.destroy() }
        try await ProfileStage.run(environment: ["PROFILE_STATISTICS_HOST": standby.folder]) { profile in
            func counted() async throws -> [Int64?] {
                [
                    try await profile.ask(GetFunnel()).steps.first?.people,
                    try await profile.ask(GetFunnel(plan: "yoked")).total?.people,
                ]
            }
            // The service is there before the standby is.
            try await profile.update(["displayName": "Åsa"])
            let refusal = await #expect(throws: BusError.self) { try await profile.ask(GetFunnel()) }
            #expect(refusal?.code == "service_unavailable")
            let lines = profile.stage.log.text.split(separator: "\n").filter { $0.contains("database_lost") }
            #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(#""of":"statistics""#) })

            let (name, definition) = (profile.stage.scratch.name, ProfileServiceDefinition.definition)
            _ = try await Loop.offload {
                try standby.query("postgres", "ALTER ROLE scratch_runtime SET default_transaction_read_only = on")
                try standby.query("postgres", "CREATE DATABASE \(name) OWNER scratch_owner")
            }
            _ = try await Migrator.run(
                owner: "host=\(standby.folder) dbname=\(name) user=scratch_owner", schema: "profile",
                runtimeRole: "scratch_runtime", migrations: definition.migrations)
            #expect(try await eventually { (try? await counted()) == [0, 0] })
            let version = try await profile.stage.rows("SELECT version FROM person_plans")
            _ = try await Loop.offload {
                try standby.query(
                    name,
                    """
                    SET search_path = profile;
                    INSERT INTO onboarding_events (event_id, anonymous_id, name, at)
                        VALUES (gen_random_uuid(), 'visitor', 'app_opened', now());
                    -- Without their keys: the plan is not published there.
                    SET session_replication_role = replica;
                    INSERT INTO person_plans (person_id, app, plan, version)
                        VALUES (gen_random_uuid(), '', 'yoked', \(version))
                    """)
            }
            #expect(try await counted() == [1, 1])
            #expect(try await profile.ask(GetMe()).profile["displayName"] == "Åsa")
        }
    }

    /// Against a count by hand over people with random events in random order.
    @Test func theFunnelAgreesWithACountByHand() async throws {
        try await ProfileStage.run { profile in
            var random = SystemRandomNumberGenerator()
            let base = Timestamp("2026-02-10T00:00:00Z")!
            var rows: [String] = []
            var people: [[OnboardingEvent: Timestamp]] = []
            for person in 0..<300 {
                var times: [OnboardingEvent: Timestamp] = [:]
                for name in OnboardingEvent.allCases where Bool.random(using: &random) {
                    let at = base + .seconds(Int.random(in: -172_800...172_800, using: &random))
                    times[name] = at
                    let subject = person % 3 == 0 ? "NULL, 'v\(person)'" : "md5('\(person)')::uuid, NULL"
                    rows.append("(gen_random_uuid(), \(subject), '\(name.rawValue)', '\(at)')")
                }
                people.append(times)
            }
            _ = try await profile.stage.rows(
                "INSERT INTO onboarding_events (event_id, person_id, anonymous_id, name, at) VALUES "
                    + rows.joined(separator: ", "))
            let days = (CivilDate("2026-02-08")!, CivilDate("2026-02-09")!)
            let funnel = try await profile.ask(GetFunnel(from: days.0, to: days.1))

            let cohort = people.filter { person in
                person.values.min().map { (days.0...days.1).contains($0.date) } ?? false
            }
            func time(_ step: FunnelStep, _ person: [OnboardingEvent: Timestamp]) -> Timestamp? {
                step.events.compactMap { person[$0] }.min()
            }
            for (place, step) in FunnelStep.allCases.enumerated() {
                let reached = cohort.filter { person in
                    FunnelStep.allCases[place...].contains { time($0, person) != nil }
                }
                #expect(funnel.steps[place].key == step.rawValue)
                #expect(funnel.steps[place].people == Int64(reached.count))
                guard place > 0 else { continue }
                let taken = cohort.compactMap { person -> Double? in
                    guard let before = time(FunnelStep.allCases[place - 1], person), let here = time(step, person),
                        here >= before
                    else { return nil }
                    return Double((here - before).components.seconds)
                }.sorted()
                let middle = taken.count / 2
                let median =
                    taken.isEmpty ? nil : taken.count % 2 == 1 ? taken[middle] : (taken[middle - 1] + taken[middle]) / 2
                #expect(funnel.steps[place].medianSeconds == median, "\(step)")
            }
            for event in funnel.events {
                #expect(event.people == Int64(cohort.count { $0[OnboardingEvent(rawValue: event.name)!] != nil }))
            }
            #expect(cohort.count > 50)
        }
    }

    @Test(arguments: [(1000, 812, 18.8), (3, 3, 0), (3, 0, 100), (7, 5, 28.6)] as [(Int64, Int64, Double)])
    func theDropOffIsAShareOfThePreviousStep(before: Int64, here: Int64, share: Double) {
        #expect(FunnelStep.dropOff(from: before, to: here) == share)
        #expect(FunnelStep.dropOff(from: 0, to: 0) == nil)
    }
}
