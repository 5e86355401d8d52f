import BusProtocol
import EventLoop

extension ListDevices: MessageContract {
    static let canonical = ListDevices()
    static let minimal = ListDevices()
    static let maximal = ListDevices()

    static let canonicalReply = DeviceList(devices: [PutDevice.canonicalReply])
    static let minimalReply = DeviceList(devices: [])
    static let maximalReply = DeviceList(devices: [PutDevice.maximalReply, PutDevice.minimalReply])

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ListDevices> {
        let session = try await auth.session()
        return Asked(ListDevices(), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, ListDevices>] = [
        "unauthorized": { _ in Asked(ListDevices()) }
    ]
}

extension PutDevice: MessageContract {
    static let canonical = PutDevice(
        deviceId: Sample.device, name: "Pixel 9", platform: "android", pushToken: "fcm:0123456789")
    static let minimal = PutDevice(deviceId: Sample.device, name: "x", platform: "web")
    static let maximal = PutDevice(
        deviceId: Sample.device, name: String(repeating: "📱", count: 100), platform: "ios",
        pushToken: String(repeating: "p", count: 4096))

    static let canonicalReply = KnownDevice(
        id: Sample.device, name: "Pixel 9", platform: "android", hasPushToken: true, current: true,
        createdAt: Sample.everyday, lastUsedAt: Sample.everyday)
    static let minimalReply = KnownDevice(
        id: Sample.device, name: "x", platform: "web", hasPushToken: false, current: false,
        createdAt: Sample.earliest, lastUsedAt: Sample.earliest)
    static let maximalReply = KnownDevice(
        id: Sample.device, name: String(repeating: "📱", count: 100), platform: "ios", hasPushToken: true,
        current: true, createdAt: Sample.earliest, lastUsedAt: Sample.latest)

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.notFound, "There is no such device."),
        BusError(.reauthenticationRequired, "Please sign in again to change another device."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = ["lastUsedAt"]

    static func everyday(_ auth: AuthProvider) async throws -> Asked<PutDevice> {
        let session = try await auth.session()
        return Asked(
            PutDevice(deviceId: session.deviceId, name: "Pixel 9 Pro", platform: "android", pushToken: "fcm:new"),
            for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, PutDevice>] = [
        "unauthorized": { auth in
            Asked(PutDevice(deviceId: try await auth.session().deviceId, name: "Pixel 9 Pro", platform: "android"))
        },
        "not_found": { auth in
            let (session, stranger) = (try await auth.session(), try await auth.session())
            return Asked(
                PutDevice(deviceId: stranger.deviceId, name: "Pixel 9 Pro", platform: "android"),
                for: session.user.id, in: session.sessionId)
        },
        "reauthentication_required": { auth in
            let phone = auth.newPhone()
            let first = try await auth.session(phone: phone)
            try await auth.age("2 minutes")
            let second = try await auth.session(phone: phone)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return Asked(
                PutDevice(deviceId: first.deviceId, name: "Pixel 9 Pro", platform: "android"),
                for: second.user.id, in: second.sessionId)
        },
    ]
}

extension RemoveDevice: MessageContract {
    static let canonical = RemoveDevice(deviceId: Sample.device)
    static let minimal: RemoveDevice = canonical
    static let maximal: RemoveDevice = canonical

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.notFound, "There is no such device."),
        BusError(.reauthenticationRequired, "Please sign in again to remove another device."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<RemoveDevice> {
        let session = try await auth.session()
        return Asked(RemoveDevice(deviceId: session.deviceId), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, RemoveDevice>] = [
        "unauthorized": { Asked(RemoveDevice(deviceId: try await $0.session().deviceId)) },
        "not_found": { auth in
            let (session, stranger) = (try await auth.session(), try await auth.session())
            return Asked(RemoveDevice(deviceId: stranger.deviceId), for: session.user.id, in: session.sessionId)
        },
        "reauthentication_required": { auth in
            let phone = auth.newPhone()
            let first = try await auth.session(phone: phone)
            try await auth.age("2 minutes")
            let second = try await auth.session(phone: phone)
            try await auth.stage.rows("UPDATE sessions SET otp_at = otp_at - interval '5 minutes'")
            return Asked(RemoveDevice(deviceId: first.deviceId), for: second.user.id, in: second.sessionId)
        },
    ]
}

extension DescribeDevices: MessageContract {
    static let canonical = DescribeDevices(personID: Sample.person)
    static let minimal: DescribeDevices = canonical
    static let maximal: DescribeDevices = canonical

    static let canonicalReply = DevicesDescribed(
        devices: [.init(platform: "android", addedAt: Sample.everyday, lastUsedAt: Sample.everyday)])
    static let minimalReply = DevicesDescribed(devices: [])
    static let maximalReply = DevicesDescribed(
        devices: (0..<100).map { _ in
            .init(platform: String(repeating: "p", count: 32), addedAt: Sample.latest, lastUsedAt: Sample.latest)
        })
    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = ["devices"]

    static func everyday(_ auth: AuthProvider) async throws -> Asked<DescribeDevices> {
        let person = try await auth.session(phone: auth.newPhone()).user.id
        return Asked(DescribeDevices(personID: person), as: .recovery)
    }

    static let provocations: [String: Provocation<AuthProvider, DescribeDevices>] = [:]
}
