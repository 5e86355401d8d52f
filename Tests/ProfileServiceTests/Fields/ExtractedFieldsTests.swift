import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("what a questionnaire adds to a profile") struct ExtractedFieldsTests {
    private static let today = CivilDate("2026-02-20")!

    private static func taken(
        _ extracts: [(String, JSONValue)], by fields: FieldStates = [:], born: String? = nil
    ) -> ExtractedFields {
        var record = ProfileRecord(personID: .random(), createdAt: .now(), updatedAt: .now())
        (record.fields, record.dateOfBirth) = (fields, born.flatMap { CivilDate($0) })
        return ExtractedFields(
            extracts.map { ProfileExtract(field: $0, value: $1) }, to: record, .shipped, today: today)
    }

    @Test func anExtractNeverReplacesThePersonsOwnAnswer() {
        let taken = Self.taken(
            [
                ("bio", "From the questionnaire"), ("religion", "sikh"), ("gender", "female"), ("city", "Lund"),
                ("dateOfBirth", "1990-01-01"),
            ],
            by: [
                "bio": .answered("My own"), "religion": .declined, "gender": .skipped(times: 1, last: .now()),
                "city": .stale("Oz"),
            ], born: "1980-01-01")
        #expect(taken.change.states == ["gender": .answered("female"), "city": .answered("Lund")])
        #expect(taken.change.dateOfBirth == nil && !taken.change.isDateOfBirthLocked && taken.leftOut == [])
    }

    @Test func misfitExtractsAreLeftOutAndTheRestTaken() {
        let taken = Self.taken([
            ("shoeSize", 43), ("height", ["feet": 5, "inches": 7]), ("timeZone", "Europe/Stockholm"),
            ("heightInches", 400), ("country", "Sweden"), ("dateOfBirth", "2190-01-01"), ("firstName", "Zoë"),
        ])
        // As in a change by the person: without a display name, the first name is used.
        #expect(taken.change.states == ["firstName": .answered("Zoë"), "displayName": .answered("Zoë")])
        #expect(taken.change.dateOfBirth == nil && taken.change.timeZone == nil && taken.change.problems.isEmpty)
        #expect(
            taken.leftOut.map { "\($0.field) \($0.code)" } == [
                "shoeSize unknown_member", "height unknown_member", "timeZone unknown_member", "country not_allowed",
                "dateOfBirth too_large", "heightInches too_large",
            ])
    }
}

/// Events of completed sessions, with a questionnaire service that answers, or does not.
@Suite("taking in extracts") @Loop struct ExtractEventTests {
    @Loop private final class Questionnaire: RequestHandler {
        var refusals: Int
        var extracts: [ProfileExtract]
        private(set) var asked: [GetExtracts] = []

        init(refusals: Int = 0, _ extracts: [(String, JSONValue)]) {
            self.refusals = refusals
            self.extracts = extracts.map { ProfileExtract(field: $0, value: $1) }
        }

        /// Stands in for questionnaire; returns when profile has found it.
        func begin(for profile: ProfileStage) async throws -> Bus {
            let (refusals, extracts) = (refusals, extracts)
            (self.refusals, self.extracts) = (0, [])
            try profile.stage.answering(as: .questionnaire, self)
            let voice = try profile.stage.asking(as: .questionnaire)
            let isFound = try await eventually {
                let event = ExtractEventTests.event(of: .random())
                return (try? await voice.call(event, CallOptions(timeout: .seconds(2)))) != nil
            }
            #expect(isFound)
            (self.refusals, self.extracts, asked) = (refusals, extracts, [])
            return voice
        }

        func handle(_ request: GetExtracts, context: RequestContext) async throws -> ProfileExtracts {
            asked.append(request)
            refusals -= 1
            guard refusals < 0 else { throw BusError(.internalError, "Not now.") }
            return ProfileExtracts(extracts: extracts)
        }
    }

    fileprivate nonisolated static func event(
        of person: Identifier, sequence: Int64 = 1, extracts: Bool? = true, questionnaire: String = "yoked-compat"
    ) -> SessionCompleted {
        SessionCompleted(
            personID: person, personSequence: sequence, sessionID: .ordered(), questionnaire: questionnaire,
            version: 1, completedAt: .now(), extracts: extracts)
    }

    private static let history = """
        SELECT string_agg(key || ' ' || state, ',' ORDER BY id) FROM profile_field_history WHERE key <> 'displayName'
        """

