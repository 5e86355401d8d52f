import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Begins a verification session, or notes that the person declined.
struct BeginVerificationHandler: RequestHandler {
    let inbox: Inbox
    let workflow: VerificationWorkflow
    /// Opens a check for each session, if photos are judged by Rekognition.
    let rekognition: RekognitionJudge?
    let log: Log

    func handle(_ request: BeginVerification, context: RequestContext) async throws -> VerificationBegun {
        let consent = request.consent.flatMap { $0.biometric ? ($0.textVersion, $0.at) : nil }
        var begun = try await workflow.begin(.photo, consent, inbox, context)
        guard let rekognition, begun.hasOtherSuccess, let session = begun.sessionId,
            let known = try await workflow.store.verification(of: session), !known.verification.needsReviewers
        else {
            return begun
        }
        do {
            (begun.provider, begun.expiresAt) = try await opened(session, known, rekognition)
        } catch let error as JudgeError {
            log.error("check_not_opened", ["error": .string(error.reason)])
            throw Self.unavailable
        }
        // The provider's own software guides the person.
        begun.prompts = []
        return begun
    }

    /// Opens the session's check. Each answer gets new keys, which the service does not keep. So a repetition gets
    /// other keys for the same check.
    @Loop private func opened(
        _ session: Identifier, _ known: VerificationStore.Known, _ rekognition: RekognitionJudge
    ) async throws -> (LivenessCheck?, Timestamp?) {
        func isOpen(_ known: VerificationStore.Known) -> Bool { known.verification.status == .awaitingCapture }
        guard isOpen(known) else { return (nil, nil) }
        // First, so that no check is opened while AWS gives no keys.
        let credentials = try await rekognition.credentials()
        let check: String
        if let open = known.verification.check { check = open } else { check = try await rekognition.open() }
        let noted: Verification? = try await workflow.store.database.transaction { transaction in
            // Meanwhile the person may have begun another session, or have declined.
            guard let known = try await workflow.store.locked(known.person, of: session, in: transaction), isOpen(known)
            else {
                return nil
            }
            return try await workflow.apply(.checkOpened(check), to: known, in: transaction)
        }
        // A repetition that ran at the same time may have noted another check first.
        guard let noted, let check = noted.check else { return (nil, nil) }
        let shown = LivenessCheck(
            name: "rekognition", sessionId: check, region: rekognition.region, credentials: credentials)
        return (shown, noted.dueAt)
    }

    private static let unavailable = BusError(
        .serviceUnavailable, "This part of the service is not available right now. Please try again.")
}

/// Begins a verification session for a document, or notes that the person declined.
struct BeginDocumentVerificationHandler: RequestHandler {
    let inbox: Inbox
    let workflow: VerificationWorkflow

    func handle(_ request: BeginDocumentVerification, context: RequestContext) async throws -> VerificationBegun {
        let consent = request.consent.flatMap { $0.document ? ($0.textVersion, $0.at) : nil }
        return try await workflow.begin(.id, consent, inbox, context)
    }
}

extension VerificationWorkflow {
    /// - Parameter consent: the version of the text to which the person agreed, and when; `nil` if they declined.
    fileprivate func begin(
        _ tier: Tier, _ consent: (textVersion: String, at: Timestamp)?, _ inbox: Inbox, _ context: RequestContext
    ) async throws -> VerificationBegun {
        let person = try context.person().userID
        let language = Language.named(context.language)
        let event = consent.map { text, at in
            Verification.Event.agreed(.init(textVersion: text, locale: language.tag, givenAt: at), .ordered())
        }
        return try await outbox.awaitingDelivery { watch in
            try await inbox.once(context) { transaction in
                let known = try await store.locked(person, tier, in: transaction)
                let verification = try await apply(event ?? .declined, to: known, watch: watch, in: transaction)
                return .reply(VerificationBegun(verification, isNew: consent != nil, in: language))
            }
        }
    }

