import BusProtocol
import EventLoop

@testable import VerificationService

/// Values that the samples of verifications share.
private enum VerificationSample {
    static let consent = BiometricConsent(biometric: true, textVersion: "2026-02", at: Sample.everyday)
    static let documentConsent = DocumentConsent(document: true, textVersion: "2026-12", at: Sample.everyday)
    static let view = VerificationView(
        status: "manual_review", message: "We are reviewing your photo. You can go on meanwhile.", attemptsLeft: 0)
    static let smallView = VerificationView(status: "n", message: "x", attemptsLeft: 0)
    static let largeView = VerificationView(
        status: String(repeating: "s", count: 64), message: String(repeating: "ö", count: 500), attemptsLeft: 3)
    static let notFound = BusError(.notFound, "There is no such session.")
    static let closed = BusError(.verificationClosed, "This verification is over. Please begin a new one.")
    static let own = BusError(.forbidden, "Somebody else must review your own verification.")
    static let review = VerificationReview(
        sessionId: Sample.session, completedAt: Sample.everyday, decideBefore: Sample.everyday + .seconds(85_440),
        attempts: 1)
    static let smallReview = VerificationReview(
        sessionId: Sample.session, completedAt: Sample.earliest, decideBefore: Sample.earliest, attempts: 0)
    static let largeReview = VerificationReview(
        sessionId: Sample.session, completedAt: Sample.latest, decideBefore: Sample.latest, attempts: 3,
        captureUrl: String(repeating: "u", count: 2048))
}

extension VerificationProvider {
    /// A person with a new session.
    fileprivate func begun() async throws -> (person: Identifier, session: Identifier) {
        let person = Identifier.random()
        let begun = try await begin(person)
        return (person, begun.sessionId ?? person)
    }

    @discardableResult
    fileprivate func begin(
        _ person: Identifier, _ consent: BiometricConsent? = VerificationSample.consent
    ) async throws -> VerificationBegun {
        try await reply(to: Asked(BeginVerification(consent: consent), for: person, key: "key-\(Identifier.random())"))
    }

    /// A person whose photo is uploaded.
    fileprivate func uploaded() async throws -> (person: Identifier, session: Identifier) {
        let (person, session) = try await begun()
        let capture = AddCapture(sessionId: session, contentType: "image/jpeg", length: 184_000)
        try await reply(to: Asked(capture, for: person, key: "key-capture"))
        try await stage.rows("UPDATE media SET state = 'stored' WHERE person_id = '\(person)'")
        return (person, session)
    }

    /// A person whose photo waits for a reviewer.
    fileprivate func inReview() async throws -> (person: Identifier, session: Identifier) {
        let (person, session) = try await uploaded()
        try await reply(to: Asked(CompleteVerification(sessionId: session), for: person))
        return (person, session)
    }

    /// A person with a new session for a document.
    fileprivate func document() async throws -> (person: Identifier, session: Identifier) {
        let person = Identifier.random()
        return (person, try await beginDocument(person).sessionId ?? person)
    }

    @discardableResult
    fileprivate func beginDocument(_ person: Identifier) async throws -> VerificationBegun {
        let begin = BeginDocumentVerification(consent: VerificationSample.documentConsent)
        return try await reply(to: Asked(begin, for: person, key: "key-\(Identifier.random())"))
    }

    /// A person whose document waits for a reviewer.
    fileprivate func documentInReview() async throws -> (person: Identifier, session: Identifier) {
        let (person, session) = try await document()
        let capture = AddCapture(sessionId: session, side: "front", contentType: "image/jpeg", length: 184_000)
        try await reply(to: Asked(capture, for: person, key: "key-front"))
        try await stage.rows("UPDATE media SET state = 'stored' WHERE person_id = '\(person)'")
        try await reply(to: Asked(CompleteVerification(sessionId: session), for: person))
        return (person, session)
    }

    /// A person whose session ended without a photo.
    fileprivate func declined() async throws -> (person: Identifier, session: Identifier) {
        let (person, session) = try await begun()
        try await begin(person, nil)
        return (person, session)
    }
}

