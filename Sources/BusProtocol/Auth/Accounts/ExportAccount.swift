import JSONText

/// The account, its phone, devices, sessions, codes, freezes and audit trail.
///
/// As for a deletion, the person must have signed in with a code within five minutes.
@Message
public struct ExportAccount: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "auth.export-person"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .read,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen])

    @Field(.string(1...300)) public var after: String?
}
