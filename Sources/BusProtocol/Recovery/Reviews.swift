import JSONText

/// Lists the cases that wait for a reviewer, the oldest evidence first. With a status it lists the newest cases with
/// that status.
@Message
public struct ListReviews: PublicRequest {
    public typealias Reply = ReviewQueue
    public static let type: MessageType = "recovery.list-reviews"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway, .operator], effect: .read, errors: [.unauthorized, .validationFailed])
    public static let route = HTTPRoute(
        .get, "/admin/recovery", .staff, "The review queue.")

    /// Lists the cases with this status, the newest first. Without it the reply has the cases that wait for a reviewer.
    @Field(.recoveryStatus, from: .query("status"), example: "held") public var status: String?
}

/// The reply to ``ListReviews``.
@Message
public struct ReviewQueue: PublicReply {
    /// At most 100 cases.
    @Field(count: 0...100) public var cases: [ReviewSummary]
}

/// A case as a reviewer sees it in the queue. Nothing in it identifies the account.
@Message
public struct ReviewSummary: PublicReply {
    /// The recovery case.
    public var recoveryId: Identifier
    /// The status of the case.
    @Field(.recoveryStatus) public var status: String
    /// When the claimant asked for the account.
    public var requestedAt: Timestamp
    /// When the hold ends.
    public var holdUntil: Timestamp
    /// When the claimant gave evidence.
    public var evidenceAt: Timestamp?
    /// What the provider of evidence said: `yes`, `no` or `undecided`.
    @Field(.verdict) public var verdict: String?
    /// What the claimant has shown that a stranger cannot.
    @Field(.recoveryProof) public var proof: String?
    /// The number of approvals so far.
    @Field(.integer(0...2), example: 1) public var approvals: Int64
    /// The number of approvals that the case needs.
    @Field(.integer(1...2), example: 2) public var approvalsNeeded: Int64
    /// The reviewer who has the case now, by a pseudonym.
    @Field(.string(1...128)) public var reviewer: String?
    /// Until when the reviewer has the case.
    public var reviewerUntil: Timestamp?
}

/// Asks for one case with its audit trail. The only change is a new entry in the trail.
@Message
public struct GetReview: PublicRequest {
    public typealias Reply = ReviewPage
    public static let type: MessageType = "recovery.get-review"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway, .operator], effect: .read,
        errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/recovery/{id}", .staff, "One case with its audit trail.")

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
}

/// A case with its history, the reviewers' notes and the notices to its owner.
@Message
public struct ReviewPage: PublicReply {
    /// The case as in the queue.
    public var summary: ReviewSummary
    /// The reason that the claimant gave, while the case is open.
    @Field(.string(1...500), example: "My phone was stolen.") public var reason: String?
    /// The reference that the claimant gave, while the case is open.
    @Field(.string(1...1024), example: "evidence-1") public var evidence: String?
    /// The owner's newest evidence in a contested case, while it is open.
    @Field(.string(1...1024), example: "evidence-2") public var ownerEvidence: String?
    /// The owner's earlier evidence, the oldest first. Anybody with a session of the account may give some.
    @Field(.string(1...1024), count: 0...9, example: "evidence-0") public var earlierOwnerEvidence: [String]?
    /// The pictures of both sides that have arrived, the oldest first, while the case is open.
    @Field(count: 0...100) public var pictures: [Picture]?
    /// What the account is known by, while the case is open.
    public var account: Account?
    /// The acts on the case.
    @Field(count: 0...1000) public var trail: [TrailEntry]
    /// The reviewers' notes.
    @Field(count: 0...1000) public var notes: [Note]
    /// The notices to the owner.
    @Field(count: 0...1000) public var notices: [Notice]

    /// A picture of one side. Looking at it is a request of its own.
    @Message
    public struct Picture: MessageValue {
        /// The picture.
        public var mediaId: Identifier
        /// Who sent it.
        @Field(.evidenceSide, example: "claimant") public var side: String
        /// When its upload was asked for.
        public var at: Timestamp
    }

    /// What a reviewer compares with the evidence. Nothing in it reaches the owner.
    @Message
    public struct Account: MessageValue {
        /// The first name, or the name that is shown in its place.
        @Field(.string(1...200), example: "Zoë") public var firstName: String?
        /// About how old the person is.
        @Field(.ageBand, example: "25-34") public var ageBand: String?
        /// `photo_verified` and `id_verified`.
        @Field(.string(1...64), count: 0...16, example: "photo_verified") public var badges: [String]
        /// The devices, the last used first.
        @Field(count: 0...100) public var devices: [Device]

