import JSONText

/// The recovery cases against the account, with their history.
@Message
public struct ExportCases: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "recovery.export-person"
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])

    @Field(.string(1...300)) public var after: String?
}
