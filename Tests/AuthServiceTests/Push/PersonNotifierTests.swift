import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("what a person's devices are told") struct PersonNotifierTests {
    private static let phone = "+14155552671"

    @Test func aSignInOnANewDeviceNotifiesTheOthers() async throws {
        try await AuthStage.run { auth in
            let (first, second) = (try await auth.signIn(phone, push: "t1"), try await auth.signIn(phone, push: "t2"))
            #expect(try await eventually { auth.spool.pushes().count == 1 })
            let third = try await auth.signIn(phone, push: "t3", platform: "web")
            #expect(try await eventually { auth.spool.pushes().count == 3 })
            #expect(third.user.id == first.user.id && second.user.id == first.user.id)
            let pushes = auth.spool.pushes()
            #expect(pushes[0]["deviceId"]?.stringValue == first.deviceId.description)
            #expect(Set(pushes[1...].compactMap { $0["pushToken"]?.stringValue }) == ["t1", "t2"])
            let data = try #require(pushes[2]["data"])
            #expect(data["kind"] == "new_device" && data["deviceId"]?.stringValue == third.deviceId.description)
            let at = try #require(data["at"]?.stringValue)
            #expect(
                pushes[2]["body"]?.stringValue
                    == "A web browser signed in to your Vestibule account on \(at.prefix(10)) at \(at.dropFirst(11).prefix(5)) UTC. If it was not you, remove it from your devices now."
            )
            for push in pushes {
                #expect(!String(decoding: CanonicalJSON.bytes(of: push), as: UTF8.self).contains("5552671"))
            }
        }
    }

    @Test func aFirstSignInOrAKnownDeviceNotifiesNoDevice() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(phone, push: "t1")
            let (challenge, code) = try await auth.code(again: phone)
            let known = DeviceClaim(
                id: first.deviceId, secret: first.deviceSecret, name: "Pixel 9", platform: "android")
            let again = try await auth.ask(VerifyOTP(challengeId: challenge, code: code, device: known))
            #expect(again.deviceId == first.deviceId)
            #expect(try await auth.stage.rows("SELECT count(*) FROM outbox WHERE destination = 'push'") == "0")
            // Its id alone is worth nothing, and what comes with it is another device.
            let (other, right) = try await auth.code(again: phone)
            let claimed = DeviceClaim(id: first.deviceId, secret: "ds_guess", name: "Pixel 9", platform: "android")
            let stranger = try await auth.ask(VerifyOTP(challengeId: other, code: right, device: claimed))
            #expect(stranger.deviceId != first.deviceId)
            #expect(try await eventually { auth.spool.pushes().count == 1 })
        }
    }

    @Test func eachDeviceIsNotifiedInItsOwnLanguage() async throws {
        try await AuthStage.run { auth in
            let first = try await auth.signIn(phone, push: "t1", in: "sv")
            _ = try await auth.signIn(phone, push: "t2")
            #expect(try await eventually { auth.spool.pushes().count == 1 })
            _ = try await auth.signIn(phone, push: "t3", platform: "web", in: "xx")
            #expect(try await eventually { auth.spool.pushes().count == 3 })
            let titles = auth.spool.pushes().reduce(into: [String: String]()) {
                $0[$1["pushToken"]?.stringValue ?? ""] = $1["title"]?.stringValue
            }
            #expect(titles == ["t1": "Ny inloggning", "t2": "New sign-in"])
            // A device changes its language; a call without one leaves it.
            let own = PutDevice(deviceId: first.deviceId, name: "Pixel 9", platform: "android")
            _ = try await auth.ask(own, as: auth.actor(first), in: "en")
            _ = try await auth.ask(own, as: auth.actor(first))
            #expect(
                try await auth.stage.rows("SELECT language FROM devices WHERE id = '\(first.deviceId)'") == "en")
        }
    }

    @Test func aNoticeBySMSIsInTheLanguageOfTheLastDevice() async throws {
        try await AuthStage.run { auth in
            let session = try await auth.signIn(phone, push: "t1", in: "sv")
            let event = NotifyPerson(
                notificationID: .ordered(), personID: session.user.id, personSequence: 1, kind: "recovery_disputed",
                data: [:], smsUnlessHeldBy: [])
            _ = try await auth.stage.asking(as: .recovery).call(event, auth.options())
            #expect(
                try await eventually {
                    auth.spool.messages().last?["body"]?.stringValue
                        == "Begäran att återställa ditt Vestibule-konto stoppades. Ingenting har ändrats."
                })
        }
    }

    @Test func aCodeIsInTheLanguageOfTheRequest() async throws {
        try await AuthStage.run(environment: ["APP_HOST": "example.com"]) { auth in
            let sms = try await auth.sms(SendOTP(phone: phone), in: "sv")
            #expect(sms.text.hasPrefix("\(sms.code) är din Vestibule-kod för att logga in."))
            #expect(sms.text.hasSuffix("\n@example.com #\(sms.code)"))
            _ = try await auth.ask(SendEmailCode(email: "anna@example.com"), in: "sv")
            #expect(
                try await eventually {
                    auth.spool.emails().last?["subject"]?.stringValue == "Din Vestibule-kod för att logga in"
                })
        }
    }

    private var phone: String { Self.phone }
}
