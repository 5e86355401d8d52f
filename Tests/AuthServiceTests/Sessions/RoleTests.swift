import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("role policy") struct RolePolicyTests {
    private static let opened = Timestamp("2026-02-20T09:00:00Z")!

    @Test(
        "a role lasts eight hours in a session of a linked identity",
        arguments: [
            ("user", true, 0, "user", 900), ("staff", true, 0, "staff", 900), ("admin", true, 0, "admin", 900),
            ("staff", false, 0, "user", 900), ("admin", false, 60, "user", 900),
            ("staff", true, 28_800 - 900, "staff", 900), ("staff", true, 28_800 - 899, "staff", 899),
            ("staff", true, 28_799, "staff", 1), ("staff", true, 28_800, "user", 900),
            ("admin", true, 90_000, "user", 900),
        ] as [(Role, Bool, Int64, Role, Int64)])
    func grant(role: Role, hasIdentity: Bool, age: Int64, worth: Role, lifetime: Int64) {
        let now = Self.opened + .seconds(age)
        let grant = RolePolicy(isLax: false).grant(role, hasIdentity: hasIdentity, openedAt: Self.opened, now: now)
        #expect(grant == RolePolicy.Grant(role: worth, lifetime: lifetime))
        let lax = RolePolicy(isLax: true).grant(role, hasIdentity: hasIdentity, openedAt: Self.opened, now: now)
        #expect(lax == RolePolicy.Grant(role: role, lifetime: 900))
    }

    @Test(
        "one operator gives and takes staff, two give and take admin",
        arguments: [
            ("user", "staff", true, .become("staff")), ("staff", "staff", true, .unchanged),
            ("admin", "staff", true, .unchanged), ("staff", "staff", false, .become("user")),
            ("user", "staff", false, .unchanged), ("admin", "staff", false, .unchanged),
            ("user", "admin", true, .propose), ("staff", "admin", true, .propose), ("admin", "admin", true, .unchanged),
            ("admin", "admin", false, .propose), ("staff", "admin", false, .unchanged),
        ] as [(Role, Role, Bool, RoleChange.Decision)])
    func alone(held: Role, role: Role, isGranted: Bool, decision: RoleChange.Decision) {
        for needsOtherKey in [true, false] {
            let requester = RoleChange.Operator(name: "anna", key: "one")
            func decide(after proposer: RoleChange.Operator?) -> RoleChange.Decision {
                RoleChange.decide(
                    held: held, role: role, isGranted: isGranted, by: requester, proposer: proposer,
                    needsOtherKey: needsOtherKey)
            }
            #expect(decide(after: nil) == decision)
            #expect(decide(after: requester) == decision, "saying it twice is not two operators")
            #expect(decide(after: .init(name: "anna", key: "two")) == decision, "nor is a second key")
            let done: RoleChange.Decision = decision == .propose ? .become(isGranted ? .admin : .user) : decision
            #expect(decide(after: .init(name: "ben", key: "one")) == (needsOtherKey ? decision : done))
            #expect(decide(after: .init(name: "ben", key: "two")) == done)
        }
    }
}

@Suite("roles") struct RoleTests {
    private static let phone = "+14155552671"

    @Loop private func change(
        _ person: Identifier, _ role: Role, _ isGranted: Bool, by name: String, _ auth: AuthStage
    ) async throws -> String {
        let request = ChangeRole(userID: person, role: role, isGranted: isGranted, operatorName: name)
        return try await auth.stage.asking(as: .operator).call(request, auth.options()).status
    }

    /// What an access token says of its bearer, and for how many seconds.
    private func claims(_ session: Session) throws -> (role: String?, seconds: Int64) {
        let parts = session.accessToken.split(separator: ".")
        let claims = try JSONValue.parse(try #require(Base64URL.decode(String(parts[1]))))
        let seconds = try #require(claims["exp"]?.integerValue) - (try #require(claims["iat"]?.integerValue))
        #expect(seconds == session.expiresInSeconds)
        return (claims["role"]?.stringValue, seconds)
    }

    @Test func everyChangeIsWrittenDownWithItsOperator() async throws {
        try await AuthStage.run { auth in
            let person = try await auth.signIn(Self.phone).user.id
            #expect(try await change(person, "staff", true, by: "anna", auth) == "changed")
            #expect(try await change(person, "staff", true, by: "anna", auth) == "unchanged")
            #expect(try await change(person, "admin", true, by: "anna", auth) == "awaiting_second_operator")
            #expect(try await change(person, "admin", true, by: "anna", auth) == "awaiting_second_operator")
            #expect(try await change(person, "admin", true, by: "ben", auth) == "changed")
            #expect(try await change(person, "admin", false, by: "cleo", auth) == "awaiting_second_operator")
            #expect(try await change(person, "admin", false, by: "anna", auth) == "changed")
            let acts = try await auth.stage.rows(
                "SELECT act || ' ' || details FROM audit WHERE act LIKE 'role%' ORDER BY sequence")
            #expect(
                acts.split(separator: "\n").map(String.init) == [
                    #"role_granted {"operator":"anna","role":"staff"}"#,
                    #"role_grant_proposed {"operator":"anna","role":"admin"}"#,
                    #"role_granted {"operator":"ben","proposedBy":"anna","role":"admin"}"#,
                    #"role_revocation_proposed {"operator":"cleo","role":"admin"}"#,
                    #"role_revoked {"operator":"anna","proposedBy":"cleo","role":"admin"}"#,
                ])
            #expect(try await auth.stage.rows("SELECT count(*) FROM role_proposals") == "0")
        }
    }

