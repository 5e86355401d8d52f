import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService
@testable import Gateway

@Suite("suspension") struct SuspensionTests {
    private static let (phone, other) = ("+14155552671", "+14155552672")

    /// A member of the staff who signed in a moment ago.
    @Loop private static func staff(_ auth: AuthStage, _ phone: String = other, role: Role = .staff) async throws
        -> Actor
    {
        let person = try await auth.signIn(phone).user.id
        let operators = try auth.stage.asking(as: .operator)
        for name in role == "admin" ? ["anna", "ben"] : ["anna"] {
            let grant = ChangeRole(userID: person, role: role, isGranted: true, operatorName: name)
            _ = try await operators.call(grant, auth.options())
        }
        let session = try await auth.signIn(phone, push: "staff \(phone)")
        var actor = auth.actor(session)
        actor.role = role
        return actor
    }

    @Test func aSuspensionEndsSessionsAndBlocksSignInsUntilRestored() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let recorder = EventRecorder<AccountStatusChanged>()
            try auth.stage.answering(as: .profile, recorder, auth.rules, EventRecorder<AccountCreated>())
            let staff = try await Self.staff(auth)
            let linked = try await social.link("google", subject: "zoe", to: Self.phone)
            let person = linked.user.id
            let request = SuspendAccount(personId: person, note: "Åsa writes that this is her picture.")
            let suspended = try await auth.ask(request, as: staff, key: "one-key-of-16-chars")
            #expect(suspended == AccountStanding(personId: person, status: "suspended"))
            #expect(try await auth.ask(request, as: staff, key: "one-key-of-16-chars") == suspended)
            #expect(try await auth.ask(request, as: staff) == suspended, "nothing new")

