import JSONText

/// Promises the upload of a picture for one side of a recovery case. Recovery has decided that the side may send it.
///
/// A repetition gets the same reply. The picture has no person: a claimant is a stranger to the account.
@Message
public struct PromiseEvidence: BusRequest {
    public typealias Reply = EvidencePromised
    public static let type: MessageType = "verification.promise-evidence"
    public static let rules = MessageRules(
        service: .verification, callers: [.recovery], effect: .idempotent, replyCarriesToken: true)

    /// Chosen by recovery; the same in every repetition.
    public var mediaID: Identifier
    /// The recovery case.
    public var caseID: Identifier
    /// Who sends the picture.
    @Field(.values("claimant", "owner")) public var side: String
    /// `image/jpeg` or `image/png`.
    @Field(.values("image/jpeg", "image/png")) public var contentType: String
    /// The length of the picture in bytes.
    @Field(.integer(1...8_388_608)) public var length: Int64
}

/// Where to send a picture.
@Message
public struct EvidencePromised: BusReply {
    /// Takes the picture by PUT, once. It is a secret.
    @Field(.string(1...2048)) public var uploadURL: String
    /// Until when the upload may begin.
    public var expiresAt: Timestamp
}

/// Asks for the pictures of a recovery case that have arrived.
@Message
public struct ListEvidence: BusRequest {
    public typealias Reply = EvidenceList
    public static let type: MessageType = "verification.list-evidence"
    public static let rules = MessageRules(
        service: .verification, callers: [.recovery], effect: .read, replyCarriesToken: true)

    /// The recovery case.
    public var caseID: Identifier
}

/// The answer to ``ListEvidence``.
@Message
public struct EvidenceList: BusReply {
    /// The oldest first.
    @Field(count: 0...100) public var pictures: [Picture]

    /// A picture of one side.
    @Message
    public struct Picture: MessageValue {
        /// The picture.
        public var mediaID: Identifier
        /// Who sent it.
        @Field(.evidenceSide) public var side: String
        /// When its upload was asked for.
        public var at: Timestamp
        /// Shows the picture for a minute. It is a secret.
        @Field(.string(1...2048)) public var url: String
    }
}

extension JSONSchema {
    static let evidenceSide = JSONSchema.open(1...32, "claimant", "owner").named(
        "EvidenceSide", "A side of a recovery case.")
}
