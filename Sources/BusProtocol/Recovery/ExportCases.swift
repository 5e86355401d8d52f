import JSONText

/// The recovery cases against the account, with what happened to them.
public struct ExportCases: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "recovery.export-person"
    public static let schema = ExportPage.request
    public static let rules = MessageRules(
        service: .recovery, callers: [.gateway], effect: .read, errors: [.unauthorized])

    public var after: String?
    public init(after: String?) { self.after = after }
}