            #expect(try await !auth.ask(CheckSession(sessionID: linked.sessionId)).isActive)
            #expect(
                try await auth.refusal(of: RefreshToken(refreshToken: linked.refreshToken)).code
                    == "refresh_token_invalid")
            let (challenge, code) = try await auth.code(again: Self.phone)
            let verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
            let refusal = try await auth.refusal(of: verify)
            #expect(refusal.code == "forbidden")
            #expect(refusal.detail == "This account is not available. Please contact support.")
            let viaGoogle = await #expect(throws: BusError.self) { try await social.session("google", subject: "zoe") }
            #expect(viaGoogle?.code == "forbidden" && viaGoogle?.detail == refusal.detail)
            let deletion = try await auth.refusal(of: DeleteAccount(), as: auth.actor(linked))
            #expect(deletion.code == "unauthorized")

            let restore = RestoreAccount(personId: person, note: "It is her own.")
            #expect(try await auth.ask(restore, as: staff).status == "active")
            #expect(try await auth.ask(restore, as: staff).status == "active")
            #expect(try await !auth.ask(CheckSession(sessionID: linked.sessionId)).isActive, "what ended stays ended")
            #expect(try await auth.ask(verify).user.id == person)
            #expect(try await social.session("google", subject: "zoe")?.user.id == person)

            let told = try await recorder.atLeast(2)
            #expect(told.map(\.status) == ["suspended", "active"] && Set(told.map(\.personID)) == [person])
            #expect(try await Self.acts(auth) == ["account_suspended", "account_restored"])
            let ends = try await auth.stage.rows(
                "SELECT details::jsonb ->> 'why' FROM audit WHERE act = 'session_ended' AND details LIKE '%suspended%'")
            #expect(ends == "suspended")
            // The staff member appears under a pseudonym, and neither note appears in plain text.
            let written = try await auth.stage.rows(
                "SELECT details FROM audit UNION ALL SELECT n::text FROM staff_notes n UNION ALL SELECT i::text FROM inbox i"
            )
            for text in [staff.userID.description, "Åsa", "her own"] {
                #expect(!written.contains(text) && !auth.stage.log.text.contains(text), "\(text)")
            }
            #expect(try await auth.stage.rows("SELECT count(*), count(DISTINCT staff) FROM staff_notes") == "2|1")
        }
    }

    @Loop private static func acts(_ auth: AuthStage) async throws -> [String] {
        try await auth.stage.rows(
            "SELECT act FROM audit WHERE act LIKE 'account_s%' OR act LIKE 'account_restored' ORDER BY at"
        ).split(separator: "\n").map(String.init)
    }

    @Test func aSuspensionNeedsAStaffTokenAndAnOrdinaryAccount() async throws {
        try await AuthStage.run { auth in
            let staff = try await Self.staff(auth)
            let user = try await auth.signIn(Self.phone)
            @Loop func code(
                _ person: Identifier, as actor: Actor, _ options: (inout CallOptions) -> Void = { _ in }
            ) async throws -> String {
                var call = auth.options(actor)
                options(&call)
                do {
                    return try await auth.gateway.call(SuspendAccount(personId: person, note: "n"), call).status
                } catch {
                    return error.code
                }
            }
            let boss = try await Self.staff(auth, "+14155552673", role: .admin)
            #expect(try await code(staff.userID, as: staff) == "forbidden")
            #expect(try await code(boss.userID, as: staff) == "forbidden")
            #expect(try await code(staff.userID, as: boss) == "forbidden", "an operator takes the role first")
            #expect(try await code(.random(), as: staff) == "not_found")
            #expect(try await code(staff.userID, as: auth.actor(user)) == "forbidden")
            // A gateway that was broken into says that somebody is staff.
            var pretender = auth.actor(user)
            pretender.role = "staff"
            #expect(try await code(boss.userID, as: pretender) == "unauthorized")
            #expect(try await code(user.user.id, as: staff) { $0.accessToken = nil } == "unauthorized")
            #expect(try await code(user.user.id, as: staff) { $0.accessToken = user.accessToken } == "unauthorized")
            // The token is good for some minutes more, the session and the role are not.
            try await auth.stage.rows("UPDATE accounts SET role = 'user' WHERE id = '\(staff.userID)'")
            #expect(try await code(user.user.id, as: staff) == "unauthorized")
            try await auth.stage.rows("UPDATE accounts SET role = 'staff' WHERE id = '\(staff.userID)'")
            try await auth.stage.rows("UPDATE sessions SET revoked_at = now() WHERE id = '\(staff.sessionID)'")
            #expect(try await code(user.user.id, as: staff) == "unauthorized")
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts WHERE status <> 'active'") == "0")
            #expect(try await code(user.user.id, as: boss) == "suspended")
        }
    }

    @Test func aSuspensionByASessionThatEndsMeanwhileIsRefused() async throws {
        try await AuthStage.run { auth in
            let staff = try await Self.staff(auth)
            let person = try await auth.signIn(Self.phone).user.id
            let refusal = try await auth.stage.containers[0].database.transaction { transaction in
                AccountStore.lock(person, in: transaction)
                _ = try await transaction.query("SELECT 1 AS one")
                let refusal = Loop.spawn {
                    await #expect(throws: BusError.self) {
                        try await patiently {
                            try await auth.ask(SuspendAccount(personId: person, note: "n"), as: staff)
                        }
                    }
                }
                #expect(try await auth.isWaited(for: transaction))
                transaction.send(
                    "UPDATE sessions SET revoked_at = clock_timestamp() WHERE id = $1", [.uuid(staff.sessionID)])
                return refusal
            }
            #expect(try await refusal.value?.code == "unauthorized")
            #expect(try await auth.stage.rows("SELECT count(*) FROM accounts WHERE status <> 'active'") == "0")
        }
    }

    @Test func staffFindsAPersonByNumberOrIdAndLeavesATrace() async throws {
        try await AuthStage.run { auth in
            let staff = try await Self.staff(auth)
            let person = try await auth.signIn(Self.phone).user.id
            for request in [FindPerson(phone: "+1 (415) 555-2671"), FindPerson(id: person)] {
                let found = try await auth.ask(request, as: staff).people
                #expect(
                    found.map(\.personId) == [person] && found.first?.status == "active" && found.first?.role == "user")
            }
            for request in [FindPerson(phone: "+14155552679"), FindPerson(id: .random())] {
                #expect(try await auth.ask(request, as: staff).people.isEmpty)
            }
            for request in [FindPerson(), FindPerson(phone: Self.phone, id: person)] {
                #expect(try await auth.refusal(of: request, as: staff).code == "validation_failed")
            }
            var user = auth.actor(try await auth.signIn("+14155552673"))
            #expect(try await auth.refusal(of: FindPerson(id: person), as: user).code == "forbidden")
            user.role = "staff"
            #expect(try await auth.refusal(of: FindPerson(id: person), as: user).code == "unauthorized")
            // The search is in the trail of the person who was found, without the number.
            let rows = try await auth.stage.rows(
                "SELECT chain = 'service', details::jsonb ->> 'with' FROM audit WHERE act = 'person_searched' ORDER BY at"
            )
            #expect(rows.split(separator: "\n") == ["f|phone", "f|id", "t|phone", "t|id"])
            let details = try await auth.stage.rows("SELECT details FROM audit WHERE act = 'person_searched'")
            #expect(!details.contains("415") && !details.contains(staff.userID.description))
        }
    }

    @Test func anOperatorSuspendsAndRestoresByName() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let operators = try auth.stage.asking(as: .operator)
            @Loop func change(_ person: Identifier, _ isSuspended: Bool) async throws -> String {
                let request = ChangeStandingAsOperator(
                    personId: person, isSuspended: isSuspended, note: "By a court's order.", operatorName: "anna")
                return try await operators.call(request, auth.options()).status
            }
            #expect(try await change(session.user.id, true) == "suspended")
            #expect(try await !auth.ask(CheckSession(sessionID: session.sessionId)).isActive)
            #expect(try await change(session.user.id, false) == "active")
            let staff = try await Self.staff(auth)
            let error = await #expect(throws: BusError.self) { _ = try await change(staff.userID, true) }
            #expect(error?.code == "forbidden", "the role goes first")
            let names = try await auth.stage.rows(
                "SELECT details::jsonb ->> 'by' FROM audit WHERE act IN ('account_suspended', 'account_restored')")
            #expect(names.split(separator: "\n") == ["operator anna", "operator anna"])
        }
    }

    /// A sign-in or renewal at the same moment leaves no active session, on any replica.
    @Test func noSessionOutlivesAConcurrentSuspension() async throws {
        try await SocialStage.run(replicas: 2) { social in
            let auth = social.auth
            let staff = try await Self.staff(auth)
            let first = try await social.link("google", subject: "zoe", to: Self.phone)
            let person = first.user.id
            for _ in 0..<Rounds.count(4, prove: 40) {
                // Beyond what a phone may ask for in a day.
                try await auth.age("1 day")
                let (challenge, code) = try await auth.code(for: Self.phone)
                guard let linked = try await social.session("google", subject: "zoe") else { return }
                let verify = VerifyOTP(challengeId: challenge, code: code, device: AuthStage.device)
                let waysIn: [@Loop @Sendable () async throws -> Void] = [
                    { _ = try await auth.ask(verify) },
                    { _ = try await social.session("google", subject: "zoe") },
                    { _ = try await auth.ask(RefreshToken(refreshToken: linked.refreshToken)) },
                    { _ = try await auth.ask(SuspendAccount(personId: person, note: "n"), as: staff) },
                    { _ = try await social.session("google", subject: "zoe") },
                ]
                let tasks = waysIn.shuffled().map { way in Loop.spawn { try? await way() } }
                for task in tasks { _ = try await task.value }
                #expect(
                    try await auth.stage.rows("SELECT status FROM accounts WHERE id = '\(person)'") == "suspended")
                #expect(
                    try await auth.stage.rows(
                        "SELECT count(*) FROM sessions WHERE person_id = '\(person)' AND revoked_at IS NULL") == "0")
                _ = try await auth.ask(RestoreAccount(personId: person, note: "n"), as: staff)
            }
        }
    }

    /// Through the public API: staff asks one gateway, and the person's token is over at all of them.
    @Test func everyGatewayRefusesASuspendedPersonsToken() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let gateways = try await Gateways(3, before: auth)
            let staff = try await Self.staff(auth)
            let token = try #require(auth.options(staff).accessToken)
            let user = try await auth.signIn(Self.phone)
            for gateway in gateways.all {
                let answer = try await Gateways.get("/auth/sessions", at: gateway, token: user.accessToken)
                #expect(answer.status == 200)
            }
            let path = "/admin/users/\(user.user.id)/suspend"
            let body = #"{"note":"Three complaints"}"#
            @Loop func post(_ token: String) async throws -> Exchange {
                try await Exchange(
                    port: gateways.all[0].boundPort,
                    request:
                        "POST \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
            let refused = try await post(user.accessToken)
            #expect(refused.status == 403 && refused.json["code"] == "forbidden")
            let suspended = try await post(token)
            #expect(suspended.status == 200 && suspended.json["status"] == "suspended")
            for gateway in gateways.all {
                let isOver = try await eventually {
                    try await Gateways.get("/auth/sessions", at: gateway, token: user.accessToken).json["code"]
                        == "token_revoked"
                }
                #expect(isOver)
            }
            await gateways.close()
        }
    }
}
