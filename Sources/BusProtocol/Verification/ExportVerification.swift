import JSONText

/// One page of what the service holds about a person's photos and verifications.
@Message
public struct ExportVerification: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "verification.export-person"
    public static let rules = MessageRules(
        service: .verification, callers: [.gateway], effect: .read, errors: [.unauthorized])

    @Field(.string(1...300)) public var after: String?
}
