import BusProtocol
import EventLoop
import TestSupport

extension CreateUpload: MessageContract {
    static let canonical = CreateUpload(kind: "profile_photo", contentType: "image/jpeg", length: 204_800)
    static let minimal = CreateUpload(kind: "k", contentType: "t", length: 1)
    static let maximal = CreateUpload(
        kind: String(repeating: "k", count: 64), contentType: String(repeating: "ö", count: 100),
        length: 1_000_000_000_000)
    static let canonicalReply = UploadCreated(
        mediaId: Sample.person,
        uploadUrl: "https://api.example.com/uploads/0193c0de-7a1e-4c5b-9d2f-3e4a5b6c7d8e?signature=c2lnbmF0dXJl",
        expiresAt: Sample.everyday)
    static let minimalReply = UploadCreated(mediaId: Sample.person, uploadUrl: "/", expiresAt: Sample.earliest)
    static let maximalReply = UploadCreated(
        mediaId: Sample.person, uploadUrl: String(repeating: "u", count: 4096), expiresAt: Sample.latest)
    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "kind", code: "not_allowed", message: "Must be one of the listed values.")]),
        BusError(.unsupportedMediaType, "Please send the picture as JPEG or PNG."),
        BusError(.bodyTooLarge, "The picture is larger than 8 MiB. Please send a smaller one."),
        BusError(.verificationClosed, "This verification is over. Please begin a new one."),
        BusError(
            .rateLimited, "You have uploaded many pictures today. Please come back tomorrow.",
            retryAfter: .seconds(3600)),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<CreateUpload> {
        Asked(canonical, for: .random(), key: "one upload")
    }

    static let provocations: [String: Provocation<VerificationProvider, CreateUpload>] = [
        "unauthorized": { _ in Asked(canonical) },
        "validation_failed": { _ in
            Asked(CreateUpload(kind: "video", contentType: "image/png", length: 1), for: .random())
        },
        "unsupported_media_type": { _ in
            Asked(CreateUpload(kind: "profile_photo", contentType: "image/heic", length: 1), for: .random())
        },
        "body_too_large": { _ in
            Asked(CreateUpload(kind: "profile_photo", contentType: "image/png", length: 8_388_609), for: .random())
        },
        "verification_closed": { _ in
            Asked(CreateUpload(kind: "document", contentType: "image/png", length: 1), for: .random())
        },
        "rate_limited": { provider in
            let person = Identifier.random()
            try await provider.stage.rows(
                "INSERT INTO upload_counts VALUES ('\(person)', (now() AT TIME ZONE 'UTC')::date, 60)")
            return Asked(canonical, for: person)
        },
    ]
}