    @Test func oneOperatorsProposalExpiresAfterADay() async throws {
        try await AuthStage.run { auth in
            let person = try await auth.signIn(Self.phone).user.id
            #expect(try await change(person, "admin", true, by: "anna", auth) == "awaiting_second_operator")
            try await auth.stage.rows("UPDATE role_proposals SET until = until - interval '1 day'")
            #expect(try await change(person, "admin", true, by: "ben", auth) == "awaiting_second_operator")
            let list = try await auth.stage.asking(as: .operator).call(ListRoles(), auth.options())
            #expect(list.people == [] && list.awaiting.map(\.operatorName) == ["ben"])
            #expect(try await change(person, "admin", true, by: "anna", auth) == "changed")
        }
    }

    /// When several operators ask at once on two replicas, the role changes once.
    @Test func concurrentOperatorsMakeOneChange() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let person = try await auth.signIn(Self.phone).user.id
            let bus = try auth.stage.asking(as: .operator)
            let asked = (0..<8).map { number in
                Loop.spawn {
                    let request = ChangeRole(
                        userID: person, role: .admin, isGranted: true, operatorName: "operator-\(number)")
                    return try await patiently { try await bus.call(request, auth.options()).status }
                }
            }
            var answers: [String: Int] = [:]
            for task in asked { answers[try await task.value, default: 0] += 1 }
            #expect(answers == ["awaiting_second_operator": 1, "changed": 1, "unchanged": 6])
            #expect(try await auth.stage.rows("SELECT count(*) FROM audit WHERE act = 'role_granted'") == "1")
        }
    }

    /// Outside development, a linked identity grants the role. Whoever reads the SMS of the number could link their own.
    @Test func aCodeThatLinksAnIdentityDropsTheRole() async throws {
        try await SocialStage.run { social in
            let auth = social.auth
            let first = try await auth.signIn(Self.phone)
            #expect(try await change(first.user.id, "staff", true, by: "anna", auth) == "changed")
            let linked = try await social.link("google", subject: "1", to: Self.phone)
            #expect(linked.user.id == first.user.id)
            #expect(try await auth.stage.rows("SELECT role FROM accounts") == "user")
            #expect(try claims(linked) == ("user", 900))
            #expect(try await auth.ask(CheckSession(sessionID: linked.sessionId)).isActive)
            #expect(try await !auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
            let acts = try await auth.stage.rows("SELECT details FROM audit WHERE act = 'role_dropped'")
            #expect(acts == #"{"role":"staff","why":"identity_linked"}"#)
        }
    }

    @Test func onlyAnOperatorChangesRoles() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            let request = ChangeRole(userID: session.user.id, role: .staff, isGranted: true, operatorName: "anna")
            for caller in [ServiceName.gateway, .recovery, .profile] {
                let bus = try auth.stage.asking(as: caller)
                let error = await #expect(throws: BusError.self) {
                    try await bus.call(request, auth.options(auth.actor(session)))
                }
                #expect(error?.code == "caller_not_allowed")
            }
            #expect(try await auth.stage.rows("SELECT role FROM accounts") == "user")
        }
    }

    /// Outside of the development profile.
    @Test func staffActsInASessionOfALinkedIdentityOnly() async throws {
        let staging = ["VESTIBULE_PROFILE": "staging", "AUTH_SMS_COUNTRIES": "US"]
        try await AuthStage.run(environment: staging) { auth in
            let person = try await auth.signIn(Self.phone).user.id
            #expect(try await change(person, "staff", true, by: "anna", auth) == "changed")
            #expect(try await change(person, "admin", true, by: "anna", auth) == "awaiting_second_operator")
            #expect(
                try await change(person, "admin", true, by: "ben", auth) == "awaiting_second_operator",
                "two names and one key are one operator")
            let plain = try await auth.signIn(Self.phone, push: "token")
            #expect(try claims(plain) == ("user", 900), "a code opened it")
            let renewedPlain = try await auth.ask(RefreshToken(refreshToken: plain.refreshToken))
            #expect(try claims(renewedPlain) == ("user", 900))
            // Pretend that Google opened it. The tests have no HTTPS server in Google's place.
            try await auth.stage.rows("UPDATE sessions SET opened_by = 'google' WHERE id = '\(plain.sessionId)'")
            let shift = try await auth.ask(RefreshToken(refreshToken: renewedPlain.refreshToken))
            #expect(try claims(shift) == ("staff", 900))
            try await auth.stage.rows(
                "UPDATE sessions SET created_at = now() - interval '7 hours 55 minutes' WHERE id = '\(plain.sessionId)'"
            )
            let last = try await auth.ask(RefreshToken(refreshToken: shift.refreshToken))
            let end = try claims(last)
            #expect(end.role == "staff" && (240...300).contains(end.seconds), "\(end)")
            try await auth.stage.rows("UPDATE sessions SET created_at = created_at - interval '5 minutes'")
            let over = try await auth.ask(RefreshToken(refreshToken: last.refreshToken))
            #expect(try claims(over) == ("user", 900))
        }
    }
}