    /// Withdraws the person's consent to a tier.
    fileprivate func withdraw(_ tier: Tier, _ context: RequestContext) async throws -> NoContent {
        let person = try context.person().userID
        try await outbox.awaitingDelivery { watch in
            try await store.database.transaction { transaction in
                let known = try await store.locked(person, tier, in: transaction)
                try await apply(.withdrawn, to: known, watch: watch, in: transaction)
            }
        }
        return NoContent()
    }
}

/// Promises uploads of a verification session's photo, or of a side of its document.
@Loop struct CapturePromiser {
    let workflow: VerificationWorkflow
    /// Whether this replica has folders for pictures.
    let hasVault: Bool

    /// - Throws: ``BusError`` `verification_closed` if the verification waits for no picture.
    func promise(
        _ contentType: String, _ length: Int64, side: String?, to known: VerificationStore.Known,
        in transaction: Transaction
    ) async throws -> MediaStore.Reserved {
        guard hasVault else {
            throw BusError(.serviceUnavailable, "Photos cannot be sent right now. Please try again later.")
        }
        let tier = known.verification.tier
        guard known.verification.status == .awaitingCapture,
            let capture = try await workflow.photos.media.promise(
                MediaPurpose(of: tier), contentType: contentType, length: length, for: known.person, in: transaction)
        else { throw VerificationWorkflow.over }
        let isBack = tier == .id && side == "back"
        try await workflow.apply(.uploadReserved(capture.media, isBack: isBack), to: known, in: transaction)
        return capture
    }
}

/// Promises an upload to a session that the app names.
struct AddCaptureHandler: RequestHandler {
    let inbox: Inbox
    let captures: CapturePromiser

    func handle(_ request: AddCapture, context: RequestContext) async throws -> CapturePromised {
        let person = try context.person().userID
        return try await inbox.once(context, carriesToken: true) { transaction in
            let known = try await captures.workflow.locked(person, of: request.sessionId, in: transaction)
            let capture = try await captures.promise(
                request.contentType, request.length, side: request.side, to: known, in: transaction)
            return .reply(CapturePromised(uploadUrl: capture.url, expiresAt: capture.expiresAt))
        }
    }
}

/// Asks for a verdict on the verification session's pictures.
struct CompleteVerificationHandler: RequestHandler {
    let workflow: VerificationWorkflow

    func handle(_ request: CompleteVerification, context: RequestContext) async throws -> VerificationView {
        let person = try context.person().userID
        return try await workflow.store.database.transaction { transaction in
            let known = try await workflow.locked(person, of: request.sessionId, in: transaction)
            // Reviewers cannot see a check that another judge opened.
            if known.verification.status == .awaitingCapture,
                known.verification.check == nil || workflow.judge == nil
            {
                guard try await hasArrived(known, in: transaction) else {
                    throw BusError(.captureMissing, known.verification.missing)
                }
            }
            let verification = try await workflow.apply(
                .completed(byReviewersOnly: workflow.judge == nil), to: known, testVerdict: request.testVerdict,
                in: transaction)
            return VerificationView(verification, in: .named(context.language))
        }
    }

    /// If the app announced the back of the document, it must have arrived. Otherwise the front is enough.
    @Loop private func hasArrived(
        _ known: VerificationStore.Known, in transaction: Transaction
    ) async throws -> Bool {
        let (media, purpose) = (workflow.photos.media, MediaPurpose(of: known.verification.tier))
        for picture in known.verification.pictures {
            guard try await media.hasArrived(picture, purpose, of: known.person, in: transaction) else { return false }
        }
        return known.verification.media != nil
    }
}

/// Shows how far a verification session is.
struct GetVerificationHandler: RequestHandler {
    let store: VerificationStore

    func handle(_ request: GetVerification, context: RequestContext) async throws -> VerificationView {
        let person = try context.person().userID
        guard let known = try await store.verification(of: request.sessionId), known.person == person else {
            throw VerificationWorkflow.unknown
        }
        return VerificationView(known.verification, in: .named(context.language))
    }
}

