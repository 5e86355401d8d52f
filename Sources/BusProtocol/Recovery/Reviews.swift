import JSONText

/// The queue of reviewers, the oldest evidence first; with a status, the newest cases that have it.
@Message
public struct ListReviews: PublicRequest {
    public typealias Reply = ReviewQueue
    public static let type: MessageType = "recovery.list-reviews"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway, .operator], effect: .read, errors: [.unauthorized, .validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/recovery", .staff, "The review queue.")

    /// Cases that have this status, the newest first; without it those that wait for a reviewer.
    @Field(.string(1...32), from: .query("status")) public var status: String?
}

/// A hundred cases at the most.
@Message
public struct ReviewQueue: PublicReply {
    @Field(count: 0...100) public var cases: [ReviewSummary]
}

/// A case as a reviewer sees it in the queue. Nothing in it says whose it is.
@Message
public struct ReviewSummary: PublicReply {
    public var recoveryId: Identifier
    @Field(.string(1...32)) public var status: String
    public var requestedAt: Timestamp
    public var holdUntil: Timestamp
    public var evidenceAt: Timestamp?
    /// Of the provider of evidence: yes, no or undecided.
    @Field(.string(1...32)) public var verdict: String?
    /// What of the account the claimant has shown.
    @Field(.string(1...32)) public var proof: String?
    @Field(.integer(0...2)) public var approvals: Int64
    @Field(.integer(1...2)) public var approvalsNeeded: Int64
    /// Who has it now, by a pseudonym.
    @Field(.string(1...128)) public var reviewer: String?
    public var reviewerUntil: Timestamp?
}

/// One case with its whole trail. It changes nothing, but that the look is written down.
@Message
public struct GetReview: PublicRequest {
    public typealias Reply = ReviewPage
    public static let type: MessageType = "recovery.get-review"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway, .operator], effect: .read, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/recovery/{id}", .staff, "One case with its audit trail.")

    @Field(from: .path("id")) public var recoveryId: Identifier
}

/// A case, everything that happened to it, what reviewers wrote, and what its owner was told.
@Message
public struct ReviewPage: PublicReply {
    public var summary: ReviewSummary
    /// What the claimant gave for the request, while the case is open.
    @Field(.string(1...500)) public var reason: String?
    /// The reference that the claimant gave, while the case is open.
    @Field(.string(1...1024)) public var evidence: String?
    /// What the owner gave last of a contested case, while it is open.
    @Field(.string(1...1024)) public var ownerEvidence: String?
    /// What was given before, the first one first: whoever has a session of the account may give some.
    @Field(.string(1...1024), count: 0...9) public var earlierOwnerEvidence: [String]?
    @Field(count: 0...1000) public var trail: [TrailEntry]
    @Field(count: 0...1000) public var notes: [Note]
    @Field(count: 0...1000) public var notices: [Notice]

    /// One act; its hash chains it to the one before (`vestibule audit verify`).
    @Message
    public struct TrailEntry: MessageValue {
        @Field(.ordinal) public var sequence: Int64
        public var at: Timestamp
        @Field(.string(1...64)) public var act: String
        @Field(.string(0...256), count: 0...16) public var details: [String: String]
        /// SHA-256 in hex.
        @Field(.string(64...64)) public var hash: String
    }

    /// What a reviewer wrote to a decision.
    @Message
    public struct Note: MessageValue {
        public var at: Timestamp
        @Field(.string(1...64)) public var act: String
        @Field(.string(1...128)) public var reviewer: String
        @Field(.string(1...2000)) public var note: String
    }

    /// What the owner was told, and on how many devices it came and did not come.
    @Message
    public struct Notice: MessageValue {
        public var at: Timestamp
        @Field(.string(1...64)) public var about: String
        @Field(.integer(0...100_000)) public var delivered: Int64
        @Field(.integer(0...100_000)) public var failed: Int64
    }
}

/// Takes a case for review for half an hour; who has it for less than half of that, has it
/// for longer.
@Message
public struct ClaimReview: PublicRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.claim-review"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .forbidden, .reviewClaimed, .recoveryNotReady, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/admin/recovery/{id}/claim", .staff, "Takes a case for review.", carriesToken: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
}

/// Gives a case back; who does not have it, gives nothing.
@Message
public struct ReleaseReview: PublicRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.release-review"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/recovery/{id}/release", .staff, "Gives a case back.", carriesToken: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
}

/// A reviewer who has the case says yes. Where a dispute came before, or the account is
/// of staff, another one must say it too.
@Message
public struct ApproveCase: PublicRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.approve-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .notFound, .forbidden, .reviewClaimed, .reviewNotClaimed, .recoveryNotReady, .recoveryClosed,
        ])
    public static let route = HTTPRoute(
        .post, "/admin/recovery/{id}/approve", .staff, "Approves a case.", carriesToken: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
    /// Why; for other reviewers.
    @Field(.string(1...2000)) public var note: String
}

/// A reviewer who has the case says no.
@Message
public struct RejectCase: PublicRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.reject-case"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .notFound, .forbidden, .reviewClaimed, .reviewNotClaimed, .recoveryNotReady, .recoveryClosed,
        ])
    public static let route = HTTPRoute(
        .post, "/admin/recovery/{id}/reject", .staff, "Rejects a case.", carriesToken: true)

    @Field(from: .path("id")) public var recoveryId: Identifier
    /// Why; for other reviewers.
    @Field(.string(1...2000)) public var note: String
}

/// An operator takes a case and decides upon it (`vestibule recovery approve`, `vestibule recovery reject`).
@Message
public struct DecideAsOperator: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.decide-as-operator"
    public static let rules = MessageRules(
        service: .recovery, callers: [.operator], effect: .idempotent,
        errors: [.notFound, .forbidden, .reviewClaimed, .recoveryNotReady, .recoveryClosed])

    public var recoveryId: Identifier
    public var isApproved: Bool
    @Field(.string(1...2000)) public var note: String
    /// Who does it, for the trail.
    @Field(.visibleASCII(1...64)) public var operatorName: String
}
