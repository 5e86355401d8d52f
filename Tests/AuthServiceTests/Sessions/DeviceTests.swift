import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("devices of an account") struct DeviceTests {
    private static let phone = "+14155552671"

    /// A push whose result could not be noted is sent again with the same id, and counts once.
    private static func tokens(_ auth: AuthStage, of kind: String) -> [String] {
        let pushes = auth.spool.pushes().filter { $0["data"]?["kind"]?.stringValue == kind }
        let tokens = pushes.map { ($0["id"]?.stringValue, $0["pushToken"]?.stringValue) }
        return Dictionary(tokens) { first, _ in first }.values.compactMap { $0 }.sorted()
    }

    /// Nothing is on its way any more.
    @Loop private static func waitUntilPushed(_ auth: AuthStage) async throws {
        let left = "SELECT count(*) FROM outbox WHERE destination = 'push'"
        #expect(try await eventually { try await auth.stage.rows(left) == "0" })
    }

    @Loop private static func sweep(_ auth: AuthStage) async throws {
        let container = auth.stage.containers[0]
        try await Housekeeping.run(container.database, audit: container.audit)
    }

    @Test func removingADeviceEndsItsSessionsAndNotifiesAll() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone, push: "t1")
            let second = try await auth.signIn(Self.phone, push: "t2")
            let remove = RemoveDevice(deviceId: first.deviceId)
            _ = try await auth.ask(remove, as: auth.actor(second))
            #expect(try await !auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
            #expect(try await auth.ask(CheckSession(sessionID: second.sessionId)).isActive)
            let revoked = try await auth.ask(FollowRevocations(waitMs: 0)).revocations.map(\.sessionID)
            #expect(revoked == [first.sessionId])
            let devices = try await auth.ask(ListDevices(), as: auth.actor(second)).devices
            #expect(devices.map(\.id) == [second.deviceId])
            #expect(try await eventually { Self.tokens(auth, of: "device_removed") == ["t1", "t2"] })
            let body = auth.spool.pushes().last { $0["data"]?["kind"] == "device_removed" }?["body"]?.stringValue
            #expect(body?.hasPrefix("An Android device was removed from your Vestibule account on ") == true)
            // Once more is the same, and told no more.
            _ = try await auth.ask(remove, as: auth.actor(second))
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "device_removed") == ["t1", "t2"])
            let change = PutDevice(deviceId: first.deviceId, name: "x", platform: "ios")
            #expect(try await auth.refusal(of: change, as: auth.actor(second)).code == "not_found")
        }
    }

    @Test func aRemovedDevicesSecretProvesNothing() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone, push: "t1")
            // One's own needs no fresh sign-in.
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '1 hour'")
            _ = try await auth.ask(RemoveDevice(deviceId: first.deviceId), as: auth.actor(first))
            #expect(try await !auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
            let (challenge, code) = try await auth.code(again: Self.phone)
            let claim = DeviceClaim(
                id: first.deviceId, secret: first.deviceSecret, name: "Pixel 9", platform: "android")
            let again = try await auth.ask(VerifyOTP(challengeId: challenge, code: code, device: claim))
            #expect(again.deviceId != first.deviceId && again.deviceSecret != nil && again.user.id == first.user.id)
            // The removed device does not count as a device of the account when it asks for codes either.
            let proof = SendOTP.Proof(id: first.deviceId, secret: try #require(first.deviceSecret))
            try await auth.age("2 minutes")
            _ = try await auth.code(for: Self.phone, by: proof)
            #expect(
                try await auth.stage.rows("SELECT count(*) FROM challenges WHERE starts_with(asker, 'device ')") == "0")
        }
    }

    @Test func changingAnotherDeviceNeedsAFreshSignInAndNotifiesAll() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(Self.phone, push: "t1")
            let second = try await auth.signIn(Self.phone, push: "t2")
            let change = PutDevice(deviceId: first.deviceId, name: "Mine", platform: "android")
            _ = try await auth.ask(change, as: auth.actor(second))
            #expect(try await eventually { Self.tokens(auth, of: "device_changed") == ["t1", "t2"] })
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '301 s'")
            let actor = auth.actor(second)
            #expect(try await auth.refusal(of: change, as: actor).code == "reauthentication_required")
            let remove = RemoveDevice(deviceId: first.deviceId)
            #expect(try await auth.refusal(of: remove, as: actor).code == "reauthentication_required")
            // One's own is changed at any time, and is no news.
            _ = try await auth.ask(change, as: auth.actor(first))
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "device_changed") == ["t1", "t2"])
            // Another person's is none.
            let stranger = try await auth.signIn("+14155552672", push: "t3")
            #expect(try await auth.refusal(of: remove, as: auth.actor(stranger)).code == "not_found")
            #expect(try await auth.ask(CheckSession(sessionID: first.sessionId)).isActive)
        }
    }

    @Test func removedDevicesAndReplacedTokensAreToldOfRecoveriesFor30Days() async throws {
        try await AuthStage.run { auth in
            let removed = try await auth.signIn(Self.phone, push: "removed")
            let kept = try await auth.signIn(Self.phone, push: "replaced")
            _ = try await auth.ask(RemoveDevice(deviceId: removed.deviceId), as: auth.actor(kept))
            let change = PutDevice(deviceId: kept.deviceId, name: "x", platform: "ios", pushToken: "current")
            _ = try await auth.ask(change, as: auth.actor(kept))
            try await Self.waitUntilPushed(auth)
            try await auth.notify(kept, "recovery_requested", sequence: 1)
            try await auth.notify(kept, "something_else", sequence: 2)
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "recovery_requested") == ["current", "removed", "replaced"])
            #expect(Self.tokens(auth, of: "something_else") == ["current"])

            try await auth.stage.rows(
                """
                UPDATE devices SET removed_at = removed_at - interval '30 days 1 s';
                UPDATE replaced_push_tokens SET replaced_at = replaced_at - interval '30 days 1 s'
                """)
            try await auth.notify(kept, "recovery_disputed", sequence: 3)
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "recovery_disputed") == ["current"])
            // The sessions of what is removed go first.
            let rows = "SELECT (SELECT count(*) FROM devices), (SELECT count(*) FROM replaced_push_tokens)"
            try await Self.sweep(auth)
            #expect(try await auth.stage.rows(rows) == "2|0")
            try await auth.stage.rows("UPDATE sessions SET revoked_at = revoked_at - interval '25 hours'")
            try await Self.sweep(auth)
            try await Self.sweep(auth)
            #expect(try await auth.stage.rows(rows) == "1|0")
        }
    }

    /// The bus repeats a message whose answer was lost. Meanwhile the app got another push token.
    @Test func aChangeThatIsSentAgainBringsNoOldPushTokenBack() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone, push: "first")
            func change(_ token: String) -> PutDevice {
                PutDevice(deviceId: session.deviceId, name: "x", platform: "ios", pushToken: token)
            }
            let options = auth.options(auth.actor(session))
            _ = try await auth.gateway.call(change("second"), options)
            _ = try await auth.ask(change("third"), as: auth.actor(session))
            _ = try await auth.gateway.call(change("second"), options)
            try await auth.notify(session, "something_else", sequence: 1)
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "something_else") == ["third"])
        }
    }

    @Test func nothingYoungerThan30DaysIsSwept() async throws {
        try await AuthStage.run { auth in
            let removed = try await auth.signIn(Self.phone, push: "removed")
            let kept = try await auth.signIn(Self.phone, push: "replaced")
            _ = try await auth.ask(RemoveDevice(deviceId: removed.deviceId), as: auth.actor(kept))
            let change = PutDevice(deviceId: kept.deviceId, name: "x", platform: "ios", pushToken: "current")
            _ = try await auth.ask(change, as: auth.actor(kept))
            try await auth.stage.rows(
                """
                UPDATE devices SET removed_at = removed_at - interval '29 days';
                UPDATE replaced_push_tokens SET replaced_at = replaced_at - interval '29 days';
                UPDATE sessions SET revoked_at = revoked_at - interval '25 hours'
                """)
            for _ in 0..<3 { try await Self.sweep(auth) }
            let rows = "SELECT (SELECT count(*) FROM devices), (SELECT count(*) FROM replaced_push_tokens)"
            #expect(try await auth.stage.rows(rows) == "2|1")
        }
    }

    @Test func aTokenIsReplacedAtASignInTooAndTheFirstOnesAreKept() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone, push: "t0")
            let (challenge, code) = try await auth.code(again: Self.phone)
            let claim = DeviceClaim(
                id: session.deviceId, secret: session.deviceSecret, name: "x", platform: "ios", pushToken: "t1")
            _ = try await auth.ask(VerifyOTP(challengeId: challenge, code: code, device: claim))
            // Replacing the token again and again does not push out the first ones.
            for number in 2...9 {
                let change = PutDevice(deviceId: session.deviceId, name: "x", platform: "ios", pushToken: "t\(number)")
                // The second request has the same token.
                for _ in 0..<2 { _ = try await auth.ask(change, as: auth.actor(session)) }
            }
            try await auth.notify(session, "recovery_requested", sequence: 1)
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "recovery_requested") == ["t0", "t1", "t2", "t3", "t4", "t9"])
        }
    }

    @Test func aDeviceCanClearItsPushToken() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone, push: "t0")
            let kept = PutDevice(deviceId: session.deviceId, name: "x", platform: "ios")
            #expect(try await auth.ask(kept, as: auth.actor(session)).push == "ok")
            let cleared = PutDevice(deviceId: session.deviceId, name: "x", platform: "ios", clearPushToken: true)
            for _ in 0..<2 {
                let device = try await auth.ask(cleared, as: auth.actor(session))
                #expect(device.push == "none" && !device.hasPushToken)
            }
            try await auth.notify(session, "news", sequence: 1)
            try await auth.notify(session, "recovery_requested", sequence: 2)
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "news").isEmpty)
            #expect(Self.tokens(auth, of: "recovery_requested") == ["t0"], "an owner cannot be silenced by it")
        }
    }

    @Test func aReturningPushTokenIsNotifiedOnce() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone, push: "a")
            for token in ["b", "a"] {
                let change = PutDevice(deviceId: session.deviceId, name: "x", platform: "ios", pushToken: token)
                _ = try await auth.ask(change, as: auth.actor(session))
            }
            // The same phone, whose app lost what it knew.
            _ = try await auth.signIn(Self.phone, push: "a")
            try await Self.waitUntilPushed(auth)
            try await auth.notify(session, "recovery_requested", sequence: 1)
            try await Self.waitUntilPushed(auth)
            #expect(Self.tokens(auth, of: "recovery_requested") == ["a", "b"])
        }
    }

    @Test func aPushTokenCanServeDevicesOfTwoAccounts() async throws {
        try await AuthStage.run { auth in
            let owner = try await auth.signIn(Self.phone, push: "shared")
            let newcomer = try await auth.signIn("+14155552672", push: "shared")
            #expect(newcomer.user.id != owner.user.id)
            for session in [owner, newcomer] { try await auth.notify(session, "recovery_requested", sequence: 1) }
            try await Self.waitUntilPushed(auth)
            let pushes = auth.spool.pushes()
            #expect(pushes.allSatisfy { $0["pushToken"] == "shared" })
            #expect(
                Set(pushes.compactMap { $0["userId"]?.stringValue })
                    == [owner.user.id.description, newcomer.user.id.description])
            // The newcomer gives it up, and the owner keeps it.
            _ = try await auth.ask(RemoveDevice(deviceId: newcomer.deviceId), as: auth.actor(newcomer))
            #expect(try await auth.ask(ListDevices(), as: auth.actor(owner)).devices.map(\.push) == ["ok"])
            try await auth.notify(owner, "news", sequence: 2)
            #expect(try await eventually { Self.tokens(auth, of: "news") == ["shared"] })
        }
    }

    @Test func aDeviceWithoutATokenHasPushNone() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(Self.phone)
            #expect(try await auth.ask(ListDevices(), as: auth.actor(session)).devices.map(\.push) == ["none"])
        }
    }
}
