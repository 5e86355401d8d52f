import JSONText

/// The profile and what each of its fields was before.
public struct ExportProfile: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "profile.export-person"
    public static let schema = ExportPage.request
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized])

    public var after: String?
    public init(after: String?) { self.after = after }
}
