import BusProtocol
import EventLoop
import HTTPServer
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("pushes through the service") struct PushDeliveryTests {
    private static let phone = "+14155552671"

    /// Auth with FCM's stand-in behind it, and a recovery that hears what became of pushes.
    private static func run(
        _ push: @escaping @Loop @Sendable (_ token: String) -> ProviderServer.Manner,
        _ body:
            @escaping @Loop @Sendable (AuthStage, ProviderServer, EventRecorder<NotificationDelivered>) async throws ->
            Void
    ) async throws {
        let server = try await ProviderServer(GoogleServer.manner(push))
        let variables = try await [
            "PUSH_PROVIDER": "fcm", "PUSH_FCM_URL": server.url,
            "PUSH_FCM_SERVICE_ACCOUNT": GoogleServer.account(at: server.url),
        ]
        try await AuthStage.run(environment: variables) { auth in
            let recorder = EventRecorder<NotificationDelivered>()
            try auth.stage.answering(as: .recovery, recorder)
            try await body(auth, server, recorder)
            // Auth waits for who hangs before it stops.
            await server.stop()
        }
        await server.stop()
    }

    @Loop private static func sent(_ server: ProviderServer) -> [String] {
        server.requests.compactMap { GoogleServer.token(in: $0) }
    }

    private static func isLeft(_ auth: AuthStage) async throws -> Bool {
        try await auth.stage.rows("SELECT count(*) FROM outbox WHERE destination = 'push'") != "0"
    }

    @Test(
        "a dead token is marked, and not asked for again",
        arguments: [(404, GoogleServer.unregistered), (400, GoogleServer.invalidToken)])
    func deadToken(status: Int, body: String) async throws {
        let dead = ProviderServer.Manner.answers(status: status, body: body)
        try await Self.run({ $0 == "dead" ? dead : GoogleServer.taken }) { auth, server, recorder in
            let first = try await auth.signIn(Self.phone, push: "dead")
            let second = try await auth.signIn(Self.phone, push: "alive")
            // The second sign-in was pushed to the first device.
            let told = try await recorder.atLeast(1)
            #expect(told.map(\.outcome) == ["failed"] && told.map(\.deviceID) == [first.deviceId])
            let devices = try await auth.ask(ListDevices(), as: auth.actor(second)).devices
            #expect(devices.map(\.push) == ["ok", "expired"] && devices.allSatisfy { $0.hasPushToken })
            try await auth.notify(first, "recovery_requested", sequence: 1)
            let outcomes = try await recorder.atLeast(2)
            #expect(outcomes[1].outcome == "delivered" && outcomes[1].deviceID == second.deviceId)
            #expect(Self.sent(server) == ["dead", "alive"])
            #expect(try await eventually { try await !Self.isLeft(auth) })

            // A new one from the device clears the mark.
            let put = PutDevice(deviceId: first.deviceId, name: "Pixel 9", platform: "android", pushToken: "new")
            #expect(try await auth.ask(put, as: auth.actor(first)).push == "ok")
            try await auth.notify(first, "recovery_requested", sequence: 2)
            _ = try await recorder.atLeast(4)
            #expect(Self.sent(server).dropFirst(2).sorted() == ["alive", "new"])
            #expect(!auth.stage.log.text.contains("alive"))
        }
    }

    @Test func aDeadTokenDoesNotMarkItsReplacement() async throws {
        try await Self.run({ _ in .answers(status: 503, body: "") }) { auth, server, recorder in
            let first = try await auth.signIn(Self.phone, push: "old")
            _ = try await auth.signIn(Self.phone, push: "other")
            #expect(try await eventually { Self.sent(server) == ["old"] })
            let put = PutDevice(deviceId: first.deviceId, name: "Pixel 9", platform: "android", pushToken: "new")
            _ = try await auth.ask(put, as: auth.actor(first))
            server.manner = GoogleServer.manner { _ in .answers(status: 404, body: GoogleServer.unregistered) }
            // A push that was queued before still goes to the old token.
            #expect(try await recorder.atLeast(1).map(\.outcome) == ["failed"])
            #expect(Set(Self.sent(server)) == ["old"])
            let devices = try await auth.ask(ListDevices(), as: auth.actor(first)).devices
            #expect(devices.allSatisfy { $0.push == "ok" })
        }
    }

    @Test(.timed) func aHangingPushProviderDelaysNoCode() async throws {
        try await Self.run({ $0 == "hung" ? .hangs : GoogleServer.taken }) { auth, server, recorder in
            let session = try await auth.signIn(Self.phone, push: "t0")
            // More than a relay has in hand at once.
            let container = auth.stage.containers[0]
            try await container.database.transaction { transaction in
                for _ in 0..<40 {
                    let push = PushMessage(
                        notificationID: .ordered(), personID: session.user.id, deviceID: session.deviceId,
                        token: "hung", title: "t", body: "b", data: [:])
                    container.outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
                }
            }
            #expect(try await eventually { Self.sent(server).count == 32 })
            let start = ContinuousClock.now
            _ = try await auth.code(for: "+14155552672")
            // Less than they hang.
            #expect(ContinuousClock.now - start < .seconds(3), .time)
            #expect(Self.sent(server).count == 32, .time("all of them still hang"))
        }
    }

    @Test func oneDevicesSlowPushDelaysNoOtherPush() async throws {
        try await Self.run({ $0 == "hung" ? .hangs : GoogleServer.taken }) { auth, server, recorder in
            let first = try await auth.signIn(Self.phone, push: "hung")
            let second = try await auth.signIn(Self.phone, push: "t2")
            #expect(try await eventually { Self.sent(server) == ["hung"] })
            for sequence in 1...3 { try await auth.notify(first, "recovery_requested", sequence: Int64(sequence)) }
            let told = try await recorder.atLeast(3)
            #expect(told.allSatisfy { $0.deviceID == second.deviceId && $0.outcome == "delivered" })
            #expect(try await auth.stage.rows("SELECT max(attempts) FROM outbox WHERE destination = 'push'") == "1")
        }
    }

    @Test("a provider's Retry-After is honoured, for that push alone", arguments: [429, 503])
    func retryAfter(status: Int) async throws {
        let later = ProviderServer.Manner.answers(status: status, body: "", headers: ["Retry-After": "120"])
        try await Self.run({ $0 == "busy" ? later : GoogleServer.taken }) { auth, server, recorder in
            let first = try await auth.signIn(Self.phone, push: "busy")
            let second = try await auth.signIn(Self.phone, push: "t2")
            let postponed =
                "SELECT count(*) FROM outbox WHERE destination = 'push' AND due_at > now() + interval '110 s'"
            #expect(try await eventually { try await auth.stage.rows(postponed) == "1" })
            try await auth.notify(first, "other", sequence: 1)
            #expect(try await recorder.atLeast(1).map(\.deviceID) == [second.deviceId])
            #expect(auth.stage.log.text.contains("http_\(status)"))
            // An attempt that is still under way would be postponed after its time was changed below.
            #expect(try await eventually { try await auth.stage.rows(postponed) == "2" })
            // When its time has come it goes.
            server.manner = GoogleServer.takesAll
            try await auth.stage.rows("UPDATE outbox SET due_at = now() WHERE destination = 'push'")
            #expect(try await recorder.atLeast(3).allSatisfy { $0.outcome == "delivered" })
            #expect(try await eventually { try await !Self.isLeft(auth) })
        }
    }

    @Test func aFinallyFailedPushIsReportedAndLeavesNoRow() async throws {
        try await Self.run({ _ in .answers(status: 500, body: "") }) { auth, _, recorder in
            let first = try await auth.signIn(Self.phone, push: "t1")
            _ = try await auth.signIn(Self.phone, push: "t2")
            // The last attempt comes at once instead of after two hours.
            let last =
                "UPDATE outbox SET attempts = 9, due_at = now() WHERE destination = 'push' AND locked_until IS NULL"
            #expect(
                try await eventually {
                    try await auth.stage.rows(last)
                    return !recorder.heard.isEmpty
                })
            #expect(recorder.heard.map(\.outcome) == ["failed"] && recorder.heard.map(\.deviceID) == [first.deviceId])
            #expect(try await eventually { try await !Self.isLeft(auth) })
            #expect(auth.stage.log.text.contains("push_given_up"))
            #expect(!auth.stage.log.text.contains("dead_letter"))
        }
    }

    @Test func a410OfAWebhookMarksTheDevice() async throws {
        let server = try await ProviderServer(.answers(status: 410, body: ""))
        let variables = await [
            "PUSH_PROVIDER": "webhook", "PUSH_WEBHOOK_URL": server.url,
            "PUSH_WEBHOOK_KEY": "a key that only the test has, 32+",
        ]
        try await AuthStage.run(environment: variables) { auth in
            let recorder = EventRecorder<NotificationDelivered>()
            try auth.stage.answering(as: .recovery, recorder)
            let first = try await auth.signIn(Self.phone, push: "t1")
            _ = try await auth.signIn(Self.phone, push: "t2")
            #expect(try await recorder.atLeast(1).map(\.outcome) == ["failed"])
            let devices = try await auth.ask(ListDevices(), as: auth.actor(first)).devices
            #expect(devices.map(\.push) == ["ok", "expired"])
        }
        await server.stop()
    }

    @Test func aPushOfThePreviousReleaseGoesToTheDevicesToken() async throws {
        try await Self.run({ _ in GoogleServer.taken }) { auth, server, recorder in
            let session = try await auth.signIn(Self.phone, push: "t1")
            let container = auth.stage.containers[0]
            try await container.database.transaction { transaction in
                for device in [session.deviceId, .ordered()] {
                    let push: JSONValue = [
                        "notificationID": .string(Identifier.ordered().description),
                        "personID": .string(session.user.id.description), "deviceID": .string(device.description),
                        "title": "t", "body": "b", "data": [:],
                    ]
                    container.outbox.enqueue("push", payload: CanonicalJSON.bytes(of: push), in: transaction)
                }
            }
            #expect(try await Set(recorder.atLeast(2).map(\.outcome)) == ["delivered", "failed"])
            #expect(Self.sent(server) == ["t1"])
        }
    }
}
