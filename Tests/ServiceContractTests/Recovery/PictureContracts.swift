import BusProtocol
import EventLoop
import TestSupport

@testable import VerificationService

/// Values that the samples of pictures share.
private enum PictureSample {
    static let media = Identifier("019c2f00-0000-4000-8000-000000000006")!
    static let url = "https://api.example.com/uploads/019c2f00?signature=51ab"
    static let promised = UploadCreated(mediaId: media, uploadUrl: url, expiresAt: Sample.everyday)
    static let smallPromised = UploadCreated(mediaId: media, uploadUrl: "u", expiresAt: Sample.earliest)
    static let largePromised = UploadCreated(
        mediaId: media, uploadUrl: String(repeating: "u", count: 4096), expiresAt: Sample.latest)
    static let tooMany = BusError(.tooManyPictures, "You have sent as many pictures as one recovery takes.")
    static let tooManyToday = BusError(
        .rateLimited, "You have sent many pictures today. Please come back tomorrow.", retryAfter: .seconds(3600))
    static let closed = BusError(.recoveryClosed, "This recovery is over.")
}

extension RecoveryProvider {
    /// A claimant whose hold is over.
    fileprivate func claimant() async throws -> RecoveryRequested {
        let held = try await heldCase().requested
        try await endHold(of: held.recoveryId)
        return held
    }

    /// Acts as if verification had promised pictures to a side.
    fileprivate func plant(_ all: Int, today: Int, of id: Identifier, _ side: String) async throws {
        try await stage.rows(
            "INSERT INTO pictures VALUES ('\(id)', '\(side)', \(all), (now() AT TIME ZONE 'UTC')::date, \(today))")
    }
}

extension AddClaimantPicture: MessageContract {
    static let canonical = AddClaimantPicture(
        recoveryId: Sample.recovery, recoveryToken: "rt_51ab", contentType: "image/jpeg", length: 204_800,
        challengeId: Sample.challenge, code: "042917")
    static let minimal = AddClaimantPicture(
        recoveryId: Sample.recovery, recoveryToken: "r", contentType: "image/png", length: 1)
    static let maximal = AddClaimantPicture(
        recoveryId: Sample.recovery, recoveryToken: String(repeating: "r", count: 128), contentType: "image/jpeg",
        length: 8_388_608, challengeId: Sample.challenge, code: "999999")

    static let canonicalReply = PictureSample.promised
    static let minimalReply = PictureSample.smallPromised
    static let maximalReply = PictureSample.largePromised

