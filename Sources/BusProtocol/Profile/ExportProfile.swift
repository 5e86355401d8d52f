import JSONText

/// The profile with the former values of its fields.
@Message
public struct ExportProfile: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "profile.export-person"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.unauthorized])

    @Field(.string(1...300)) public var after: String?
}
