import BusProtocol

enum ListDevicesContract: MessageContract {
    static let canonical = ListDevices()
    static let minimal = ListDevices()
    static let maximal = ListDevices()

    static let canonicalReply = DeviceList(devices: [PutDeviceContract.canonicalReply])
    static let minimalReply = DeviceList(devices: [])
    static let maximalReply = DeviceList(devices: [PutDeviceContract.maximalReply, PutDeviceContract.minimalReply])

    static let errors: [BusError] = [Sample.unauthorized]
}

enum PutDeviceContract: MessageContract {
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
}
