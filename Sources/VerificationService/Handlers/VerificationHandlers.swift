import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Begins a session, or notes that the person declined.
struct BeginVerificationHandler: RequestHandler {
    let inbox: Inbox
    let workflow: VerificationWorkflow
    /// Opens a check for each session, if photos are judged by Rekognition.
    let rekognition: RekognitionJudge?
    let log: Log

    func handle(_ request: BeginVerification, context: RequestContext) async throws -> VerificationBegun {
        var begun = try await begun(request, context)
        guard let rekognition, begun.isCreated, let session = begun.sessionId else { return begun }
        let person = try context.person().userID
        let known = try await workflow.store.verification(of: person)
        guard known?.needsReviewers != true else { return begun }
        do {
            (begun.provider, begun.expiresAt) = try await opened(session, of: person, known, rekognition)
        } catch let error as JudgeError {
            log.error("check_not_opened", ["error": .string(error.reason)])
            throw Self.unavailable
        }
        // The provider's own software guides the person.
        begun.prompts = []
        return begun
    }

    /// Opens the session's check. Its keys are made for each answer, and nobody keeps them: a repetition gets others for the
    /// same check.
    @Loop private func opened(
        _ session: Identifier, of person: Identifier, _ known: Verification?, _ rekognition: RekognitionJudge
    ) async throws -> (LivenessCheck?, Timestamp?) {
        func isOpen(_ known: Verification) -> Bool { known.session == session && known.status == .awaitingCapture }
        guard let known, isOpen(known) else { return (nil, nil) }
        let check: String
        if let open = known.check { check = open } else { check = try await rekognition.open(session) }
        let credentials = try await rekognition.credentials()
        let dueAt: Timestamp? = try await workflow.store.database.transaction { transaction in
            let known = try await workflow.store.locked(person, in: transaction)
            // Meanwhile the person may have begun another session, or have declined.
            guard isOpen(known.verification) else { return nil }
            return try await workflow.apply(.checkOpened(check), to: known, in: transaction).dueAt
        }
        guard let dueAt else { return (nil, nil) }
        let shown = LivenessCheck(
            name: "rekognition", sessionId: check, region: rekognition.region, credentials: credentials)
        return (shown, dueAt)
    }

    private static let unavailable = BusError(
        .serviceUnavailable, "This part of the service is not available right now. Please try again.")

    @Loop private func begun(_ request: BeginVerification, _ context: RequestContext) async throws -> VerificationBegun
    {
        let person = try context.person().userID
        let language = Language.named(context.language)
        let consent = request.consent.flatMap { $0.biometric ? $0 : nil }
        let event =
            consent.map { consent in
                Verification.Event.agreed(
                    .init(textVersion: consent.textVersion, locale: language.tag, givenAt: consent.at), .ordered())
            } ?? .declined
        return try await workflow.outbox.awaitingDelivery { watch in
            try await inbox.once(context) { transaction in
                let known = try await workflow.store.locked(person, in: transaction)
                let verification = try await workflow.apply(event, to: known, watch: watch, in: transaction)
                return .reply(VerificationBegun(verification, isNew: consent != nil, in: language))
            }
        }
    }
}

/// Promises an upload of a session's photo.
struct AddCaptureHandler: RequestHandler {
    let inbox: Inbox
    let workflow: VerificationWorkflow

    func handle(_ request: AddCapture, context: RequestContext) async throws -> CapturePromised {
        let person = try context.person().userID
        return try await inbox.once(context, carriesToken: true) { transaction in
            let known = try await workflow.store.locked(person, of: request.sessionId, in: transaction)
            let media = workflow.photos.media
            guard media.vault != nil else {
                throw BusError(.serviceUnavailable, "Photos cannot be sent right now. Please try again later.")
            }
            guard known.verification.status == .awaitingCapture,
                let capture = try await media.reserve(
                    .verification, contentType: request.contentType, length: request.length, for: person,
                    in: transaction)
            else { throw VerificationWorkflow.over }
            try await workflow.apply(.uploadReserved(capture.media), to: known, in: transaction)
            return .reply(CapturePromised(uploadUrl: capture.url, expiresAt: capture.expiresAt))
        }
    }
}

/// Asks for a verdict on an uploaded photo.
struct CompleteVerificationHandler: RequestHandler {
    let workflow: VerificationWorkflow

