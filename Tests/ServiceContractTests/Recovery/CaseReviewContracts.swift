import BusProtocol
import EventLoop

/// Values that the samples of the reviewers' messages share.
private enum CaseReviewSample {
    static let summary = ReviewSummary(
        recoveryId: Sample.recovery, status: "in_review", requestedAt: Sample.everyday,
        holdUntil: Sample.everyday + .seconds(259_200), evidenceAt: Sample.everyday + .seconds(260_000), verdict: "yes",
        proof: nil, approvals: 0, approvalsNeeded: 1, reviewer: "h5nPqZ0cS2KqvXbYtWlE3w",
        reviewerUntil: Sample.everyday + .seconds(262_000))
    static let small = ReviewSummary(
        recoveryId: Sample.recovery, status: "h", requestedAt: Sample.earliest, holdUntil: Sample.earliest,
        evidenceAt: nil, verdict: nil, proof: nil, approvals: 0, approvalsNeeded: 1, reviewer: nil, reviewerUntil: nil)
    static let large = ReviewSummary(
        recoveryId: Sample.recovery, status: String(repeating: "h", count: 32), requestedAt: Sample.latest,
        holdUntil: Sample.latest, evidenceAt: Sample.latest, verdict: String(repeating: "v", count: 32),
        proof: String(repeating: "p", count: 32), approvals: 2, approvalsNeeded: 2,
        reviewer: String(repeating: "r", count: 128), reviewerUntil: Sample.latest)
    static let note = String(repeating: "ö", count: 2000)

    static let notFound = BusError(.notFound, "There is no such recovery.")
    static let ownAccount = BusError(.forbidden, "Somebody else must review a recovery of your own account.")
    static let claimed = BusError(.reviewClaimed, "Another reviewer has this recovery now.")
    static let notClaimed = BusError(.reviewNotClaimed, "Please take this recovery before you decide.")
    static let notReady = BusError(
        .recoveryNotReady, "The evidence was not judged yet, or it speaks against the claimant.")
    static let tooEarly = BusError(.recoveryNotReady, "This recovery is not ready for a decision yet.")
    static let closed = BusError(.recoveryClosed, "This recovery is over and cannot be decided any more.")
}

extension SubmitEvidence: MessageContract {
    static let canonical = SubmitEvidence(
        recoveryId: Sample.recovery, recoveryToken: "rt_51ab", verificationId: "ver_2026_0219")
    static let minimal = SubmitEvidence(recoveryId: Sample.recovery, recoveryToken: "r")
    static let maximal = SubmitEvidence(
        recoveryId: Sample.recovery, recoveryToken: String(repeating: "r", count: 128),
        verificationId: String(repeating: "v", count: 128), evidenceReference: String(repeating: "é", count: 1024))

    static let canonicalReply = EvidenceTaken(status: "in_review")
    static let minimalReply = EvidenceTaken(status: "i")
    static let maximalReply = EvidenceTaken(status: String(repeating: "i", count: 32))

