import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("the profile service") struct ProfileServiceTests {
    /// The date of birth of somebody who turns so many years old today.
    private static func born(yearsAgo years: Int) -> String {
        let today = Timestamp.now().date
        let day = today.month == 2 ? min(today.day, 28) : today.day
        return CivilDate(year: today.year - years, month: today.month, day: day)!.description
    }

    /// If a person alternates between two texts, the history keeps the newest entries, for a year.
    @Test func aHistoryIsBounded() async throws {
        try await ProfileStage.run { profile in
            for number in 0..<600 {
                try await profile.update(["bio": .string(String(repeating: number % 2 == 0 ? "t" : "k", count: 500))])
            }
            let kept = "SELECT count(*) BETWEEN 32 AND 300, max(id) - min(id) < 300 FROM profile_field_history"
            #expect(try await profile.stage.rows(kept) == "t|t", "of the last ones")
            #expect(try await profile.stage.rows("SELECT revision FROM profiles") == "601")
            _ = try await profile.stage.rows(
                """
                UPDATE profile_field_history SET changed_at = now() - interval '364 days';
                UPDATE profile_field_history SET changed_at = now() - interval '366 days'
                WHERE id < (SELECT max(id) - 4 FROM profile_field_history) RETURNING 1
                """)
            let store = try profile.store()
            #expect(try await !store.purgeHistory())
            #expect(try await profile.stage.rows("SELECT count(*) FROM profile_field_history") == "5")
        }
    }

    @Test func twoDevicesThatChangeDifferentFieldsBothWin() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let changes: [[String: JSONValue]] = [
                ["displayName": "Zoë"], ["city": "Lund"], ["bio": "Hej"], ["gender": "other"], ["heightInches": 70],
                ["lookingFor": ["everyone"]],
            ]
            let tasks = changes.map { fields in Loop.spawn { try await patiently { try await profile.update(fields) } }
            }
            for task in tasks { _ = try await task.value }
            let me = try await profile.ask(GetMe())
            #expect(me.profile == changes.reduce(into: [:]) { $0.merge($1) { $1 } })
            #expect(me.revision == 7)
        }
    }

    /// Their token may be good for some minutes more.
    @Test func aDeletedPersonIsAskedToSignIn() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["displayName": "Zoë"])
            let deleted = AccountDeleted(personID: profile.person, personSequence: 1, deletedAt: .now())
            _ = try await profile.stage.asking(as: .auth).call(deleted, CallOptions(timeout: .seconds(10)))
            #expect(try await profile.refusal(of: GetMe()).code == "unauthorized")
            #expect(try await profile.refusal(of: GetCompletion()).code == "unauthorized")
        }
    }

    /// The same field and others, on two replicas, with the news that a change of another kind brings.
    @Test func concurrentChangesAreEachMadeOnce() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            try await profile.update(["displayName": "Zoë", "gender": "other", "lookingFor": ["everyone"]])
            let (times, begun) = (Rounds.count(10, prove: 200), try await profile.ask(GetMe()).revision)
            let changes: [[String: JSONValue]] = (0..<times).flatMap { number in
                [
                    ["bio": .string("No. \(number)")], ["city": .string("Lund \(number)"), "pets": ["cats"]],
                    ["firstName": "Eva", "timeZone": "Europe/Paris"], ["dateOfBirth": "1994-02-28"],
                ]
            }
            let tasks = changes.map { fields in Loop.spawn { try await patiently { try await profile.update(fields) } }
            }
            var changed: Set<Int64> = []
            for task in tasks { changed.insert(try await task.value.revision) }
            let me = try await profile.ask(GetMe())
            // Those that changed nothing answer with what was there.
            #expect(changed.max() == me.revision && changed.isSubset(of: Set(begun...me.revision)))
            for (field, count) in [("bio", times), ("city", times), ("pets", 1), ("firstName", 1), ("dateOfBirth", 0)] {
                let written = try await profile.stage.rows(
                    "SELECT count(*) FROM profile_field_history WHERE key = '\(field)'")
                // A history keeps the last 32 values at the least.
                #expect((min(count, 32)...count).contains(Int(written) ?? -1), "\(field)")
            }
            // Bios, cities, one first name with its time zone, one date of birth.
            #expect(me.revision == begun + Int64(2 * times) + 2)
            let last = try await profile.stage.rows(
                "SELECT value ->> 0 FROM (SELECT jsonb_build_array(value) AS value FROM profile_field_history WHERE key = 'bio' ORDER BY id DESC LIMIT 1) AS h"
            )
            #expect(me.profile["bio"] == .string(last))
            #expect(try await profile.stage.rows("SELECT count(*) FROM audit WHERE act = 'date_of_birth_set'") == "1")
            #expect(
                try await profile.stage.rows("SELECT count(*) FROM onboarding_events WHERE name = 'profile_created'")
                    == "1")
        }
    }

    @Test func formerValuesOfAFieldAreKept() async throws {
        try await ProfileStage.run { profile in
            for bio: JSONValue in ["Hej", "Hej hej", .null] { try await profile.update(["bio": bio, "city": "Lund"]) }
            let history = try await profile.stage.rows(
                "SELECT key || ' ' || state || coalesce(' ' || value::text, '') FROM profile_field_history ORDER BY id")
            #expect(
                history.split(separator: "\n").filter { $0.hasPrefix("bio") } == [
                    "bio answered \"Hej\"", "bio answered \"Hej hej\"", "bio cleared",
                ])
            #expect(
                history.split(separator: "\n").filter { $0.hasPrefix("city") }.count == 1, "the same again is no change"
            )
        }
    }

    @Test func aFieldOfANewerReleaseOutlivesAChange() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["bio": "Hej"])
            _ = try await profile.stage.rows(
                """
                UPDATE profiles SET fields = fields || '{"starSign": {"state": "answered", "value": "leo"}}' RETURNING 1
                """)
            let me = try await profile.update(["bio": "Hej hej"])
            #expect(me.profile == ["bio": "Hej hej"])
            #expect(try await profile.stage.rows("SELECT fields -> 'starSign' ->> 'value' FROM profiles") == "leo")
        }
    }

    @Test func concurrentReadsCreateOneProfile() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            let views = try await atOnce(24) { try await patiently { try await profile.ask(GetMe()) } }
            #expect(views.allSatisfy { $0 == views[0] })
            #expect(try await profile.stage.rows("SELECT count(*) FROM profiles") == "1")
        }
    }

    @Test func settingAndCorrectingADateOfBirthIsAuditedWithoutTheDate() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["bio": "Hej"])
            #expect(try await profile.stage.rows("SELECT count(*) FROM pseudonyms") == "0")
            for bio in ["Hej", "Hej hej"] {
                try await profile.update(["dateOfBirth": "1994-02-28", "bio": .string(bio)])
            }
            #expect(
                try await profile.stage.rows("SELECT sequence || act || details FROM audit WHERE chain <> 'service'")
                    == "1date_of_birth_set{}")
            try await profile.update(["dateOfBirth": "1994-03-01"])
            let other = try await profile.refusal(of: UpdateMe(fields: ["dateOfBirth": "1994-02-28"]))
            #expect(other.code == "date_of_birth_locked", "a person corrects the date once")
            #expect(
                try await profile.stage.rows(
                    "SELECT sequence || act || details FROM audit WHERE chain <> 'service' ORDER BY sequence")
                    == "1date_of_birth_set{}\n2date_of_birth_corrected{\"by\":\"person\"}")
        }
    }

    @Test func aDateOfBirthIsNotCorrectedAfterADay() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["dateOfBirth": "1994-02-28"])
            try await profile.stage.rows(
                "UPDATE profiles SET date_of_birth_set_at = date_of_birth_set_at - interval '24 hours'")
            let late = try await profile.refusal(of: UpdateMe(fields: ["dateOfBirth": "1994-03-01"]))
            #expect(late.code == "date_of_birth_locked")
        }
    }

    /// In an app without an age rule, a child cannot get the age for another app either.
    @Test func theAgeRulesOfAllAppsHoldForACorrection() async throws {
        try await ProfileStage.run { profile in
            func update(_ born: String) async throws {
                let actor = Actor(userID: profile.person, sessionID: .ordered(), role: .user, app: "skin-care")
                _ = try await profile.gateway.call(
                    UpdateMe(fields: ["dateOfBirth": .string(born)]), CallOptions(timeout: .seconds(10), actor: actor))
            }
            try await update(Self.born(yearsAgo: 15))
            let refused = await #expect(throws: BusError.self) { try await update("1990-02-28") }
            #expect(refused?.code == "date_of_birth_locked")
        }
    }

    @Test func aPersonIsSeenOnlyInTheAppsThatTheyUse() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["displayName": "Zoë"])
            func look(in app: String?) async throws -> PublicPerson {
                let actor = Actor(userID: .random(), sessionID: .ordered(), role: .user, app: app)
                return try await profile.gateway.call(
                    GetPerson(personId: profile.person), CallOptions(timeout: .seconds(10), actor: actor))
            }
            #expect(try await look(in: nil).profile["displayName"] == "Zoë")
            let refused = await #expect(throws: BusError.self) { try await look(in: "realsingles") }
            #expect(refused?.code == "not_found")
        }
    }

    @Test func aMinorIsKeptAndNotMatched() async throws {
        try await ProfileStage.run { profile in
            let me = try await profile.update(["dateOfBirth": .string(Self.born(yearsAgo: 17))])
            let gate = try #require(me.ageGate)
            #expect(!gate.allowed && gate.eligibleOn > Timestamp.now().date && me.age == 17)
            #expect(me.onboardingStatus == "blocked" && me.matchingMode == "none")
            let view = try await profile.ask(ViewOnboarding())
            #expect(view.onboardingStatus == "blocked" && view.eligibleOn == gate.eligibleOn)
            let auth = try profile.stage.asking(as: .auth)
            let state = try await auth.call(GetOnboarding(personID: profile.person), profile.options(signedIn: false))
            #expect(state.onboardingStatus == "blocked")
            // The app stays open: the rest of the profile can be written, and the date stands.
            #expect(try await profile.update(["bio": "Hej"]).profile["bio"] == "Hej")
            let older = UpdateMe(fields: ["dateOfBirth": .string(Self.born(yearsAgo: 30))])
            #expect(try await profile.refusal(of: older).code == "date_of_birth_locked")
        }
    }

    @Test func aPersonIsEligibleOnTheEighteenthBirthday() async throws {
        try await ProfileStage.run { profile in
            let me = try await profile.update(["dateOfBirth": .string(Self.born(yearsAgo: 18))])
            #expect(me.ageGate == nil && me.age == 18 && me.onboardingStatus == "questionnaire_pending")
        }
    }

    @Test func anOperatorMayRefuseMinors() async throws {
        try await ProfileStage.run(environment: ["PROFILE_AGE_POLICY": "reject"]) { profile in
            let young = UpdateMe(fields: ["dateOfBirth": .string(Self.born(yearsAgo: 17)), "bio": "Hej"])
            let error = try await profile.refusal(of: young)
            #expect(error.code == "underage" && error.details?["eligibleOn"]?.stringValue != nil)
            #expect(try await profile.ask(GetMe()).profile.isEmpty, "all of it or nothing")
        }
    }

    @Test func noTableHoldsADateOfBirthInTheClear() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["dateOfBirth": "1994-02-28"])
            let dump = try await profile.stage.rows(
                """
                SELECT p::text FROM profiles p UNION ALL SELECT f::text FROM profile_field_history f
                UNION ALL SELECT i::text FROM inbox i
                """)
            let hex = "1994-02-28".utf8.map { String($0, radix: 16) }.joined()
            // The whole date: four digits of it may stand in any random bytes.
            #expect(!dump.contains("1994-02-28") && !dump.contains(hex) && !dump.isEmpty)
            #expect(try await profile.ask(GetMe()).profile["dateOfBirth"] == "1994-02-28")
        }
    }

    @Test func oneWrongFieldRefusesTheWholeChange() async throws {
        try await ProfileStage.run { profile in
            let error = try await profile.refusal(of: UpdateMe(fields: ["bio": "Hej", "country": "se"]))
            #expect(error.code == "validation_failed" && error.errors?.map(\.field) == ["country"])
            let me = try await profile.ask(GetMe())
            #expect(me.profile.isEmpty && me.revision == 1)
        }
    }

    @Test func aChangeOfAnOldProfileIsRefused() async throws {
        try await ProfileStage.run { profile in
            let first = try await profile.update(["bio": "Hej"], ifMatch: "*")
            try await profile.update(["bio": "Hej hej"], ifMatch: "\"r\(first.revision)\"")
            let late = UpdateMe(fields: ["bio": "Nej"], ifMatch: "\"r\(first.revision)\"")
            #expect(try await profile.refusal(of: late).code == "precondition_failed")
            try await profile.update(["city": "Lund"], ifMatch: "\"r1\", \"r\(first.revision + 1)\"")
            try await profile.update(["city": nil])
            // Saying again what stands changes nothing, and nobody's tag becomes old by it.
            #expect(try await profile.update(["bio": "Hej hej"]).revision == first.revision + 3)
        }
    }

    /// The bus does so where an answer was lost, and another device may have changed the profile meanwhile.
    @Test(arguments: [nil, "*"]) func aRepeatedChangeIsAppliedOnce(ifMatch: String?) async throws {
        try await ProfileStage.run { profile in
            let first = try await profile.update(["bio": "Hej"])
            let change = UpdateMe(fields: ["bio": "Nej"], ifMatch: ifMatch ?? "\"r\(first.revision)\"")
            var options = profile.options()
            let done = try await profile.gateway.call(change, options)
            #expect(done.revision == first.revision + 1)
            #expect(try await profile.gateway.call(change, options) == done)
            let later = try await profile.update(["bio": "Hej hej"])
            #expect(try await profile.gateway.call(change, options) == later)
            options.messageID = .ordered()
            guard ifMatch != nil else { return }
            #expect(try await profile.gateway.call(change, options).revision == later.revision + 1)
        }
    }

    /// Other devices of the person change a lot meanwhile.
    @Test(arguments: [nil, "*"]) func aChangeRepeatedMuchLaterIsNotAppliedTwice(ifMatch: String?) async throws {
        try await ProfileStage.run { profile in
            @Loop func change(_ bio: String, secondsAgo: Double, ifMatch: String? = nil) async throws -> CallOptions {
                var options = profile.options()
                options.messageID = .ordered(at: Date(timeIntervalSinceNow: -secondsAgo))
                _ = try await profile.gateway.call(UpdateMe(fields: ["bio": .string(bio)], ifMatch: ifMatch), options)
                return options
            }
            let again = UpdateMe(fields: ["bio": "Nej"], ifMatch: ifMatch)
            let options = try await change("Nej", secondsAgo: 9, ifMatch: ifMatch)
            for number in 0..<40 { _ = try await change("No. \(number)", secondsAgo: 8) }
            let bio = "SELECT fields -> 'bio' ->> 'value' FROM profiles"
            _ = try await profile.gateway.call(again, options)
            #expect(try await profile.stage.rows(bio) == "No. 39")
            // Ten seconds later only 16 are noted.
            _ = try await change("No. 40", secondsAgo: -3)
            let refusal = await #expect(throws: BusError.self) { try await profile.gateway.call(again, options) }
            #expect(refusal?.code == "deadline_exceeded" && refusal?.executed == .unknown)
            #expect(try await profile.stage.rows(bio) == "No. 40")
            // Nothing is on its way for a minute. So it is another change, of a gateway whose clock is behind.
            try await profile.stage.rows("UPDATE profiles SET updated_at = updated_at - interval '1 minute'")
            _ = try await profile.gateway.call(again, options)
            #expect(try await profile.stage.rows(bio) == "Nej")
        }
    }

    /// Somebody's program changes a profile again and again.
    @Test func theMessagesThatAreNotedAreBounded() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["bio": "Hej"])
            let messages = (0..<1024).map { _ in Identifier.ordered().description }.joined(separator: ",")
            try await profile.stage.rows("UPDATE profiles SET changed_by = '{\(messages)}'")
            try await profile.update(["bio": "Nej"])
            #expect(try await profile.stage.rows("SELECT cardinality(changed_by) FROM profiles") == "1024")
        }
    }

    /// A gateway lets a call wait for some seconds, and the clocks of gateways differ. So its message ID may be older
    /// than those of many later changes.
    @Test func aChangeOvertakenByManyIsApplied() async throws {
        try await ProfileStage.run { profile in
            for number in 0..<40 { try await profile.update(["bio": .string("No. \(number)")]) }
            var late = profile.options()
            late.messageID = .ordered(at: Date(timeIntervalSinceNow: -4.5))
            _ = try await profile.gateway.call(UpdateMe(fields: ["bio": "Nej"]), late)
            #expect(try await profile.stage.rows("SELECT fields -> 'bio' ->> 'value' FROM profiles") == "Nej")
        }
    }

    /// Device A sets the date of birth, and its answer is lost. What then stands against the same change is no refusal.
    @Test func aRepeatedDateOfBirthIsNotRefused() async throws {
        try await ProfileStage.run { profile in
            let change = UpdateMe(fields: ["dateOfBirth": "1990-05-17"])
            let options = profile.options()
            let done = try await profile.gateway.call(change, options)
            let corrected = try await profile.update(["dateOfBirth": "1990-05-18"])
            #expect(corrected.revision == done.revision + 1)
            #expect(try await profile.gateway.call(change, options) == corrected)
        }
    }

    @Test func fieldsAreSkippedOnceAndNotWhenTheyAreNeeded() async throws {
        try await ProfileStage.run { profile in
            let skipped = try await profile.ask(SkipField(field: "photo"))
            #expect(skipped.skippedFields == ["photo"])
            #expect(try await profile.ask(SkipField(field: "photo")) == skipped)
            #expect(try await profile.ask(GetCompletion()) == skipped)
            #expect(try await profile.ask(GetMe()).revision == 2)
            #expect(try await profile.refusal(of: SkipField(field: "displayName")).code == "field_not_skippable")
            #expect(try await profile.refusal(of: SkipField(field: "shoeSize")).code == "validation_failed")
            try await profile.showPhoto("https://h/photos/1", sequence: 1)
            #expect(try await profile.refusal(of: SkipField(field: "photo")).code == "has_value")
            #expect(try await profile.ask(GetCompletion()).skippedFields.isEmpty)
        }
    }

    @Test func aRepeatedCompletionIsCountedOnce() async throws {
        try await ProfileStage.run(environment: ProfileStage.requiringTasks) { profile in
            try await profile.update([
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "prefer_not_to_say",
                "lookingFor": ["everyone"],
            ])
            #expect(try await profile.ask(ViewOnboarding()).onboardingStep == "questionnaire")
            let questionnaire = try profile.stage.asking(as: .questionnaire)
            let event = SessionCompleted(
                personID: profile.person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat",
                version: 1, completedAt: .now())
            for _ in 0..<3 { _ = try await questionnaire.call(event, profile.options(signedIn: false)) }
            let me = try await profile.ask(GetMe())
            #expect(me.onboardingStep == "verification" && me.onboardingStatus == "vps_pending" && me.revision == 3)
        }
    }

    /// Onboarding waits for the compatibility questionnaire and for no other; one that was amended was completed.
    @Test func anotherQuestionnaireEndsNoStepAndAnAmendedOneEndsIts() async throws {
        try await ProfileStage.run(environment: ProfileStage.requiringTasks) { profile in
            try await profile.update([
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "prefer_not_to_say",
                "lookingFor": ["everyone"],
            ])
            let questionnaire = try profile.stage.asking(as: .questionnaire)
            let other = SessionCompleted(
                personID: profile.person, personSequence: 1, sessionID: .ordered(), questionnaire: "skin-care",
                version: 1, completedAt: .now())
            _ = try await questionnaire.call(other, profile.options(signedIn: false))
            #expect(try await profile.ask(ViewOnboarding()).onboardingStep == "questionnaire")
            let amended = SessionAmended(
                personID: profile.person, personSequence: 2, sessionID: .ordered(),
                questionnaire: "yoked-compat", version: 1, completedAt: .now(), amendedAt: .now(),
                scores: [:])
            _ = try await questionnaire.call(amended, profile.options(signedIn: false))
            #expect(try await profile.ask(ViewOnboarding()).onboardingStep == "verification")
        }
    }

    @Test func aSkipRemovesAnAnswerIfThePersonAsksForIt() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["bio": "Hej", "religion": "prefer_not_to_say"])
            for field in ["bio", "religion"] {
                #expect(try await profile.refusal(of: SkipField(field: field)).code == "has_value")
            }
            let completion = try await profile.ask(SkipField(field: "bio", clear: true))
            #expect(completion.skippedFields == ["bio"] && completion.preferNotToShareFields == ["religion"])
            #expect(try await profile.ask(GetMe()).profile == ["religion": "prefer_not_to_say"])
            let back = try await profile.update(["bio": "Hej igen"])
            #expect(back.skippedFields.isEmpty && back.profile["bio"] == "Hej igen", "a value ends a skip")
        }
    }

    @Test func aSkipIsForgottenAfterTheTimeThatTheOperatorSets() async throws {
        try await ProfileStage.run(environment: ["PROFILE_REPROMPT_AFTER": "2h"]) { profile in
            try await profile.update([
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "other", "lookingFor": ["everyone"],
                "city": "Lund", "bio": "Hej",
            ])
            #expect(try await profile.ask(SkipField(field: "photo")).prompt == nil)
            for times in 2...4 {
                _ = try await profile.stage.rows(
                    """
                    UPDATE profiles SET fields = jsonb_set(fields, '{photo,last}',
                        to_jsonb(to_char(now() AT TIME ZONE 'UTC' - interval '2 hours', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))
                    RETURNING 1
                    """)
                let completion = try await profile.ask(GetCompletion())
                #expect(completion.prompt == .init(field: "photo", step: 6, blocking: false, reason: "encouraged"))
                #expect(completion.isComplete && completion.skippedFields == ["photo"])
                #expect(try await profile.ask(SkipField(field: "photo")).prompt == nil)
                #expect(
                    try await profile.stage.rows("SELECT fields #> '{photo,times}' FROM profiles") == "\(times)")
            }
        }
    }

    @Test func anAnswerInvalidInANewFieldCatalogueIsShownAndAskedAgain() async throws {
        try await ProfileStage.run { profile in
            try await profile.update([
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "other", "lookingFor": ["everyone"],
                "coordinates": ["latitude": 59.3, "longitude": 18],
            ])
            // The previous release would have left it like this.
            _ = try await profile.stage.rows(
                """
                UPDATE profiles SET catalogue_version = 0, fields = fields || '{
                    "gender": {"state": "answered", "value": "unsaid"},
                    "coordinates": {"state": "answered", "value": {"latitude": 59.32932, "longitude": 18.06855}}}'
                RETURNING 1
                """)
            for _ in 0..<2 { try await profile.recheckFields() }
            let me = try await profile.ask(GetMe())
            #expect(me.profile["gender"] == "unsaid" && me.onboardingStep == "profile" && me.revision == 3)
            #expect(me.profile["coordinates"] == ["latitude": 59.33, "longitude": 18.07])
            let prompt = try await profile.ask(GetCompletion()).prompt
            #expect(prompt == .init(field: "gender", step: 4, blocking: true, reason: "required"))
            #expect(
                try await profile.ask(GetRequirements()).match.errors == [.init(field: "gender", code: "stale")])
            try await profile.update(["gender": "other"])
            #expect(try await profile.ask(GetCompletion()).missingRequired.isEmpty)
        }
    }

    @Test func theNeedsOfEachCapabilityShrinkAsFieldsAreFilledIn() async throws {
        try await ProfileStage.run(environment: ["PROFILE_REQUIRE_VERIFICATION": "false"]) { profile in
            let required = ["displayName", "dateOfBirth", "gender", "lookingFor"]
            var needs = try await profile.ask(GetRequirements())
            #expect(needs.appAccess == CapabilityNeeds() && needs.browse == CapabilityNeeds())
            #expect(needs.match.currentlyDue == required + ["city", "questionnaire"])
            #expect(needs.match.eventuallyDue == ["photo", "bio"])
            #expect(needs.match.alternatives == [.init(original: ["city"], alternative: ["coordinates"])])
            #expect(needs.like.currentlyDue == ["displayName", "dateOfBirth"])
            #expect(needs.fullConfidence?.currentlyDue == required + ["city", "questionnaire", "visual_preferences"])
            #expect(needs.match.disabledReason == "requirements_due" && needs.browse.disabledReason == nil)

            try await profile.update([
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "prefer_not_to_say",
                "lookingFor": ["everyone"], "coordinates": ["latitude": 59.3, "longitude": 18],
            ])
            needs = try await profile.ask(GetRequirements())
            #expect(needs.match.currentlyDue == ["questionnaire"] && needs.match.alternatives.isEmpty)
            #expect(needs.like.disabledReason == nil && needs.message.disabledReason == nil)
        }
    }

    @Test func everyCapabilityButTheAppIsDisabledForMinors() async throws {
        try await ProfileStage.run(environment: ProfileStage.requiringTasks) { profile in
            try await profile.update(["dateOfBirth": .string(Self.born(yearsAgo: 17))])
            let needs = try await profile.ask(GetRequirements())
            for capability in [needs.browse, needs.like, needs.match, needs.message, needs.fullConfidence] {
                #expect(capability?.disabledReason == "underage")
            }
            #expect(needs.like.currentlyDue.contains("verification"))
            #expect(needs.appAccess.disabledReason == nil)
            // The same in every answer.
            let (me, onboarding) = (try await profile.ask(GetMe()), try await profile.ask(ViewOnboarding()))
            #expect(me.ageGate != nil && needs.ageGate == me.ageGate && onboarding.ageGate == me.ageGate)
            #expect(needs.eligibleOn == me.ageGate?.eligibleOn && onboarding.eligibleOn == needs.eligibleOn)
            #expect(me.onboardingStatus == "blocked" && onboarding.onboardingStatus == "blocked")
            var swedish = profile.options()
            swedish.language = "sv"
            let told = [
                try await profile.gateway.call(GetMe(), swedish).ageGate,
                try await profile.gateway.call(GetRequirements(), swedish).ageGate,
                try await profile.gateway.call(ViewOnboarding(), swedish).ageGate,
            ]
            #expect(Set(told.map { $0?.message }) == ["Du måste ha fyllt 18 år för att använda Vestibule"])
        }
    }

    @Test func aPersonIsNotTakenForNewDuringADatabaseOutage() async throws {
        try await ProfileStage.run { profile in
            try await profile.update([
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "other", "lookingFor": ["everyone"],
            ])
            let before = try await profile.ask(ViewOnboarding())
            try await profile.stage.scratch.refuseConnections()
            var options = profile.options()
            options.timeout = .milliseconds(500)
            let asked: [@Loop () async throws -> Void] = [
                { _ = try await profile.gateway.call(ViewOnboarding(), options) },
                { _ = try await profile.gateway.call(GetMe(), options) },
                { _ = try await profile.gateway.call(GetCompletion(), options) },
                { _ = try await profile.gateway.call(GetRequirements(), options) },
                { _ = try await profile.gateway.call(GetPerson(personId: profile.person), options) },
            ]
            for ask in asked {
                let error = await #expect(throws: BusError.self) { try await ask() }
                #expect(error?.code != "not_found", "a failure is no answer")
            }
            try await profile.stage.scratch.takeConnections()
            let isBack = try await eventually {
                (try? await profile.gateway.call(ViewOnboarding(), options)) == before
            }
            #expect(isBack)
        }
    }

    @Test func aSignedOutCallerHasNoProfile() async throws {
        try await ProfileStage.run { profile in
            let refusals = [
                try await profile.refusal(of: GetMe(), signedIn: false),
                try await profile.refusal(of: UpdateMe(fields: [:]), signedIn: false),
                try await profile.refusal(of: SkipField(field: "photo"), signedIn: false),
            ]
            #expect(refusals.map(\.code) == ["unauthorized", "unauthorized", "unauthorized"])
            #expect(try await profile.stage.rows("SELECT count(*) FROM profiles") == "0")
        }
    }
}
