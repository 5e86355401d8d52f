import BusProtocol
import EventLoop
import TestSupport

private let photo = PhotoList.Photo(
    mediaId: Sample.person,
    url: "https://api.example.com/photos/0193c0de-7a1e-4c5b-9d2f-3e4a5b6c7d8e?expires=1764201600&signature=c2ln")
private let fullList = PhotoList(
    photos: (0..<6).map { _ in .init(mediaId: Sample.person, url: String(repeating: "u", count: 2048)) })

extension VerificationProvider {
    /// A person with a picture that has arrived.
    fileprivate func pictured() async throws -> (person: Identifier, media: Identifier) {
        let (person, media) = (Identifier.random(), Identifier.random())
        try await stage.rows(
            """
            INSERT INTO media (media_id, person_id, purpose, content_type, length, state, expires_at)
            VALUES ('\(media)', '\(person)', 'profile_photo', 'image/png', 1, 'stored', now() + interval '1 day')
            """)
        return (person, media)
    }
}

extension GetPhotos: MessageContract {
    static let canonical = GetPhotos()
    static let minimal = GetPhotos()
    static let maximal = GetPhotos()
    static let canonicalReply = PhotoList(photos: [photo])
    static let minimalReply = PhotoList(photos: [])
    static let maximalReply = fullList
    static let errors: [BusError] = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<GetPhotos> {
        Asked(GetPhotos(), for: try await provider.pictured().person)
    }

    static let provocations: [String: Provocation<VerificationProvider, GetPhotos>] = [
        "unauthorized": { _ in Asked(GetPhotos()) }
    ]
}

extension PutPhotos: MessageContract {
    static let canonical = PutPhotos(photos: [Sample.person])
    static let minimal = PutPhotos(photos: [])
    static let maximal = PutPhotos(photos: Array(repeating: Sample.person, count: 6))
    static let canonicalReply = PhotoList(photos: [photo])
    static let minimalReply = PhotoList(photos: [])
    static let maximalReply = fullList
    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(.notFound, "This picture has not arrived."),
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "photos.1", code: "repeated", message: "This picture is in the list twice.")]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<PutPhotos> {
        let (person, media) = try await provider.pictured()
        return Asked(PutPhotos(photos: [media]), for: person)
    }

    static let provocations: [String: Provocation<VerificationProvider, PutPhotos>] = [
        "unauthorized": { _ in Asked(PutPhotos(photos: [])) },
        "not_found": { _ in Asked(PutPhotos(photos: [.random()]), for: .random()) },
        "validation_failed": { provider in
            let (person, media) = try await provider.pictured()
            return Asked(PutPhotos(photos: [media, media]), for: person)
        },
    ]
}

extension DeletePhoto: MessageContract {
    static let canonical = DeletePhoto(mediaId: Sample.person)
    static let minimal = canonical
    static let maximal = canonical
    static let canonicalReply = PhotoList(photos: [photo])
    static let minimalReply = PhotoList(photos: [])
    static let maximalReply = fullList
    static let errors: [BusError] = [Sample.unauthorized]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<DeletePhoto> {
        let (person, media) = try await provider.pictured()
        try await provider.reply(to: Asked(PutPhotos(photos: [media]), for: person))
        return Asked(DeletePhoto(mediaId: media), for: person)
    }

    static let provocations: [String: Provocation<VerificationProvider, DeletePhoto>] = [
        "unauthorized": { _ in Asked(DeletePhoto(mediaId: .random())) }
    ]
}