/// Withdraws the consent to a verification by a photo.
struct WithdrawVerificationConsentHandler: RequestHandler {
    let workflow: VerificationWorkflow

    func handle(_ request: WithdrawVerificationConsent, context: RequestContext) async throws -> NoContent {
        try await workflow.withdraw(.photo, context)
    }
}

/// Withdraws the consent to a verification by a document.
struct WithdrawDocumentConsentHandler: RequestHandler {
    let workflow: VerificationWorkflow

    func handle(_ request: WithdrawDocumentConsent, context: RequestContext) async throws -> NoContent {
        try await workflow.withdraw(.id, context)
    }
}

extension VerificationBegun {
    fileprivate init(_ verification: Verification, isNew: Bool, in language: Language) {
        let isOpen = isNew && verification.status == .awaitingCapture
        self.init(
            sessionId: isNew ? verification.session : nil, status: verification.shownStatus,
            prompts: isOpen ? verification.prompts(in: language) : [], expiresAt: isOpen ? verification.dueAt : nil,
            attemptsLeft: Int64(verification.triesLeft), message: verification.message.text(in: language))
    }
}

extension VerificationView {
    init(_ verification: Verification, in language: Language) {
        self.init(
            status: verification.shownStatus, message: verification.message.text(in: language),
            attemptsLeft: Int64(verification.triesLeft))
    }
}

extension Verification {
    /// If the wait was too long, the app shows the verification as inconclusive. A later verdict arrives by push.
    fileprivate var shownStatus: String { (status == .overdue ? .inconclusive : status).rawValue }

    fileprivate var message: Sentence {
        switch (status, tier) {
        case (.livenessFailed, _) where needsReviewers, (.qualityTooLow, _) where needsReviewers,
            (.inconclusive, _) where needsReviewers:
            "We could not verify you. Please try again with a photo, and we will review it."
        case (.notStarted, .photo), (.awaitingCapture, .photo): "Please take a photo of your face."
        case (.notStarted, .id), (.awaitingCapture, .id): "Please take a picture of your document."
        case (.declined, .photo):
            "You are not verified, so you are not matched yet. You can verify yourself at any time."
        case (.declined, .id): "Your document is not verified. You can verify it at any time."
        case (.processing, _): "We are looking at your photo."
        case (.overdue, _): "This takes longer than usual. We will tell you when we know more."
        case (.verified, _): "You're verified!"
        case (.livenessFailed, _) where triesLeft > 0: "We couldn't verify liveness. Try again?"
        case (.qualityTooLow, _) where triesLeft > 0: "Photo quality too low. Better lighting?"
        case (.inconclusive, _) where triesLeft > 0: "Verification inconclusive. Contact support?"
        case (.rejected, _) where triesLeft > 0: "We could not accept the document. Please try again."
        case (.livenessFailed, _), (.qualityTooLow, _), (.inconclusive, _), (.rejected, _):
            "We could not verify you. Please contact support."
        case (.manualReview, .photo): "We're reviewing your photo. You can go on meanwhile."
        case (.manualReview, .id): "We're reviewing your document. You can go on meanwhile."
        case (.expired, _): "This took too long. Please try again."
        }
    }

    /// The message for a person who completes a session without its pictures.
    fileprivate var missing: String {
        tier == .photo ? "Please send the photo first." : "Please send the pictures of the document first."
    }

    fileprivate func prompts(in language: Language) -> [VerificationPrompt] {
        let all: [(String, Sentence)] =
            switch tier {
            case .photo:
                [
                    ("light", "Find good light."), ("glasses", "Take off your sunglasses."),
                    ("center", "Center your face."), ("blink", "Blink slowly."),
                    ("turn_left", "Turn your head to the left."),
                ]
            case .id:
                [
                    ("light", "Find good light."), ("front", "Show the whole front of the document."),
                    ("back", "If there is something on the back, show it too."),
                ]
            }
        return all.map { VerificationPrompt(key: $0, text: $1.text(in: language)) }
    }
}
