import JSONText

/// The queue of reviewers, the oldest evidence first (`GET /admin/recovery`); with a status, the newest cases that have it.
public struct ListReviews: BusRequest {
    public typealias Reply = ReviewQueue
    public static let type: MessageType = "recovery.list-reviews"
    public static let schema = JSONSchema.object([.optional("status", .string(1...32))])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway, .operator], effect: .read, errors: [.unauthorized, .validationFailed])

    /// Cases that have this status, the newest first; `nil`: those that wait for a reviewer.
    public var status: String?
    public init(status: String? = nil) { self.status = status }
}

/// A hundred cases at the most.
public struct ReviewQueue: PublicReply {
    public static let schema = JSONSchema.object([.required("cases", .array(of: ReviewSummary.schema, count: 0...100))])
    public var cases: [ReviewSummary]
    public init(cases: [ReviewSummary]) { self.cases = cases }
}

/// A case as a reviewer sees it in the queue. Nothing in it says whose it is.
public struct ReviewSummary: PublicReply {
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("status", .string(1...32)), .required("requestedAt", .dateTime),
        .required("holdUntil", .dateTime), .optional("evidenceAt", .dateTime),
        .optional("verdict", .string(1...32), "Of the provider of evidence: yes, no or undecided"),
        .optional("proof", .string(1...32), "What of the account the claimant has shown"),
        .required("approvals", .integer(0...2)), .required("approvalsNeeded", .integer(1...2)),
        .optional("reviewer", .string(1...128), "Who has it now, by a pseudonym"),
        .optional("reviewerUntil", .dateTime),
    ])
    public var recoveryId: Identifier
    public var status: String
    public var requestedAt: Timestamp
    public var holdUntil: Timestamp
    public var evidenceAt: Timestamp?
    public var verdict: String?
    public var proof: String?
    public var approvals: Int64
    public var approvalsNeeded: Int64
    public var reviewer: String?
    public var reviewerUntil: Timestamp?

    public init(
        recoveryId: Identifier, status: String, requestedAt: Timestamp, holdUntil: Timestamp, evidenceAt: Timestamp?,
        verdict: String?, proof: String?, approvals: Int64, approvalsNeeded: Int64, reviewer: String?,
        reviewerUntil: Timestamp?
    ) {
        self.recoveryId = recoveryId
        self.status = status
        self.requestedAt = requestedAt
        self.holdUntil = holdUntil
        self.evidenceAt = evidenceAt
        self.verdict = verdict
        self.proof = proof
        self.approvals = approvals
        self.approvalsNeeded = approvalsNeeded
        self.reviewer = reviewer
        self.reviewerUntil = reviewerUntil
    }
}

/// One case with its whole trail (`GET /admin/recovery/{id}`). It changes nothing, but that the look is written down.
public struct GetReview: BusRequest {
    public typealias Reply = ReviewPage
    public static let type: MessageType = "recovery.get-review"
    public static let schema = JSONSchema.object([.required("recoveryId", .uuid)])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway, .operator], effect: .read, errors: [.unauthorized, .notFound])

    public var recoveryId: Identifier
    public init(recoveryId: Identifier) { self.recoveryId = recoveryId }
}

/// A case, everything that happened to it, what reviewers wrote, and what its owner was told.
public struct ReviewPage: PublicReply {
    public static let schema = JSONSchema.object([
        .required("summary", ReviewSummary.schema),
        .optional("reason", .string(1...500), "What the claimant gave for the request, while the case is open"),
        .optional("evidence", .string(1...1024), "The reference that the claimant gave, while the case is open"),
        .optional(
            "ownerEvidence", .string(1...1024), "What the owner gave last of a contested case, while it is open"),
        .optional(
            "earlierOwnerEvidence", .array(of: .string(1...1024), count: 0...9),
            "What was given before, the first one first: whoever has a session of the account may give some"),
        .required("trail", .array(of: TrailEntry.schema, count: 0...1000)),
        .required("notes", .array(of: Note.schema, count: 0...1000)),
        .required("notices", .array(of: Notice.schema, count: 0...1000)),
    ])
    public var summary: ReviewSummary
    /// What the claimant gave for the request, while the case is open. Came later and is optional.
    public var reason: String?
    public var evidence: String?
    public var ownerEvidence: String?
    public var earlierOwnerEvidence: [String]?
    public var trail: [TrailEntry]
    public var notes: [Note]
    public var notices: [Notice]