    func handle(_ request: CompleteVerification, context: RequestContext) async throws -> VerificationView {
        let person = try context.person().userID
        return try await workflow.store.database.transaction { transaction in
            let known = try await workflow.store.locked(person, of: request.sessionId, in: transaction)
            if known.verification.status == .awaitingCapture, known.verification.check == nil {
                guard let media = known.verification.media,
                    try await workflow.photos.media.hasArrived(media, .verification, of: person, in: transaction)
                else { throw BusError(.captureMissing, "Please send the photo first.") }
            }
            let verification = try await workflow.apply(
                .completed(byReviewersOnly: workflow.judge == nil), to: known, testVerdict: request.testVerdict,
                in: transaction)
            return VerificationView(verification, in: .named(context.language))
        }
    }
}

/// Shows how far a session is.
struct GetVerificationHandler: RequestHandler {
    let store: VerificationStore

    func handle(_ request: GetVerification, context: RequestContext) async throws -> VerificationView {
        guard let verification = try await store.verification(of: context.person().userID),
            verification.session == request.sessionId
        else { throw VerificationWorkflow.unknown }
        return VerificationView(verification, in: .named(context.language))
    }
}

/// Takes a consent back.
struct WithdrawVerificationConsentHandler: RequestHandler {
    let workflow: VerificationWorkflow

    func handle(_ request: WithdrawVerificationConsent, context: RequestContext) async throws -> NoContent {
        let person = try context.person().userID
        try await workflow.outbox.awaitingDelivery { watch in
            try await workflow.store.database.transaction { transaction in
                let known = try await workflow.store.locked(person, in: transaction)
                try await workflow.apply(.withdrawn, to: known, watch: watch, in: transaction)
            }
        }
        return NoContent()
    }
}

extension VerificationStore {
    /// The person's verification, locked until the transaction ends.
    ///
    /// - Throws: ``BusError`` `not_found` if the session is not the person's newest one.
    fileprivate func locked(
        _ person: Identifier, of session: Identifier, in transaction: Transaction
    ) async throws -> Known {
        let known = try await locked(person, in: transaction)
        guard known.verification.session == session else { throw VerificationWorkflow.unknown }
        return known
    }
}

extension VerificationBegun {
    fileprivate init(_ verification: Verification, isNew: Bool, in language: Language) {
        let isOpen = isNew && verification.status == .awaitingCapture
        self.init(
            sessionId: isNew ? verification.session : nil, status: verification.shownStatus,
            prompts: isOpen ? Verification.prompts(in: language) : [], expiresAt: isOpen ? verification.dueAt : nil,
            attemptsLeft: Int64(verification.triesLeft), message: verification.message.text(in: language))
    }
}

extension VerificationView {
    fileprivate init(_ verification: Verification, in language: Language) {
        self.init(
            status: verification.shownStatus, message: verification.message.text(in: language),
            attemptsLeft: Int64(verification.triesLeft))
    }
}

extension Verification {
    /// Whoever waited for too long is told so once. What comes later comes by push.
    fileprivate var shownStatus: String { (status == .overdue ? .inconclusive : status).rawValue }

    fileprivate var message: Sentence {
        switch status {
        case .livenessFailed where needsReviewers, .qualityTooLow where needsReviewers,
            .inconclusive where needsReviewers:
            "We could not verify you. Please try again with a photo, and we will review it."
        case .notStarted, .awaitingCapture: "Please take a photo of your face."
        case .declined: "You are not verified, so you are not matched yet. You can verify yourself at any time."
        case .processing: "We are looking at your photo."
        case .overdue: "This takes longer than usual. We will tell you when we know more."
        case .verified: "You are verified."
        case .livenessFailed where triesLeft > 0: "We could not see that it is really you. Please try again."
        case .qualityTooLow where triesLeft > 0: "The photo is not clear enough. Please try again in better light."
        case .inconclusive where triesLeft > 0: "We could not verify you. Please try again, or contact support."
        case .livenessFailed, .qualityTooLow, .inconclusive: "We could not verify you. Please contact support."
        case .manualReview: "We are reviewing your photo. You can go on meanwhile."
        case .expired: "This took too long. Please try again."
        }
    }

    fileprivate static func prompts(in language: Language) -> [VerificationPrompt] {
        let all: [(String, Sentence)] = [
            ("light", "Find good light."), ("glasses", "Take off your sunglasses."), ("center", "Center your face."),
            ("blink", "Blink slowly."), ("turn_left", "Turn your head to the left."),
        ]
        return all.map { VerificationPrompt(key: $0, text: $1.text(in: language)) }
    }
}
