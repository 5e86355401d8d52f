import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

@Suite("what a person's devices are told") struct PersonNotifierTests {
    private static let phone = "+14155552671"

    @Test func aSignInOnANewDeviceIsToldToTheOthers() async throws {
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

    @Test func neitherAFirstSignInNorAKnownDeviceIsNews() async throws {
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

    private var phone: String { Self.phone }
}