    /// One act; its hash chains it to the one before (`vestibule audit verify`).
    public struct TrailEntry: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("sequence", .integer(1...9_007_199_254_740_991)), .required("at", .dateTime),
            .required("act", .string(1...64)), .required("details", .map(of: .string(0...256), count: 0...16)),
            .required("hash", .string(64...64), "SHA-256 in hex"),
        ])
        public var sequence: Int64
        public var at: Timestamp
        public var act: String
        public var details: [String: String]
        public var hash: String

        public init(sequence: Int64, at: Timestamp, act: String, details: [String: String], hash: String) {
            self.sequence = sequence
            self.at = at
            self.act = act
            self.details = details
            self.hash = hash
        }
    }

    /// What a reviewer wrote to a decision.
    public struct Note: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("at", .dateTime), .required("act", .string(1...64)), .required("reviewer", .string(1...128)),
            .required("note", .string(1...2000)),
        ])
        public var at: Timestamp
        public var act: String
        public var reviewer: String
        public var note: String

        public init(at: Timestamp, act: String, reviewer: String, note: String) {
            (self.at, self.act, self.reviewer, self.note) = (at, act, reviewer, note)
        }
    }

    /// What the owner was told, and on how many devices it came and did not come.
    public struct Notice: Codable, Sendable, Equatable {
        static let schema = JSONSchema.object([
            .required("at", .dateTime), .required("about", .string(1...64)),
            .required("delivered", .integer(0...100_000)), .required("failed", .integer(0...100_000)),
        ])
        public var at: Timestamp
        public var about: String
        public var delivered: Int64
        public var failed: Int64

        public init(at: Timestamp, about: String, delivered: Int64, failed: Int64) {
            (self.at, self.about, self.delivered, self.failed) = (at, about, delivered, failed)
        }
    }

    public init(
        summary: ReviewSummary, reason: String? = nil, evidence: String?, ownerEvidence: String? = nil,
        earlierOwnerEvidence: [String]? = nil, trail: [TrailEntry], notes: [Note], notices: [Notice]
    ) {
        self.summary = summary
        self.reason = reason
        self.evidence = evidence
        self.ownerEvidence = ownerEvidence
        self.earlierOwnerEvidence = earlierOwnerEvidence
        self.trail = trail
        self.notes = notes
        self.notices = notices
    }
}

/// Takes a case for review for half an hour (`POST /admin/recovery/{id}/claim`); who has it for less than half of that, has it
/// for longer.
public struct ClaimReview: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.claim-review"
    public static let schema = JSONSchema.object([.required("recoveryId", .uuid)])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent,
        errors: [.unauthorized, .notFound, .forbidden, .reviewClaimed, .recoveryNotReady, .recoveryClosed])

    public var recoveryId: Identifier
    public init(recoveryId: Identifier) { self.recoveryId = recoveryId }
}

/// Gives a case back (`POST /admin/recovery/{id}/release`); who does not have it, gives nothing.
public struct ReleaseReview: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.release-review"
    public static let schema = JSONSchema.object([.required("recoveryId", .uuid)])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .idempotent, errors: [.unauthorized, .notFound])

    public var recoveryId: Identifier
    public init(recoveryId: Identifier) { self.recoveryId = recoveryId }
}

/// A reviewer who has the case says yes (`POST /admin/recovery/{id}/approve`). Where a dispute came before, or the account is
/// of staff, another one must say it too.
public struct ApproveCase: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.approve-case"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("note", .string(1...2000), "Why; for other reviewers"),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .notFound, .forbidden, .reviewClaimed, .reviewNotClaimed, .recoveryNotReady, .recoveryClosed,
        ])

    public var recoveryId: Identifier
    public var note: String
    public init(recoveryId: Identifier, note: String) { (self.recoveryId, self.note) = (recoveryId, note) }
}

/// A reviewer who has the case says no (`POST /admin/recovery/{id}/reject`).
public struct RejectCase: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.reject-case"
    public static let schema = ApproveCase.schema
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .once,
        errors: [
            .unauthorized, .notFound, .forbidden, .reviewClaimed, .reviewNotClaimed, .recoveryNotReady, .recoveryClosed,
        ])

    public var recoveryId: Identifier
    public var note: String
    public init(recoveryId: Identifier, note: String) { (self.recoveryId, self.note) = (recoveryId, note) }
}

/// An operator takes a case and decides upon it (`vestibule recovery approve`, `vestibule recovery reject`).
public struct DecideAsOperator: BusRequest {
    public typealias Reply = ReviewSummary
    public static let type: MessageType = "recovery.decide-as-operator"
    public static let schema = JSONSchema.object([
        .required("recoveryId", .uuid), .required("isApproved", .boolean), .required("note", .string(1...2000)),
        .required("operatorName", .string(.init(length: 1...64, format: .visibleASCII)), "Who does it, for the trail"),
    ])
    public static let rules = MessageRules(
        service: .recovery, callers: [.operator], effect: .idempotent,
        errors: [.notFound, .forbidden, .reviewClaimed, .recoveryNotReady, .recoveryClosed])

    public var recoveryId: Identifier
    public var isApproved: Bool
    public var note: String
    public var operatorName: String

    public init(recoveryId: Identifier, isApproved: Bool, note: String, operatorName: String) {
        self.recoveryId = recoveryId
        self.isApproved = isApproved
        self.note = note
        self.operatorName = operatorName
    }
}
