import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("what staff decides") struct StaffTests {
    private static let staff = Actor(userID: .random(), sessionID: .ordered(), role: .staff)

    /// Asks as a member of the staff, with a token that auth knows where there is one.
    @Loop private static func correct(
        _ person: Identifier, to date: String, as actor: Actor = staff, token: String?, key: String? = nil,
        _ profile: ProfileStage
    ) async throws -> DateOfBirthCorrected {
        var options = CallOptions(timeout: .seconds(10), actor: actor, idempotencyKey: key)
        options.accessToken = token
        let request = CorrectDateOfBirth(
            personId: person, dateOfBirth: try #require(CivilDate(date)), note: "Åsa sent her passport.")
        return try await profile.gateway.call(request, options)
    }

    @Test func aLockedDateOfBirthIsCorrectedAndWrittenDown() async throws {
        try await ProfileStage.run { profile in
            let desk = Bearers()
            try profile.stage.answering(as: .auth, desk)
            try await profile.stage.untilFound(.auth)
            let token = Bearers.token(of: Self.staff)
            try await profile.update(["dateOfBirth": "1994-02-28"])
            let corrected = try await Self.correct(
                profile.person, to: "1984-02-28", token: token, key: "one-key-of-16-chars", profile)
            #expect(corrected.onboardingStatus == "questionnaire_pending")
            #expect(try await profile.ask(GetMe()).profile["dateOfBirth"] == "1984-02-28")
            // Sent again, and once more as news that is none: nothing more is written.
            let again = try await Self.correct(
                profile.person, to: "1984-02-28", token: token, key: "one-key-of-16-chars", profile)
            #expect(again == corrected)
            _ = try await Self.correct(profile.person, to: "1984-02-28", token: token, profile)
            let acts = try await profile.stage.rows(
                "SELECT act FROM audit WHERE chain <> 'service' ORDER BY at")
            #expect(acts == "date_of_birth_set\ndate_of_birth_corrected")
            #expect(try await profile.stage.rows("SELECT count(*) FROM staff_notes") == "1")
            // The audit trail names the member of staff by a pseudonym. Neither the note nor a date is readable.
            let written = try await profile.stage.rows(
                "SELECT details FROM audit UNION ALL SELECT n::text FROM staff_notes n UNION ALL SELECT i::text FROM inbox i"
            )
            for text in [Self.staff.userID.description, "Åsa", "1984-02-28", "1994-02-28"] {
                #expect(!written.contains(text) && !profile.stage.log.text.contains(text), "\(text)")
            }
            // What the person holds in their own hands is locked as before.
            #expect(
                try await profile.refusal(of: UpdateMe(fields: ["dateOfBirth": "1994-02-28"])).code
                    == "date_of_birth_locked")
        }
    }

    /// A child whose age was corrected is not matched, whatever the policy for dates that people enter.
    @Test(arguments: ["soft_block", "reject"]) func aCorrectedDateUnderAgeBlocks(policy: String) async throws {
        try await ProfileStage.run(environment: ["PROFILE_AGE_POLICY": policy]) { profile in
            let desk = Bearers()
            try profile.stage.answering(as: .auth, desk)
            try await profile.stage.untilFound(.auth)
            let token = Bearers.token(of: Self.staff)
            try await profile.update(["displayName": "Zoë", "dateOfBirth": "1994-02-28"])
            let year = Timestamp.now().date.year
            let young = try await Self.correct(profile.person, to: "\(year - 17)-12-31", token: token, profile)
            #expect(young.onboardingStatus == "blocked")
            #expect(try await profile.refusal(of: GetPerson(personId: profile.person)).code == "not_found")
            #expect(try await profile.ask(GetMe()).ageGate?.allowed == false)
            let grown = try await Self.correct(profile.person, to: "1994-02-28", token: token, profile)
            #expect(grown.onboardingStatus == "questionnaire_pending")
            #expect(try await profile.ask(GetPerson(personId: profile.person)).age != nil)
        }
    }

    @Test func aCorrectionNeedsAValidStaffToken() async throws {
        try await ProfileStage.run { profile in
            let desk = Bearers()
            try profile.stage.answering(as: .auth, desk)
            try await profile.stage.untilFound(.auth)
            let token = Bearers.token(of: Self.staff)
            try await profile.update(["dateOfBirth": "1994-02-28"])
            @Loop func code(
                _ actor: Actor, _ token: String?, of person: Identifier? = nil, to date: String = "1984-02-28"
            )
                async throws -> String
            {
                do {
                    _ = try await Self.correct(
                        person ?? profile.person, to: date, as: actor, token: token, profile)
                    return "done"
                } catch let error as BusError {
                    return error.code
                }
            }
            let user = Actor(userID: .random(), sessionID: .ordered(), role: .user)
            let pretender = Actor(userID: user.userID, sessionID: user.sessionID, role: .staff)
            #expect(try await code(Self.staff, nil) == "unauthorized")
            #expect(try await code(Self.staff, "token-x") == "unauthorized")
            #expect(try await code(pretender, token) == "unauthorized", "somebody else's token")
            #expect(
                try await code(pretender, Bearers.token(of: user)) == "unauthorized", "a role that auth does not know")
            #expect(try await code(user, Bearers.token(of: user)) == "forbidden")
            #expect(try await code(Self.staff, token, of: Self.staff.userID) == "forbidden", "their own")
            #expect(try await code(Self.staff, token, of: .random()) == "not_found")
            #expect(
                try await code(Self.staff, token, to: "\(Timestamp.now().date.year + 1)-01-01") == "validation_failed")
            #expect(try await code(Self.staff, token, to: "1880-01-01") == "validation_failed")
            desk.isActive = false
            #expect(try await code(Self.staff, token) == "unauthorized", "the session ended")
            #expect(try await profile.ask(GetMe()).profile["dateOfBirth"] == "1994-02-28")
            #expect(try await profile.stage.rows("SELECT count(*) FROM staff_notes") == "0")
        }
    }

    @Loop private static func change(_ status: String, _ sequence: Int64, _ profile: ProfileStage) async throws {
        let event = AccountStatusChanged(
            personID: profile.person, personSequence: sequence, status: status, changedAt: .now())
        _ = try await profile.stage.asking(as: .auth).call(event, CallOptions(timeout: .seconds(10)))
    }

    @Test func aSuspendedPersonIsBlockedAndHiddenUntilRestored() async throws {
        try await ProfileStage.run(replicas: 2) { profile in
            try await profile.update(["displayName": "Zoë", "dateOfBirth": "1994-02-28"])
            let stranger = try await profile.refusal(of: GetPerson(personId: .random()))
            try await Self.change("suspended", 1, profile)
            #expect(try await profile.refusal(of: GetPerson(personId: profile.person)) == stranger)
            let view = try await profile.ask(ViewOnboarding())
            #expect(view.onboardingStatus == "blocked" && view.matchingMode == "none" && view.eligibleOn == nil)
            let requirements = try await profile.ask(GetRequirements())
            for needs in [
                requirements.appAccess, requirements.browse, requirements.message, requirements.fullConfidence,
            ] {
                #expect(needs?.disabledReason == "suspended")
            }
            try await Self.change("active", 2, profile)
            // What comes late does not suspend again.
            try await Self.change("suspended", 1, profile)
            #expect(try await profile.ask(GetPerson(personId: profile.person)).profile["displayName"] == "Zoë")
            let restored = try await profile.ask(ViewOnboarding())
            #expect(restored.onboardingStatus == "questionnaire_pending")
            #expect(try await profile.ask(GetRequirements()).appAccess.disabledReason == nil)
        }
    }

    @Test func aCompletionDuringASuspensionCountsOnceRestored() async throws {
        try await ProfileStage.run(environment: ProfileStage.requiringNoTasks) { profile in
            let counted = """
                SELECT completed_at IS NOT NULL, onboarding_completed IS NOT NULL
                FROM person_plans JOIN journeys USING (person_id)
                """
            try await profile.update([
                "dateOfBirth": "1994-02-28", "displayName": "Åsa", "gender": "female", "lookingFor": ["everyone"],
            ])
            try await Self.change("suspended", 1, profile)
            let done = SessionCompleted(
                personID: profile.person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat",
                version: 1, completedAt: .now())
            _ = try await profile.stage.asking(as: .questionnaire).call(done, CallOptions(timeout: .seconds(10)))
            #expect(try await profile.stage.rows(counted) == "f|f")
            try await Self.change("active", 2, profile)
            #expect(try await profile.stage.rows(counted) == "t|t")
            #expect(try await profile.ask(ViewOnboarding()).onboardingStatus == "complete")
        }
    }

    /// A suspended person gets no push about the birthday. It comes after the suspension.
    @Test func aSuspendedPersonIsNotNotifiedOfTheBirthday() async throws {
        try await ProfileStage.run { profile in
            let recorder = EventRecorder<NotifyPerson>()
            try profile.stage.answering(as: .auth, recorder)
            let container = profile.stage.containers[0]
            let list = WaitlistNotifier(
                profiles: try profile.store(of: container), plans: try profile.plans(of: container),
                outbox: container.outbox,
                log: container.log)
            try await profile.update(["dateOfBirth": .string("\(Timestamp.now().date.year - 17)-12-31")])
            let birthday = try await profile.ask(JoinWaitlist(notify: true)).eligibleOn
            try await Self.change("suspended", 1, profile)
            let morning = Timestamp(microsecondsSinceEpoch: Int64(birthday.daysSinceEpoch) * 86_400_000_000)
            try await patiently { try await list.tellWhoIsEligible(at: morning) }
            #expect(try await profile.stage.rows("SELECT count(*) FROM waitlist") == "1")
            try await Self.change("active", 2, profile)
            try await patiently { try await list.tellWhoIsEligible(at: morning + .seconds(86_400)) }
            #expect(try await recorder.atLeast(1).count == 1)
        }
    }
}