    static let errors: [BusError] = [
        BusError(.unauthorized, "This is not a valid recovery token."),
        BusError(
            .validationFailed, "Some members of the request are missing or wrong.",
            errors: [
                .init(
                    field: "verificationId", code: "not_allowed",
                    message: "Give either a verificationId or an evidenceReference.")
            ]),
        BusError(
            .recoveryNotReady, "The hold is not over yet. Please come back later.", retryAfter: .seconds(259_200)),
        BusError(.recoveryClosed, "This recovery is over."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func evidence(_ held: RecoveryRequested) -> Asked<SubmitEvidence> {
        Asked(
            SubmitEvidence(
                recoveryId: held.recoveryId, recoveryToken: held.recoveryToken, verificationId: "undecided-1"),
            key: "key-evidence")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<SubmitEvidence> {
        let held = try await recovery.heldCase().requested
        try await recovery.endHold(of: held.recoveryId)
        return evidence(held)
    }

    static let provocations: [String: Provocation<RecoveryProvider, SubmitEvidence>] = [
        "unauthorized": { recovery in
            var held = try await recovery.heldCase().requested
            held.recoveryToken = "rt_0123456789"
            return evidence(held)
        },
        "validation_failed": { recovery in
            var asked = evidence(try await recovery.heldCase().requested)
            asked.message.evidenceReference = "undecided-2"
            return asked
        },
        "recovery_not_ready": { evidence(try await $0.heldCase().requested) },
        "recovery_closed": { recovery in
            let held = try await recovery.heldCase().requested
            let cancel = CancelRecovery(recoveryId: held.recoveryId, recoveryToken: held.recoveryToken)
            try await recovery.reply(to: Asked(cancel))
            return evidence(held)
        },
    ]
}

extension ListReviews: MessageContract {
    static let canonical = ListReviews(status: "in_review")
    static let minimal = ListReviews()
    static let maximal = ListReviews(status: String(repeating: "s", count: 32))

    static let canonicalReply = ReviewQueue(cases: [CaseReviewSample.summary])
    static let minimalReply = ReviewQueue(cases: [])
    static let maximalReply = ReviewQueue(cases: (0..<100).map { _ in CaseReviewSample.large })

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(
            .validationFailed, "There is no such status. \(all)",
            errors: [.init(field: "status", code: "unknown_option", message: all)]),
    ]
    private static let all = """
        There are held, identity_required, in_review, approved, completing, completed, disputed, contested, rejected, \
        cancelled, expired.
        """

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<ListReviews> {
        _ = try await recovery.reviewCase()
        return Asked(ListReviews(), for: .random(), role: .staff)
    }

    static let provocations: [String: Provocation<RecoveryProvider, ListReviews>] = [
        "unauthorized": { _ in Asked(ListReviews()) },
        "validation_failed": { _ in Asked(ListReviews(status: "open"), for: .random(), role: .staff) },
    ]
}

extension GetReview: MessageContract {
    static let canonical = GetReview(recoveryId: Sample.recovery)
    static let minimal: GetReview = canonical
    static let maximal: GetReview = canonical

    static let canonicalReply = ReviewPage(
        summary: CaseReviewSample.summary, evidence: "ver_2026_0219",
        trail: [
            .init(
                sequence: 1, at: Sample.everyday, act: "requested", details: ["by": "claimant", "status": "held"],
                hash: String(repeating: "0f", count: 32))
        ], notes: [.init(at: Sample.everyday, act: "approved", reviewer: "operator anna", note: "The passport fits.")],
        notices: [.init(at: Sample.everyday, about: "recovery_requested", delivered: 2, failed: 1)])
    static let minimalReply = ReviewPage(
        summary: CaseReviewSample.small, evidence: nil, trail: [], notes: [], notices: [])
    static let maximalReply = ReviewPage(
        summary: CaseReviewSample.large, evidence: String(repeating: "é", count: 1024),
        trail: [
            .init(
                sequence: Sample.largestInteger, at: Sample.latest, act: String(repeating: "a", count: 64),
                details: Dictionary(
                    uniqueKeysWithValues: (0..<16).map { ("k\($0)", String(repeating: "d", count: 256)) }),
                hash: String(repeating: "f", count: 64))
        ],
        notes: [
            .init(
                at: Sample.latest, act: String(repeating: "a", count: 64), reviewer: String(repeating: "r", count: 128),
                note: CaseReviewSample.note)
        ],
        notices: [
            .init(at: Sample.latest, about: String(repeating: "k", count: 64), delivered: 100_000, failed: 100_000)
        ])

    static let errors: [BusError] = [Sample.unauthorized, CaseReviewSample.ownAccount, CaseReviewSample.notFound]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<GetReview> {
        Asked(GetReview(recoveryId: try await recovery.reviewCase()), for: .random(), role: .staff)
    }

    static let provocations: [String: Provocation<RecoveryProvider, GetReview>] = [
        "unauthorized": { Asked(GetReview(recoveryId: try await $0.reviewCase())) },
        "not_found": { _ in Asked(GetReview(recoveryId: .ordered()), for: .random(), role: .staff) },
        "forbidden": { Asked(GetReview(recoveryId: try await $0.reviewCase()), for: $0.owner, role: .staff) },
    ]
}

extension ClaimReview: MessageContract {
    static let canonical = ClaimReview(recoveryId: Sample.recovery)
    static let minimal: ClaimReview = canonical
    static let maximal: ClaimReview = canonical

    static let canonicalReply: ReviewSummary = CaseReviewSample.summary
    static let minimalReply: ReviewSummary = CaseReviewSample.small
    static let maximalReply: ReviewSummary = CaseReviewSample.large

    static let errors: [BusError] = [
        Sample.unauthorized, CaseReviewSample.notFound, CaseReviewSample.ownAccount, CaseReviewSample.claimed,
        CaseReviewSample.tooEarly,
        CaseReviewSample.closed,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = ["reviewerUntil"]

    private static func claim(_ id: Identifier, by person: Identifier = .random()) -> Asked<ClaimReview> {
        Asked(ClaimReview(recoveryId: id), for: person, role: .staff, key: "key-claim")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<ClaimReview> {
        claim(try await recovery.reviewCase())
    }

    static let provocations: [String: Provocation<RecoveryProvider, ClaimReview>] = [
        "unauthorized": { Asked(ClaimReview(recoveryId: try await $0.reviewCase())) },
        "not_found": { try await $0.known(claim(.ordered())) },
        "forbidden": { recovery in
            try await recovery.known(claim(try await recovery.reviewCase(), by: recovery.owner))
        },
        "review_claimed": { recovery in
            let id = try await recovery.reviewCase()
            try await recovery.reply(to: claim(id))
            return try await recovery.known(claim(id))
        },
        "recovery_not_ready": { recovery in
            try await recovery.known(claim(try await recovery.heldCase().requested.recoveryId))
        },
        "recovery_closed": { try await $0.known(claim(try await $0.closedCase())) },
    ]
}

extension ReleaseReview: MessageContract {
    static let canonical = ReleaseReview(recoveryId: Sample.recovery)
    static let minimal: ReleaseReview = canonical
    static let maximal: ReleaseReview = canonical

    static let canonicalReply: ReviewSummary = CaseReviewSample.summary
    static let minimalReply: ReviewSummary = CaseReviewSample.small
    static let maximalReply: ReviewSummary = CaseReviewSample.large

    static let errors: [BusError] = [Sample.unauthorized, CaseReviewSample.notFound]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<ReleaseReview> {
        let (id, reviewer) = try await recovery.claimedCase()
        return Asked(ReleaseReview(recoveryId: id), for: reviewer, role: .staff, key: "key-release")
    }

    static let provocations: [String: Provocation<RecoveryProvider, ReleaseReview>] = [
        "unauthorized": { Asked(ReleaseReview(recoveryId: try await $0.reviewCase())) },
        "not_found": {
            try await $0.known(Asked(ReleaseReview(recoveryId: .ordered()), for: .random(), role: .staff))
        },
    ]
}

extension ApproveCase: MessageContract {
    static let canonical = ApproveCase(recoveryId: Sample.recovery, note: "The passport fits.")
    static let minimal = ApproveCase(recoveryId: Sample.recovery, note: "y")
    static let maximal = ApproveCase(recoveryId: Sample.recovery, note: CaseReviewSample.note)

    static let canonicalReply: ReviewSummary = CaseReviewSample.summary
    static let minimalReply: ReviewSummary = CaseReviewSample.small
    static let maximalReply: ReviewSummary = CaseReviewSample.large

    static let errors: [BusError] = [
        Sample.unauthorized, CaseReviewSample.notFound, CaseReviewSample.ownAccount, CaseReviewSample.claimed,
        CaseReviewSample.notClaimed, CaseReviewSample.notReady, CaseReviewSample.closed,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func approve(_ id: Identifier, by person: Identifier = .random()) -> Asked<ApproveCase> {
        Asked(ApproveCase(recoveryId: id, note: "The passport fits."), for: person, role: .staff, key: "key-approve")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<ApproveCase> {
        let (id, reviewer) = try await recovery.claimedCase()
        return approve(id, by: reviewer)
    }

    static let provocations: [String: Provocation<RecoveryProvider, ApproveCase>] = [
        "unauthorized": { recovery in
            var asked = approve(try await recovery.reviewCase())
            asked.options.actor = nil
            return asked
        },
        "not_found": { try await $0.known(approve(.ordered())) },
        "forbidden": { try await $0.known(approve(try await $0.reviewCase(), by: $0.owner)) },
        "review_claimed": { try await $0.known(approve(try await $0.claimedCase().id)) },
        "review_not_claimed": { try await $0.known(approve(try await $0.reviewCase())) },
        "recovery_not_ready": { recovery in
            let (id, reviewer) = try await recovery.claimedCase(evidence: "no-1")
            return approve(id, by: reviewer)
        },
        "recovery_closed": { try await $0.known(approve(try await $0.closedCase())) },
    ]
}

extension RejectCase: MessageContract {
    static let canonical = RejectCase(recoveryId: Sample.recovery, note: "The passport is another's.")
    static let minimal = RejectCase(recoveryId: Sample.recovery, note: "n")
    static let maximal = RejectCase(recoveryId: Sample.recovery, note: CaseReviewSample.note)

    static let canonicalReply: ReviewSummary = CaseReviewSample.summary
    static let minimalReply: ReviewSummary = CaseReviewSample.small
    static let maximalReply: ReviewSummary = CaseReviewSample.large

    static let errors: [BusError] = [
        Sample.unauthorized, CaseReviewSample.notFound, CaseReviewSample.ownAccount, CaseReviewSample.claimed,
        CaseReviewSample.notClaimed, CaseReviewSample.tooEarly, CaseReviewSample.closed,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func reject(_ id: Identifier, by person: Identifier = .random()) -> Asked<RejectCase> {
        Asked(RejectCase(recoveryId: id, note: "Another face."), for: person, role: .staff, key: "key-reject")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<RejectCase> {
        let (id, reviewer) = try await recovery.claimedCase()
        return reject(id, by: reviewer)
    }

    static let provocations: [String: Provocation<RecoveryProvider, RejectCase>] = [
        "unauthorized": { recovery in
            var asked = reject(try await recovery.reviewCase())
            asked.options.actor = nil
            return asked
        },
        "not_found": { try await $0.known(reject(.ordered())) },
        "forbidden": { try await $0.known(reject(try await $0.reviewCase(), by: $0.owner)) },
        "review_claimed": { try await $0.known(reject(try await $0.claimedCase().id)) },
        "review_not_claimed": { try await $0.known(reject(try await $0.reviewCase())) },
        "recovery_not_ready": { try await $0.known(reject(try await $0.heldCase().requested.recoveryId)) },
        "recovery_closed": { try await $0.known(reject(try await $0.closedCase())) },
    ]
}

extension DecideAsOperator: MessageContract {
    static let canonical = DecideAsOperator(
        recoveryId: Sample.recovery, isApproved: true, note: "The passport fits.", operatorName: "anna")
    static let minimal = DecideAsOperator(
        recoveryId: Sample.recovery, isApproved: false, note: "n", operatorName: "a")
    static let maximal = DecideAsOperator(
        recoveryId: Sample.recovery, isApproved: true, note: CaseReviewSample.note,
        operatorName: String(repeating: "a", count: 64))

    static let canonicalReply: ReviewSummary = CaseReviewSample.summary
    static let minimalReply: ReviewSummary = CaseReviewSample.small
    static let maximalReply: ReviewSummary = CaseReviewSample.large

    static let errors: [BusError] = [
        CaseReviewSample.notFound, BusError(.forbidden, "Another reviewer must approve this recovery, too."),
        CaseReviewSample.claimed, CaseReviewSample.notReady, CaseReviewSample.closed,
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func decide(_ id: Identifier, _ isApproved: Bool = true) -> Asked<DecideAsOperator> {
        Asked(
            DecideAsOperator(recoveryId: id, isApproved: isApproved, note: "The passport fits.", operatorName: "anna"),
            as: .operator, key: "key-decide")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<DecideAsOperator> {
        decide(try await recovery.reviewCase())
    }

    static let provocations: [String: Provocation<RecoveryProvider, DecideAsOperator>] = [
        "not_found": { _ in decide(.ordered()) },
        "forbidden": { recovery in
            let id = try await recovery.reviewCase()
            try await recovery.stage.rows("UPDATE cases SET is_of_staff = true WHERE id = '\(id)'")
            try await recovery.reply(to: decide(id))
            return decide(id)
        },
        "review_claimed": { decide(try await $0.claimedCase().id) },
        "recovery_not_ready": { decide(try await $0.reviewCase(evidence: "no-1")) },
        "recovery_closed": { decide(try await $0.closedCase()) },
    ]
}
