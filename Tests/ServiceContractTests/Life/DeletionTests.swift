import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

/// The deletion of a person through the whole house.
@Suite("deletion") struct DeletionTests {
    private static let phone = "+14155552671"

    @Loop private func places(of session: Session, hash: String, in town: Town) async throws -> Set<String> {
        var found: Set<String> = []
        for text in [session.user.id.description, hash, String(Self.phone.dropFirst())] {
            found.formUnion(try await town.columns(holding: text))
        }
        return found
    }

    /// An identity, a number of before and a push token of before, which this person did not come to have.
    @Loop private func plantWhatOthersHave(in town: Town) async throws {
        _ = try await town.rows(
            .auth,
            """
            INSERT INTO identities (hash, key_id, person_id, provider, sealed)
                SELECT sha256('identity'), 'k', id, 'google', '' FROM accounts;
            INSERT INTO phone_aliases (person_id, hash, key_id, sealed, until)
                SELECT id, sha256('number'), 'k', '', now() + interval '90 days' FROM accounts;
            INSERT INTO replaced_push_tokens (id, person_id, device_id, sealed)
                SELECT gen_random_uuid(), person_id, id, '' FROM devices;
            """)
    }

    @Test(.bounded) func leavesNothingOfThePersonInAnyTable() async throws {
        try await Town.run { town in
            let session = try await town.settled(Self.phone)
            let hash = try await town.rows(.auth, "SELECT encode(hash, 'hex') FROM phones")
            try await plantWhatOthersHave(in: town)
            let held = try await town.columns(holding: session.user.id.description)
            let named = try await town.columnsNamedForPeople()
            #expect(
                held.union(named).subtracting(PersonColumns.all).sorted() == [], "nobody says what becomes of these")
            #expect(PersonColumns.all.subtracting(held.union(named)).sorted() == [], "these are gone")
            #expect(held.isSuperset(of: ["auth.sessions.person_id", "recovery.cases.account_id"]))
            #expect(
                try await town.columns(holding: hash).isSuperset(of: ["auth.phones.hash", "auth.challenges.phone_hash"])
            )

            let deleted = try await town.send("DELETE", "/users/me", as: session)
            #expect(deleted.status == 202 && deleted.json == ["status": "deleting"])
            #expect(
                try await comes(within: .seconds(1)) {
                    try await town.send("GET", "/users/me", as: session).status == 401
                }, .time)
            #expect(try await comes { try await places(of: session, hash: hash, in: town) == [] })
            try await town.quiet()
            #expect(try await places(of: session, hash: hash, in: town).sorted() == [])

            // The trail stays whole, by a name that leads nowhere.
            #expect(
                try await town.rows(
                    .auth, "SELECT act FROM audit WHERE chain <> 'service' ORDER BY sequence DESC LIMIT 1")
                    == "account_deleted")
            #expect(try await town.rows(.auth, "SELECT count(*) FROM pseudonyms") == "0")
            #expect(try await town.rows(.recovery, "SELECT count(*) FROM audit WHERE chain LIKE 'case %'") != "0")

            // What was sent to the number goes on counting for it, as if it had been a moment ago; then it is anybody's.
            try await town.rows(
                .auth,
                """
                UPDATE challenges SET created_at = clock_timestamp() WHERE created_at > now() - interval '1 hour'
                """)
            let limited = await #expect(throws: BusError.self) { try await town.ask(SendOTP(phone: Self.phone)) }
            #expect(limited?.code == "rate_limited")
            try await town.age()
            let anew = try await town.signIn(Self.phone)
            #expect(anew.isNewUser && anew.user.id != session.user.id)
        }
    }

    @Test func isNotUndoneByWhatComesLate() async throws {
        try await Town.run { town in
            let session = try await town.signIn(Self.phone)
            let person = session.user.id
            try await town.quiet()
            #expect(try await town.send("DELETE", "/users/me", as: session).status == 202)
            try await town.quiet()
            #expect(try await comes { try await town.columns(holding: person.description) == [] })

            let auth = try town.voice(of: .auth)
            let (questionnaire, recovery) = (try town.voice(of: .questionnaire), try town.voice(of: .recovery))
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
            // A token that a gateway does not know to be over yet.
            for ask in [
                { _ = try await town.ask(GetMe(), as: session) },
                { _ = try await town.ask(GetQuestions(), as: session) },
                { _ = try await town.ask(Logout(), as: session) },
                { _ = try await town.ask(UpdateMe(fields: ["bio": "Hej"]), as: session) },
            ] as [@Loop () async throws -> Void] {
                try? await ask()
            }
            #expect(try await town.ask(DeleteAccount(), as: session).status == "deleting", "it was")
            try await town.quiet()
            #expect(try await town.columns(holding: person.description).sorted() == [])
        }
    }

    @Test func isFinishedWhenAServiceThatWasDownComesBack() async throws {
        try await Town.run { town in
            let session = try await town.settled(Self.phone)
            for service: ServiceName in [.profile, .questionnaire, .recovery] { await town.stop(service) }
            #expect(try await town.send("DELETE", "/users/me", as: session).status == 202)
            // As if it had been tried for an hour.
            try await town.rows(.auth, "UPDATE outbox SET attempts = 400, locked_until = NULL, due_at = now()")
            for service: ServiceName in [.profile, .questionnaire, .recovery] { try await town.start(service) }
            #expect(
                try await comes(within: .seconds(60)) {
                    try await town.rows(.auth, "SELECT count(*) FROM outbox") == "0"
                })
            #expect(try await town.columns(holding: session.user.id.description).sorted() == [])
        }
    }

    @Test func wantsASignInByACodeAndNoFreeze() async throws {
        try await Town.run { town in
            let session = try await town.settled(Self.phone)
            try await town.rows(.auth, "UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            let stale = try await town.send("DELETE", "/users/me", as: session)
            #expect(stale.status == 403 && stale.json["code"] == "reauthentication_required")
            try await town.rows(.auth, "UPDATE freezes SET ended_at = NULL")
            let frozen = try await town.send("DELETE", "/users/me", as: session)
            #expect(frozen.status == 409 && frozen.json["code"] == "account_frozen")
            #expect(frozen.json["retryAfterSeconds"]?.integerValue ?? 0 > 0)
            #expect(try await town.send("GET", "/users/me", as: session).status == 200)
        }
    }
}
