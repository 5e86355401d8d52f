import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

/// The deletion of a person through the whole system.
@Suite("deletion") struct DeletionTests {
    private static let phone = "+14155552671"

    @Loop private func places(of session: Session, hash: String, in system: TestSystem) async throws -> Set<String> {
        var found: Set<String> = []
        for text in [session.user.id.description, hash, String(Self.phone.dropFirst())] {
            found.formUnion(try await system.columns(holding: text))
        }
        return found
    }

    @Test(.bounded) func aDeletionLeavesNothingOfThePersonInAnyTable() async throws {
        try await TestSystem.run { system in
            let session = try await system.onboarded(Self.phone)
            let hash = try await system.rows(.auth, "SELECT encode(hash, 'hex') FROM phones")
            try await system.plantTheRest(of: session)
            let held = try await system.columns(holding: session.user.id.description)
            try await system.expectIsAccountedFor(held)
            try await system.rows(
                .profile, "SET ROLE scratch_owner; CREATE TABLE blocks (id uuid PRIMARY KEY, blocked_id uuid)")
            #expect(
                try await system.columnsNamedForPeople().contains("profile.blocks.blocked_id"), "although it is empty")
            #expect(held.isSuperset(of: ["auth.sessions.person_id", "recovery.cases.account_id"]))
            #expect(
                try await system.columns(holding: hash).isSuperset(of: [
                    "auth.phones.hash", "auth.challenges.phone_hash",
                ])
            )

            let deleted = try await system.send("DELETE", "/users/me", as: session)
            #expect(deleted.status == 202 && deleted.json == ["status": "deleting"])
            #expect(
                try await eventually(within: .seconds(1)) {
                    try await system.send("GET", "/users/me", as: session).status == 401
                }, .time)
            #expect(try await eventually { try await places(of: session, hash: hash, in: system) == [] })
            try await system.quiet()
            #expect(try await places(of: session, hash: hash, in: system).sorted() == [])

            // The audit trail stays complete, under a pseudonym that leads to nobody.
            #expect(
                try await system.rows(
                    .auth, "SELECT act FROM audit WHERE chain <> 'service' ORDER BY sequence DESC LIMIT 1")
                    == "account_deleted")
            #expect(try await system.rows(.auth, "SELECT count(*) FROM pseudonyms") == "0")
            #expect(try await system.rows(.recovery, "SELECT count(*) FROM audit WHERE chain LIKE 'case %'") != "0")

            // Codes that were sent to the number still count for its limit. Later, a new person may use the number.
            try await system.rows(
                .auth,
                """
                UPDATE challenges SET created_at = clock_timestamp() WHERE created_at > now() - interval '1 hour'
                """)
            let limited = await #expect(throws: BusError.self) { try await system.ask(SendOTP(phone: Self.phone)) }
            #expect(limited?.code == "rate_limited")
            try await system.age()
            let anew = try await system.signIn(Self.phone)
            #expect(anew.isNewUser && anew.user.id != session.user.id)
        }
    }

    @Test func lateEventsDoNotUndoADeletion() async throws {
        try await TestSystem.run { system in
            let session = try await system.signIn(Self.phone)
            let person = session.user.id
            try await system.quiet()
            #expect(try await system.send("DELETE", "/users/me", as: session).status == 202)
            try await system.quiet()
            #expect(try await eventually { try await system.columns(holding: person.description) == [] })

            let auth = try system.voice(of: .auth)
            let (questionnaire, recovery) = (try system.voice(of: .questionnaire), try system.voice(of: .recovery))
            let options = CallOptions(timeout: .seconds(5))
            _ = try await auth.call(AccountCreated(personID: person, personSequence: 9, createdAt: .now()), options)
            _ = try await auth.call(AccountDeleted(personID: person, personSequence: 10, deletedAt: .now()), options)
            _ = try await questionnaire.call(
                SessionCompleted(
                    personID: person, personSequence: 9, sessionID: .ordered(), questionnaire: "yoked-compat",
                    version: 1, completedAt: .now()), options)
            _ = try await recovery.call(
                CaseClosed(
                    personID: person, personSequence: 9, caseID: .ordered(), outcome: "disputed", closedAt: .now()),
                options)
            _ = try await recovery.call(
                NotifyPerson(
                    notificationID: .ordered(), personID: person, personSequence: 10, kind: "recovery_requested",
                    data: [:]), options)
            _ = try await auth.call(
                NotificationDelivered(
                    personID: person, personSequence: 11, notificationID: .ordered(), deviceID: .ordered(),
                    outcome: "delivered", at: .now()), options)
            // A gateway accepts this token until it learns that the session has ended.
            for ask in [
                { _ = try await system.ask(GetMe(), as: session) },
                { _ = try await system.ask(GetQuestions(), as: session) },
                { _ = try await system.ask(Logout(), as: session) },
                { _ = try await system.ask(UpdateMe(fields: ["bio": "Hej"]), as: session) },
            ] as [@Loop () async throws -> Void] {
                try? await ask()
            }
            #expect(try await system.ask(DeleteAccount(), as: session).status == "deleting", "it was")
            try await system.quiet()
            #expect(try await system.columns(holding: person.description).sorted() == [])
        }
    }

    @Test func aDeletionFinishesWhenAStoppedServiceReturns() async throws {
        try await TestSystem.run { system in
            let session = try await system.onboarded(Self.phone)
            for service: ServiceName in [.profile, .questionnaire, .recovery] { await system.stop(service) }
            #expect(try await system.send("DELETE", "/users/me", as: session).status == 202)
            // Acts as if a relay had tried the delivery for an hour.
            try await system.rows(.auth, "UPDATE outbox SET attempts = 400, locked_until = NULL, due_at = now()")
            for service: ServiceName in [.profile, .questionnaire, .recovery] { try await system.start(service) }
            #expect(
                try await eventually(within: .seconds(60)) {
                    try await system.rows(.auth, "SELECT count(*) FROM outbox") == "0"
                })
            #expect(try await system.columns(holding: session.user.id.description).sorted() == [])
        }
    }

    @Test func aDeletionNeedsAFreshSignInAndNoFreeze() async throws {
        try await TestSystem.run { system in
            let session = try await system.onboarded(Self.phone)
            try await system.rows(.auth, "UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            let stale = try await system.send("DELETE", "/users/me", as: session)
            #expect(stale.status == 403 && stale.json["code"] == "reauthentication_required")
            try await system.rows(.auth, "UPDATE freezes SET ended_at = NULL")
            let frozen = try await system.send("DELETE", "/users/me", as: session)
            #expect(frozen.status == 409 && frozen.json["code"] == "account_frozen")
            #expect(frozen.json["retryAfterSeconds"]?.integerValue ?? 0 > 0)
            #expect(try await system.send("GET", "/users/me", as: session).status == 200)
        }
    }
}
