import BusProtocol
import EventLoop
import TestSupport

private let photo = PhotoList.Photo(
    mediaId: Sample.person,
    url: "https://api.example.com/photos/0193c0de-7a1e-4c5b-9d2f-3e4a5b6c7d8e?expires=1764201600&signature=c2ln")
private let fullList = PhotoList(
    photos: (0..<6).map { _ in .init(mediaId: Sample.person, url: String(repeating: "u", count: 2048)) })
private let own = BusError(.forbidden, "Somebody else must review your own photo.")
private let unknown = BusError(.notFound, "No such photo waits for a reviewer.")
private let review = PhotoReview(mediaId: Sample.session, uploadedAt: Sample.everyday)
private let fullReview = PhotoReview(
    mediaId: Sample.session, uploadedAt: Sample.latest, photoUrl: String(repeating: "u", count: 2048))

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

    /// A person whose photo waits for a reviewer.
    fileprivate func waiting() async throws -> (person: Identifier, media: Identifier) {
        let (person, media) = try await pictured()
        try await reply(to: Asked(PutPhotos(photos: [media]), for: person))
        try await stage.rows("UPDATE media SET moderation = 'pending' WHERE media_id = '\(media)'")
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

extension ListPhotoReviews: MessageContract {
    static let canonical = ListPhotoReviews()
    static let minimal = ListPhotoReviews()
    static let maximal = ListPhotoReviews()
    static let canonicalReply = PhotoReviewQueue(photos: [review])
    static let minimalReply = PhotoReviewQueue(photos: [])
    static let maximalReply = PhotoReviewQueue(photos: (0..<100).map { _ in fullReview })
    static let errors = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<ListPhotoReviews> {
        _ = try await provider.waiting()
        return Asked(canonical, for: .random(), role: .staff)
    }
    static let provocations: [String: Provocation<VerificationProvider, ListPhotoReviews>] = [
        "unauthorized": { _ in Asked(canonical, for: .random()) }
    ]
}

extension GetPhotoReview: MessageContract {
    static let canonical = GetPhotoReview(mediaId: Sample.session)
    static let minimal: GetPhotoReview = canonical
    static let maximal: GetPhotoReview = canonical
    static let canonicalReply = review
    static let minimalReply = PhotoReview(mediaId: Sample.session, uploadedAt: Sample.earliest)
    static let maximalReply = fullReview
    static let errors = [Sample.unauthorized, own, unknown]
    static let hasEffect = true
    static let clockMembers: Set<String> = ["uploadedAt", "photoUrl"]
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<GetPhotoReview> {
        Asked(GetPhotoReview(mediaId: try await provider.waiting().media), for: .random(), role: .staff)
    }
    static let provocations: [String: Provocation<VerificationProvider, GetPhotoReview>] = [
        "unauthorized": { _ in Asked(canonical, for: .random()) },
        "forbidden": { provider in
            let (person, media) = try await provider.waiting()
            return Asked(GetPhotoReview(mediaId: media), for: person, role: .admin)
        },
        "not_found": { _ in Asked(canonical, for: .random(), role: .staff) },
    ]
}

extension DecidePhoto: MessageContract {
    static let canonical = DecidePhoto(mediaId: Sample.session, verdict: "approved")
    static let minimal: DecidePhoto = canonical
    static let maximal = DecidePhoto(mediaId: Sample.session, verdict: "refused")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [Sample.unauthorized, own, unknown]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func decide(
        _ media: Identifier, by staff: Identifier = .random(), role: Role = .staff
    ) -> Asked<DecidePhoto> {
        Asked(DecidePhoto(mediaId: media, verdict: "approved"), for: staff, role: role, key: "key-decide")
    }
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<DecidePhoto> {
        decide(try await provider.waiting().media)
    }
    static let provocations: [String: Provocation<VerificationProvider, DecidePhoto>] = [
        "unauthorized": { _ in decide(Sample.session, role: .user) },
        "forbidden": { provider in
            let (person, media) = try await provider.waiting()
            return decide(media, by: person)
        },
        "not_found": { _ in decide(Sample.session) },
    ]
}