        /// A device of the account.
        @Message
        public struct Device: MessageValue {
            /// The operating system, or `web`.
            @Field(.platform) public var platform: String
            /// When the account got the device.
            public var addedAt: Timestamp
            /// When it was last used.
            public var lastUsedAt: Timestamp
        }
    }

    /// One act. Its hash depends on the act before (`vestibule audit verify`).
    @Message
    public struct TrailEntry: MessageValue {
        /// The number of the entry.
        @Field(.ordinal, example: 4) public var sequence: Int64
        /// When the act happened.
        public var at: Timestamp
        /// The kind of act.
        @Field(.string(1...64)) public var act: String
        /// More about the act.
        @Field(.string(0...256), count: 0...16) public var details: [String: String]
        /// SHA-256 in hexadecimal digits.
        @Field(.string(64...64)) public var hash: String
    }

    /// What a reviewer wrote about a decision.
    @Message
    public struct Note: MessageValue {
        /// When the reviewer decided.
        public var at: Timestamp
        /// The decision.
        @Field(.string(1...64)) public var act: String
        /// The reviewer, by a pseudonym.
        @Field(.string(1...128)) public var reviewer: String
        /// The reviewer's text.
        @Field(.string(1...2000)) public var note: String
    }

    /// A notice to the owner, with the number of devices that received it and that did not.
    @Message
    public struct Notice: MessageValue {
        /// When the notice was sent.
        public var at: Timestamp
        /// The kind of notice.
        @Field(.string(1...64), example: "recovery_requested") public var about: String
        /// Devices that received it.
        @Field(.integer(0...100_000), example: 3) public var delivered: Int64
        /// Devices that did not receive it.
        @Field(.integer(0...100_000), example: 0) public var failed: Int64
    }
}

/// Shows one picture of a case to a reviewer. Each look is in the audit trail.
@Message
public struct SeePicture: PublicRequest {
    public typealias Reply = PictureShown
    public static let type: MessageType = "recovery.see-picture"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound],
        replyCarriesToken: true)
    public static let route = HTTPRoute(
        .get, "/admin/recovery/{id}/pictures/{mediaId}", .staff, "One picture of a case.", carriesToken: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// The picture.
    @Field(from: .path("mediaId")) public var mediaId: Identifier
}

/// Where to see a picture.
@Message
public struct PictureShown: PublicReply {
    /// Shows the picture for a minute. It is a secret.
    @Field(.string(1...2048), example: "https://api.example.com/photos/0193c0de?signature=51ab") public var url: String
}

/// A reviewer takes a case for half an hour. If less than half of that time is left, a repetition extends it.
@Message
public struct ClaimReview: PublicRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.claim-review"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .forbidden, .reviewClaimed, .recoveryNotReady, .recoveryClosed])
    public static let route = HTTPRoute(
        .post, "/admin/recovery/{id}/claim", .staff, "Takes a case for review.", carriesToken: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
}

/// A reviewer gives a case back. From anybody else it changes nothing.
@Message
public struct ReleaseReview: PublicRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.release-review"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .notFound])
    public static let route = HTTPRoute(
        .post, "/admin/recovery/{id}/release", .staff, "Gives a case back.", carriesToken: true)

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
}

/// The reviewer who has the case approves it.
///
/// A disputed case and the account of a staff member need a second reviewer's approval.
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

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// Why; for other reviewers.
    @Field(.string(1...2000)) public var note: String
}

/// The reviewer who has the case rejects it.
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

    /// The recovery case.
    @Field(from: .path("id")) public var recoveryId: Identifier
    /// Why; for other reviewers.
    @Field(.string(1...2000)) public var note: String
}

/// An operator takes a case and decides it (`vestibule recovery approve`, `vestibule recovery reject`).
@Message
public struct DecideAsOperator: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.decide-as-operator"
    public static let rules = MessageRules(
        service: .recovery, callers: [.operator], effect: .idempotent,
        errors: [.notFound, .forbidden, .reviewClaimed, .recoveryNotReady, .recoveryClosed])

    /// The recovery case.
    public var recoveryId: Identifier
    /// True to approve the case, false to reject it.
    public var isApproved: Bool
    /// Why; for reviewers.
    @Field(.string(1...2000)) public var note: String
    /// The operator's name, for the audit trail.
    @Field(.visibleASCII(1...64)) public var operatorName: String
}