extension BeginVerification: MessageContract {
    static let canonical = BeginVerification(consent: VerificationSample.consent)
    static let minimal = BeginVerification()
    static let maximal = BeginVerification(
        consent: BiometricConsent(
            biometric: true, textVersion: String(repeating: "ö", count: 64), at: Sample.latest))
    static let canonicalReply = VerificationBegun(
        sessionId: Sample.session, status: "awaiting_capture", prompts: [.init(key: "light", text: "Find good light.")],
        expiresAt: Sample.everyday, attemptsLeft: 3, message: "Please take a photo of your face.")
    static let minimalReply = VerificationBegun(status: "d", prompts: [], attemptsLeft: 0, message: "x")
    static let maximalReply = VerificationBegun(
        sessionId: Sample.session, status: String(repeating: "s", count: 64),
        prompts: (0..<8).map { _ in
            .init(key: String(repeating: "k", count: 32), text: String(repeating: "ö", count: 200))
        }, expiresAt: Sample.latest, attemptsLeft: 3, message: String(repeating: "ö", count: 500))
    static let errors = [
        Sample.unauthorized,
        BusError(
            .rateLimited, "You have tried this often today. Please try again tomorrow.",
            retryAfter: .seconds(86_000)),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = ["expiresAt"]
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<BeginVerification> {
        Asked(canonical, for: .random(), key: "key-begin")
    }
    static let provocations: [String: Provocation<VerificationProvider, BeginVerification>] = [
        "unauthorized": { _ in Asked(canonical, key: "key-nobody") },
        "rate_limited": { provider in
            let person = Identifier.random()
            for _ in 0..<20 { try await provider.begin(person) }
            return Asked(canonical, for: person, key: "key-once-more")
        },
    ]
}

extension BeginDocumentVerification: MessageContract {
    static let canonical = BeginDocumentVerification(consent: VerificationSample.documentConsent)
    static let minimal = BeginDocumentVerification()
    static let maximal = BeginDocumentVerification(
        consent: DocumentConsent(document: true, textVersion: String(repeating: "ö", count: 64), at: Sample.latest))
    static let canonicalReply = VerificationBegun(
        sessionId: Sample.session, status: "awaiting_capture",
        prompts: [.init(key: "front", text: "Show the whole front of the document.")], expiresAt: Sample.everyday,
        attemptsLeft: 3, message: "Please take a picture of your document.")
    static let minimalReply = BeginVerification.minimalReply
    static let maximalReply = BeginVerification.maximalReply
    static let errors = BeginVerification.errors
    static let hasEffect = true
    static let clockMembers = BeginVerification.clockMembers
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<BeginDocumentVerification> {
        Asked(canonical, for: .random(), key: "key-begin")
    }
    static let provocations: [String: Provocation<VerificationProvider, BeginDocumentVerification>] = [
        "unauthorized": { _ in Asked(canonical, key: "key-nobody") },
        "rate_limited": { provider in
            let person = Identifier.random()
            for _ in 0..<20 { try await provider.beginDocument(person) }
            return Asked(canonical, for: person, key: "key-once-more")
        },
    ]
}

extension AddCapture: MessageContract {
    static let canonical = AddCapture(sessionId: Sample.session, contentType: "image/jpeg", length: 184_000)
    static let minimal = AddCapture(sessionId: Sample.session, contentType: "image/png", length: 1)
    static let maximal = AddCapture(sessionId: Sample.session, contentType: "image/jpeg", length: 8_388_608)
    static let canonicalReply = CapturePromised(
        uploadUrl: "https://api.example.com/uploads/9b1d?signature=51ab", expiresAt: Sample.everyday)
    static let minimalReply = CapturePromised(uploadUrl: "u", expiresAt: Sample.earliest)
    static let maximalReply = CapturePromised(uploadUrl: String(repeating: "u", count: 2048), expiresAt: Sample.latest)
    static let errors = [
        Sample.unauthorized, VerificationSample.notFound, VerificationSample.closed,
        BusError(
            .rateLimited, "You have uploaded many pictures today. Please come back tomorrow.",
            retryAfter: .seconds(3600)),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = ["expiresAt"]

    private static func capture(_ of: (person: Identifier, session: Identifier)) -> Asked<AddCapture> {
        Asked(
            AddCapture(sessionId: of.session, contentType: "image/jpeg", length: 184_000), for: of.person, key: "key-1")
    }
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<AddCapture> {
        capture(try await provider.begun())
    }
    static let provocations: [String: Provocation<VerificationProvider, AddCapture>] = [
        "unauthorized": { _ in Asked(canonical, key: "key-nobody") },
        "not_found": { capture((.random(), try await $0.begun().session)) },
        "verification_closed": { capture(try await $0.declined()) },
        "rate_limited": { provider in
            let (person, session) = try await provider.begun()
            try await provider.stage.rows(
                "INSERT INTO upload_counts VALUES ('\(person)', (now() AT TIME ZONE 'UTC')::date, 60)")
            return capture((person, session))
        },
    ]
}

extension CompleteVerification: MessageContract {
    static let canonical = CompleteVerification(sessionId: Sample.session)
    static let minimal: CompleteVerification = canonical
    static let maximal = CompleteVerification(sessionId: Sample.session, testVerdict: String(repeating: "v", count: 32))
    static let canonicalReply = VerificationSample.view
    static let minimalReply = VerificationSample.smallView
    static let maximalReply = VerificationSample.largeView
    static let errors = [
        Sample.unauthorized, VerificationSample.notFound, VerificationSample.closed,
        BusError(.captureMissing, "Please send the photo first."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func complete(_ of: (person: Identifier, session: Identifier)) -> Asked<CompleteVerification> {
        Asked(CompleteVerification(sessionId: of.session), for: of.person, key: "key-complete")
    }
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<CompleteVerification> {
        complete(try await provider.uploaded())
    }
    static let provocations: [String: Provocation<VerificationProvider, CompleteVerification>] = [
        "unauthorized": { _ in Asked(canonical, key: "key-nobody") },
        "not_found": { complete((.random(), try await $0.begun().session)) },
        "verification_closed": { complete(try await $0.declined()) },
        "capture_missing": { complete(try await $0.begun()) },
    ]
}

extension GetVerification: MessageContract {
    static let canonical = GetVerification(sessionId: Sample.session)
    static let minimal: GetVerification = canonical
    static let maximal: GetVerification = canonical
    static let canonicalReply = VerificationSample.view
    static let minimalReply = VerificationSample.smallView
    static let maximalReply = VerificationSample.largeView
    static let errors = [Sample.unauthorized, VerificationSample.notFound]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<GetVerification> {
        let (person, session) = try await provider.inReview()
        return Asked(GetVerification(sessionId: session), for: person)
    }
    static let provocations: [String: Provocation<VerificationProvider, GetVerification>] = [
        "unauthorized": { _ in Asked(canonical) },
        "not_found": { Asked(GetVerification(sessionId: try await $0.begun().session), for: .random()) },
    ]
}

extension WithdrawVerificationConsent: MessageContract {
    static let canonical = WithdrawVerificationConsent()
    static let minimal = WithdrawVerificationConsent()
    static let maximal = WithdrawVerificationConsent()
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [Sample.unauthorized]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<WithdrawVerificationConsent> {
        Asked(canonical, for: try await provider.inReview().person)
    }
    static let provocations: [String: Provocation<VerificationProvider, WithdrawVerificationConsent>] = [
        "unauthorized": { _ in Asked(canonical) }
    ]
}

extension WithdrawDocumentConsent: MessageContract {
    static let canonical = WithdrawDocumentConsent()
    static let minimal = WithdrawDocumentConsent()
    static let maximal = WithdrawDocumentConsent()
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [Sample.unauthorized]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<WithdrawDocumentConsent> {
        Asked(canonical, for: try await provider.documentInReview().person)
    }
    static let provocations: [String: Provocation<VerificationProvider, WithdrawDocumentConsent>] = [
        "unauthorized": { _ in Asked(canonical) }
    ]
}

extension ListVerificationReviews: MessageContract {
    static let canonical = ListVerificationReviews()
    static let minimal = ListVerificationReviews()
    static let maximal = ListVerificationReviews()
    static let canonicalReply = VerificationReviewQueue(reviews: [VerificationSample.review])
    static let minimalReply = VerificationReviewQueue(reviews: [])
    static let maximalReply = VerificationReviewQueue(reviews: (0..<100).map { _ in VerificationSample.largeReview })
    static let errors = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<ListVerificationReviews> {
        _ = try await provider.inReview()
        return Asked(canonical, for: .random(), role: .staff)
    }
    static let provocations: [String: Provocation<VerificationProvider, ListVerificationReviews>] = [
        "unauthorized": { _ in Asked(canonical, for: .random()) }
    ]
}

extension GetVerificationReview: MessageContract {
    static let canonical = GetVerificationReview(sessionId: Sample.session)
    static let minimal: GetVerificationReview = canonical
    static let maximal: GetVerificationReview = canonical
    static let canonicalReply = VerificationSample.review
    static let minimalReply = VerificationSample.smallReview
    static let maximalReply = VerificationSample.largeReview
    static let errors = [Sample.unauthorized, VerificationSample.own, VerificationSample.notFound]
    static let hasEffect = true
    // The signature of an address depends on the second at which the address ends.
    static let clockMembers: Set<String> = ["completedAt", "decideBefore", "captureUrl", "backUrl"]
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<GetVerificationReview> {
        Asked(
            GetVerificationReview(sessionId: try await provider.inReview().session), for: .random(), role: .staff)
    }
    static let provocations: [String: Provocation<VerificationProvider, GetVerificationReview>] = [
        "unauthorized": { _ in Asked(canonical, for: .random()) },
        "forbidden": { provider in
            let (person, session) = try await provider.inReview()
            return Asked(GetVerificationReview(sessionId: session), for: person, role: .admin)
        },
        "not_found": { _ in Asked(canonical, for: .random(), role: .staff) },
    ]
}

extension DecideVerification: MessageContract {
    static let canonical = DecideVerification(sessionId: Sample.session, verdict: "verified")
    static let minimal: DecideVerification = canonical
    static let maximal = DecideVerification(sessionId: Sample.session, verdict: "liveness_failed")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [
        Sample.unauthorized, VerificationSample.own, VerificationSample.notFound, VerificationSample.closed,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func decide(
        _ session: Identifier, by staff: Identifier = .random(), role: Role = .staff
    ) -> Asked<DecideVerification> {
        Asked(
            DecideVerification(sessionId: session, verdict: "verified"), for: staff, role: role,
            key: "key-decide")
    }
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<DecideVerification> {
        decide(try await provider.inReview().session)
    }
    static let provocations: [String: Provocation<VerificationProvider, DecideVerification>] = [
        "unauthorized": { _ in decide(Sample.session, role: .user) },
        "forbidden": { provider in
            let (person, session) = try await provider.inReview()
            return decide(session, by: person)
        },
        "not_found": { _ in decide(Sample.session) },
        "verification_closed": { decide(try await $0.uploaded().session) },
    ]
}

extension DecideDocument: MessageContract {
    static let canonical = DecideDocument(sessionId: Sample.session, verdict: "verified")
    static let minimal: DecideDocument = canonical
    static let maximal = DecideDocument(sessionId: Sample.session, verdict: "rejected")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [
        Sample.unauthorized, VerificationSample.own, VerificationSample.notFound, VerificationSample.closed,
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func decide(
        _ session: Identifier, by staff: Identifier = .random(), role: Role = .staff
    ) -> Asked<DecideDocument> {
        Asked(DecideDocument(sessionId: session, verdict: "rejected"), for: staff, role: role, key: "key-decide")
    }
    static func everyday(_ provider: VerificationProvider) async throws -> Asked<DecideDocument> {
        decide(try await provider.documentInReview().session)
    }
    static let provocations: [String: Provocation<VerificationProvider, DecideDocument>] = [
        "unauthorized": { _ in decide(Sample.session, role: .user) },
        "forbidden": { provider in
            let (person, session) = try await provider.documentInReview()
            return decide(session, by: person)
        },
        "not_found": { decide(try await $0.inReview().session) },
        "verification_closed": { decide(try await $0.document().session) },
    ]
}