    @Test func aRepeatedExtractEventIsAppliedOnce() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let questionnaire = Questionnaire([("bio", "Te är livet"), ("dateOfBirth", "1990-02-28")])
            let voice = try await questionnaire.begin(for: profile)
            try await profile.update(["displayName": "Zoë"])
            let event = Self.event(of: profile.person)
            _ = try await atOnce(8) {
                try await patiently { _ = try await voice.call(event, CallOptions(timeout: .seconds(20))) }
            }
            let me = try await profile.ask(GetMe())
            #expect(me.profile["bio"] == "Te är livet" && me.profile["dateOfBirth"] == "1990-02-28")
            #expect(try await profile.stage.rows(Self.history) == "bio answered")
            #expect(
                try await profile.stage.rows("SELECT count(*) FROM audit WHERE act = 'date_of_birth_set'") == "1")
            #expect(questionnaire.asked.allSatisfy { $0.personID == profile.person && $0.sessionID == event.sessionID })
            // What is amended later does not replace what stands there; what was cleared is free again.
            questionnaire.extracts = [ProfileExtract(field: "bio", value: "Fika är livet")]
            let amended = SessionAmended(
                personID: profile.person, personSequence: 2, sessionID: event.sessionID, questionnaire: "other",
                version: 1, completedAt: .now(), amendedAt: .now(), scores: [:], extracts: true)
            _ = try await voice.call(amended, CallOptions(timeout: .seconds(20)))
            #expect(try await profile.ask(GetMe()).profile["bio"] == "Te är livet")
            try await profile.update(["bio": nil])
            var third = amended
            third.personSequence = 3
            _ = try await voice.call(third, CallOptions(timeout: .seconds(20)))
            #expect(try await profile.ask(GetMe()).profile["bio"] == "Fika är livet")
        }
    }

    @Test func aClearedFieldStaysClearWhenTheQuestionnaireSessionCompletes() async throws {
        try await ProfileStage.run { profile in
            let voice = try await Questionnaire([("bio", "Te är livet"), ("religion", "sikh")]).begin(for: profile)
            try await profile.update(["bio": "Te är livet", "religion": "sikh"])
            try await profile.update(["bio": nil, "religion": nil])
            try await profile.update(["religion": "hindu"])
            try await profile.stage.rows("UPDATE profiles SET fields = fields - 'religion'")
            _ = try await voice.call(Self.event(of: profile.person), CallOptions(timeout: .seconds(20)))
            let me = try await profile.ask(GetMe())
            #expect(me.profile["bio"] == nil, "the person cleared it")
            #expect(me.profile["religion"] == "sikh", "the person said it again since it was cleared")
        }
    }

    @Test func theQuestionnairesPlanDecidesCompleteness() async throws {
        try await ProfileStage.run { profile in
            let voice = try await Questionnaire([("bio", "Te är livet")]).begin(for: profile)
            let actor = Actor(userID: profile.person, sessionID: .ordered(), role: .user, app: "eko-family")
            let options = CallOptions(timeout: .seconds(10), actor: actor)
            _ = try await profile.ask(GetMe())
            _ = try await profile.gateway.call(GetMe(), options)
            let event = Self.event(of: profile.person, questionnaire: "eko-family")
            _ = try await voice.call(event, CallOptions(timeout: .seconds(20)))
            let completion = try await profile.gateway.call(GetCompletion(), options)
            #expect(completion.isComplete && completion.completedAt != nil)
        }
    }

    @Test func anEventTakesNothingIfTheQuestionnaireIsAway() async throws {
        try await ProfileStage.run { profile in
            let questionnaire = Questionnaire(refusals: 1, [("bio", "Te är livet")])
            let voice = try await questionnaire.begin(for: profile)
            let event = Self.event(of: profile.person)
            await #expect(throws: BusError.self) { try await voice.call(event, CallOptions(timeout: .seconds(20))) }
            let taken = "SELECT count(*) FROM event_positions WHERE person_id = '\(profile.person)'"
            #expect(try await profile.stage.rows(taken) == "0", "nothing of it was taken")
            _ = try await voice.call(event, CallOptions(timeout: .seconds(20)))
            #expect(try await profile.ask(GetMe()).profile["bio"] == "Te är livet")
            // Where a definition extracts nothing, nobody is asked.
            _ = try await voice.call(
                Self.event(of: profile.person, sequence: 2, extracts: nil), CallOptions(timeout: .seconds(20)))
            #expect(questionnaire.asked.count == 2)
        }
    }

    @Test func aMinorsExtractFollowsThePolicyAndNoValueIsLogged() async throws {
        try await ProfileStage.run(environment: ["PROFILE_AGE_POLICY": "reject"]) { profile in
            let born = "\(Timestamp.now().date.year - 16)-02-28"
            let questionnaire = Questionnaire([
                ("dateOfBirth", .string(born)), ("bio", "Te är livet"), ("religion", "secretfaith"),
            ])
            let voice = try await questionnaire.begin(for: profile)
            _ = try await voice.call(Self.event(of: profile.person), CallOptions(timeout: .seconds(20)))
            let me = try await profile.ask(GetMe())
            #expect(me.profile["dateOfBirth"] == nil && me.profile["bio"] == "Te är livet")
            let lines = profile.stage.log.text.split(separator: "\n").filter { $0.contains("extract_left_out") }
            #expect(lines.count == 2 && lines.contains { $0.contains("underage") })
            let text = profile.stage.log.text
            #expect(!text.contains(born) && !text.contains("secretfaith") && !text.contains(profile.person.description))
        }
    }

    // MARK: Answers as they are saved

    private nonisolated static func changed(
        _ fields: [String], of person: Identifier, sequence: Int64, at time: Timestamp = .now()
    ) -> ProfileAnswersChanged {
        ProfileAnswersChanged(
            personID: person, personSequence: sequence, sessionID: .ordered(), questionnaire: "realsingles-profile",
            fields: fields, judgedAt: time)
    }

    @Test func theNewestAnswerCountsFromEitherSource() async throws {
        try await ProfileStage.run { profile in
            let questionnaire = Questionnaire([])
            let voice = try await questionnaire.begin(for: profile)
            @Loop func deliver(_ value: JSONValue, _ sequence: Int64, _ time: Timestamp) async throws -> JSONValue? {
                questionnaire.extracts = [ProfileExtract(field: "bio", value: value)]
                let event = Self.changed(["bio"], of: profile.person, sequence: sequence, at: time)
                _ = try await voice.call(event, CallOptions(timeout: .seconds(20)))
                return try await profile.ask(GetMe()).profile["bio"]
            }
            try await profile.update(["bio": "One"])
            let start = Timestamp.now()
            // Both were judged before the first one arrived.
            #expect(try await deliver("Two", 1, start) == "Two")
            #expect(try await deliver("Three", 2, start + .microseconds(1)) == "Three")
            // It was judged before "Three", and saved after it.
            #expect(try await deliver("Later", 3, start) == "Later")
            try await profile.update(["bio": "Four"])
            #expect(try await deliver("Five", 4, start + .microseconds(2)) == "Four", "it arrived late")
            #expect(try await deliver("Six", 5, .now()) == "Six")
            #expect(try await deliver("Seven", 4, .now()) == "Six", "an older event")
            #expect(try await deliver("prefer_not_to_say", 6, .now()) == "Six", "a bio is not declined")
            #expect(try await deliver(.null, 7, .now()) == nil, "withdrawn")
        }
    }

    /// The later one was judged first. It is the one correction.
    @Test(arguments: [false, true]) func aLaterDateOfBirthCountsUnlessTheProfileHasOne(isInProfile: Bool)
        async throws
    {
        try await ProfileStage.run { profile in
            let questionnaire = Questionnaire([])
            let voice = try await questionnaire.begin(for: profile)
            let start = Timestamp.now()
            if isInProfile { try await profile.update(["dateOfBirth": "1990-02-28"]) }
            for (sequence, date) in ["1991-02-28", "1992-02-28"].enumerated() {
                questionnaire.extracts = [ProfileExtract(field: "dateOfBirth", value: .string(date))]
                let event = Self.changed(
                    ["dateOfBirth"], of: profile.person, sequence: Int64(sequence + 1),
                    at: start + .microseconds(-sequence))
                _ = try await voice.call(event, CallOptions(timeout: .seconds(20)))
            }
            let born = try await profile.ask(GetMe()).profile["dateOfBirth"]
            #expect(born == (isInProfile ? "1990-02-28" : "1992-02-28"))
        }
    }

    @Test func aDateOfBirthIsCorrectedOnceAndLockedThen() async throws {
        try await ProfileStage.run { profile in
            let questionnaire = Questionnaire([])
            let voice = try await questionnaire.begin(for: profile)
            @Loop func judge(_ value: JSONValue) async throws -> String? {
                let answers = [ProfileExtract(field: "dateOfBirth", value: value)]
                return try await voice.call(
                    JudgeAnswers(personID: profile.person, answers: answers), CallOptions(timeout: .seconds(20))
                ).refused.first?.code
            }
            for (sequence, date) in ["1990-02-28", "1991-02-28", "1992-02-28"].enumerated() {
                #expect(try await judge(.string(date)) == (sequence < 2 ? nil : "date_of_birth_locked"))
                questionnaire.extracts = [ProfileExtract(field: "dateOfBirth", value: .string(date))]
                let event = Self.changed(["dateOfBirth"], of: profile.person, sequence: Int64(sequence + 1))
                _ = try await voice.call(event, CallOptions(timeout: .seconds(20)))
            }
            #expect(try await judge(.null) == "date_of_birth_locked")
            #expect(try await profile.ask(GetMe()).profile["dateOfBirth"] == "1991-02-28")
            let acts = "SELECT string_agg(act, ',' ORDER BY sequence) FROM audit WHERE act LIKE 'date%'"
            #expect(try await profile.stage.rows(acts) == "date_of_birth_set,date_of_birth_corrected")
            #expect(profile.stage.log.text.contains("extract_left_out"))
        }
    }

    /// The default plan refuses people under 18. The person does not follow it.
    @Test func withoutAnAppThePlansOfThePersonCount() async throws {
        try await ProfileStage.run(environment: ["PROFILE_AGE_POLICY": "reject"]) { profile in
            let born = JSONValue.string("\(Timestamp.now().date.year - 16)-02-28")
            let questionnaire = Questionnaire([("dateOfBirth", born)])
            let voice = try await questionnaire.begin(for: profile)
            @Loop func visits(_ app: String?, as person: Identifier) async throws -> Me {
                let actor = Actor(userID: person, sessionID: .ordered(), role: .user, app: app)
                return try await profile.gateway.call(GetMe(), CallOptions(timeout: .seconds(10), actor: actor))
            }
            @Loop func refusals(appUnknown: Bool?, of person: Identifier) async throws -> [String] {
                let request = JudgeAnswers(
                    personID: person, appUnknown: appUnknown,
                    answers: [ProfileExtract(field: "dateOfBirth", value: born)])
                return try await voice.call(request, CallOptions(timeout: .seconds(20))).refused.map(\.code)
            }
            _ = try await visits("eko-family", as: profile.person)
            #expect(try await refusals(appUnknown: nil, of: profile.person) == ["underage"], "in the default app")
            #expect(try await refusals(appUnknown: true, of: profile.person) == [])
            var event = Self.changed(["dateOfBirth"], of: profile.person, sequence: 1)
            event.appUnknown = true
            _ = try await voice.call(event, CallOptions(timeout: .seconds(20)))
            #expect(try await profile.ask(GetMe()).profile["dateOfBirth"] == born)
            // A person who also follows the default plan is too young there.
            let other = Identifier.random()
            for app in ["eko-family", nil] { _ = try await visits(app, as: other) }
            #expect(try await refusals(appUnknown: true, of: other) == ["underage"])
        }
    }

    @Test func eachAnswerIsJudgedAsAPatchOfItsField() async throws {
        try await ProfileStage.run(environment: ["PROFILE_AGE_POLICY": "reject"]) { profile in
            let voice = try await Questionnaire([]).begin(for: profile)
            let born = "\(Timestamp.now().date.year - 16)-02-28"
            let answers: [(String, JSONValue)] = [
                ("photo", "https://cdn.example/a.jpg"), ("bio", "Te är livet"), ("dateOfBirth", .string(born)),
                ("shoeSize", 43), ("lookingFor", "prefer_not_to_say"), ("country", "Sweden"), ("height", 3),
            ]
            let judged = try await voice.call(
                JudgeAnswers(
                    personID: profile.person, app: "no-such-app",
                    answers: answers.map { ProfileExtract(field: $0, value: $1) }),
                CallOptions(timeout: .seconds(20)))
            #expect(
                judged.refused.map { "\($0.index) \($0.code) \($0.reason ?? "")" } == [
                    "0 validation_failed upload_required", "2 underage ", "4 validation_failed not_declinable",
                    "5 validation_failed not_allowed",
                ])
            #expect(judged.refused[1].eligibleOn?.description == "\(Timestamp.now().date.year + 2)-02-28")
            #expect(try await profile.stage.rows("SELECT count(*) FROM profiles") == "1", "the one of the first event")
        }
    }
}
