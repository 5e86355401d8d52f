import JSONText

/// The profile and what each of its fields was before.
@Message
public struct ExportProfile: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "profile.export-person"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized])

    @Field(.string(1...300)) public var after: String?
}