    static let errors: [BusError] = [
        BusError(.unauthorized, "This is not a valid recovery token."),
        BusError(.reauthenticationRequired, "Please prove your number or email address with a new code first."),
        Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked,
        BusError(
            .recoveryNotReady, "The hold is not over yet. Please come back later.", retryAfter: .seconds(259_200)),
        PictureSample.closed, PictureSample.tooMany, PictureSample.tooManyToday,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func picture(_ claim: RecoveryRequested, code: String? = "042917") -> Asked<AddClaimantPicture> {
        Asked(
            AddClaimantPicture(
                recoveryId: claim.recoveryId, recoveryToken: claim.recoveryToken, contentType: "image/jpeg",
                length: 204_800, challengeId: code == nil ? nil : .ordered(), code: code),
            key: "key of a picture \(Identifier.random())")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<AddClaimantPicture> {
        picture(try await recovery.claimant())
    }

    static let provocations: [String: Provocation<RecoveryProvider, AddClaimantPicture>] = [
        "unauthorized": { recovery in
            var claim = try await recovery.claimant()
            claim.recoveryToken = "rt_0123456789"
            return picture(claim)
        },
        "reauthentication_required": { picture(try await $0.claimant(), code: nil) },
        "otp_invalid": { picture(try await $0.claimant(), code: "111111") },
        "otp_expired": { picture(try await $0.claimant(), code: "222222") },
        "otp_locked": { picture(try await $0.claimant(), code: "333333") },
        "recovery_not_ready": { picture(try await $0.heldCase().requested) },
        "recovery_closed": { recovery in
            let claim = try await recovery.claimant()
            let cancel = CancelRecovery(recoveryId: claim.recoveryId, recoveryToken: claim.recoveryToken)
            try await recovery.reply(to: Asked(cancel))
            return picture(claim)
        },
        "too_many_pictures": { recovery in
            let claim = try await recovery.claimant()
            try await recovery.plant(30, today: 0, of: claim.recoveryId, "claimant")
            return picture(claim)
        },
        "rate_limited": { recovery in
            let claim = try await recovery.claimant()
            try await recovery.plant(10, today: 10, of: claim.recoveryId, "claimant")
            return picture(claim)
        },
    ]
}

extension AddOwnerPicture: MessageContract {
    static let canonical = AddOwnerPicture(recoveryId: Sample.recovery, contentType: "image/jpeg", length: 204_800)
    static let minimal = AddOwnerPicture(recoveryId: Sample.recovery, contentType: "image/png", length: 1)
    static let maximal = AddOwnerPicture(recoveryId: Sample.recovery, contentType: "image/jpeg", length: 8_388_608)

    static let canonicalReply = PictureSample.promised
    static let minimalReply = PictureSample.smallPromised
    static let maximalReply = PictureSample.largePromised

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.notFound, "There is no such recovery."),
        BusError(.recoveryNotReady, "Nothing is asked of you. If this was not you, say no to it."),
        PictureSample.closed, PictureSample.tooMany, PictureSample.tooManyToday,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func picture(_ id: Identifier, by person: Identifier?) -> Asked<AddOwnerPicture> {
        Asked(
            AddOwnerPicture(recoveryId: id, contentType: "image/jpeg", length: 204_800), for: person,
            key: "key-\(Identifier.random())")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<AddOwnerPicture> {
        picture(try await recovery.contestedCase(), by: recovery.owner)
    }

    static let provocations: [String: Provocation<RecoveryProvider, AddOwnerPicture>] = [
        "unauthorized": { picture(try await $0.contestedCase(), by: nil) },
        "not_found": { picture(try await $0.contestedCase(), by: .random()) },
        "recovery_not_ready": { picture(try await $0.heldCase().requested.recoveryId, by: $0.owner) },
        "recovery_closed": { picture(try await $0.closedCase(), by: $0.owner) },
        "too_many_pictures": { recovery in
            let id = try await recovery.contestedCase()
            try await recovery.plant(30, today: 0, of: id, "owner")
            return picture(id, by: recovery.owner)
        },
        "rate_limited": { recovery in
            let id = try await recovery.contestedCase()
            try await recovery.plant(10, today: 10, of: id, "owner")
            return picture(id, by: recovery.owner)
        },
    ]
}

extension SeePicture: MessageContract {
    static let canonical = SeePicture(recoveryId: Sample.recovery, mediaId: PictureSample.media)
    static let minimal: SeePicture = canonical
    static let maximal: SeePicture = canonical

    static let canonicalReply = PictureShown(url: "https://api.example.com/photos/019c2f00?signature=51ab")
    static let minimalReply = PictureShown(url: "u")
    static let maximalReply = PictureShown(url: String(repeating: "u", count: 2048))

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.forbidden, "Somebody else must review a recovery of your own account."),
        BusError(.notFound, "There is no such picture."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func look(
        _ recovery: RecoveryProvider, by person: Identifier?
    ) async throws -> Asked<SeePicture> {
        let id = try await recovery.contestedCase()
        let picture = try await recovery.reply(
            to: Asked(
                AddOwnerPicture(recoveryId: id, contentType: "image/jpeg", length: 204_800), for: recovery.owner,
                key: "key-\(Identifier.random())"))
        return Asked(SeePicture(recoveryId: id, mediaId: picture.mediaId), for: person, role: .staff)
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<SeePicture> {
        try await look(recovery, by: .random())
    }

    static let provocations: [String: Provocation<RecoveryProvider, SeePicture>] = [
        "unauthorized": { try await look($0, by: nil) },
        "forbidden": { try await $0.known(look($0, by: $0.owner)) },
        "not_found": { recovery in
            var asked = try await look(recovery, by: .random())
            asked.message.mediaId = .random()
            return try await recovery.known(asked)
        },
    ]
}

extension EvidenceEnded: MessageContract {
    static let canonical = EvidenceEnded(personID: Sample.recovery, personSequence: 2)
    static let minimal = EvidenceEnded(personID: Sample.recovery)
    static let maximal = EvidenceEnded(personID: Sample.recovery, personSequence: Sample.largestInteger)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<EvidenceEnded> {
        let promised = try await PromiseEvidence.everyday(provider)
        try await provider.reply(to: promised)
        return Asked(EvidenceEnded(personID: promised.message.caseID, personSequence: 1), as: .recovery)
    }

    static let provocations: [String: Provocation<VerificationProvider, EvidenceEnded>] = [:]
}

extension PromiseEvidence: MessageContract {
    static let canonical = PromiseEvidence(
        mediaID: PictureSample.media, caseID: Sample.recovery, side: "claimant", contentType: "image/jpeg",
        length: 204_800)
    static let minimal = PromiseEvidence(
        mediaID: PictureSample.media, caseID: Sample.recovery, side: "owner", contentType: "image/png", length: 1)
    static let maximal = PromiseEvidence(
        mediaID: PictureSample.media, caseID: Sample.recovery, side: "claimant",
        contentType: "image/jpeg", length: 8_388_608)

    static let canonicalReply = EvidencePromised(uploadURL: PictureSample.url, expiresAt: Sample.everyday)
    static let minimalReply = EvidencePromised(uploadURL: "u", expiresAt: Sample.earliest)
    static let maximalReply = EvidencePromised(
        uploadURL: String(repeating: "u", count: 2048), expiresAt: Sample.latest)
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<PromiseEvidence> {
        var request = canonical
        (request.mediaID, request.caseID) = (.random(), .ordered())
        return Asked(request, as: .recovery)
    }

    static let provocations: [String: Provocation<VerificationProvider, PromiseEvidence>] = [:]
}

extension ListEvidence: MessageContract {
    static let canonical = ListEvidence(caseID: Sample.recovery)
    static let minimal: ListEvidence = canonical
    static let maximal: ListEvidence = canonical

    static let canonicalReply = EvidenceList(
        pictures: [.init(mediaID: PictureSample.media, side: "owner", at: Sample.everyday, url: PictureSample.url)])
    static let minimalReply = EvidenceList(pictures: [])
    static let maximalReply = EvidenceList(
        pictures: (0..<20).map { _ in
            .init(
                mediaID: PictureSample.media, side: String(repeating: "o", count: 32), at: Sample.latest,
                url: String(repeating: "u", count: 2048))
        })
    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = ["pictures"]

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<ListEvidence> {
        let promised = try await PromiseEvidence.everyday(provider)
        try await provider.reply(to: promised)
        try await provider.stage.rows("UPDATE media SET state = 'stored'")
        return Asked(ListEvidence(caseID: promised.message.caseID), as: .recovery)
    }

    static let provocations: [String: Provocation<VerificationProvider, ListEvidence>] = [:]
}
