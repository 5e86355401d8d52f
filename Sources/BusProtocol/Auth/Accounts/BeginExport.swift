import JSONText

/// Records in the audit trail that the person's data will be exported (`GET /users/me/export`).
///
/// ``ExportAccount`` then reads the pages and changes nothing.
@Message
public struct BeginExport: BusRequest {
    public typealias Reply = ExportBegun
    public static let type: MessageType = "auth.begin-export"
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen])
}

/// The answer to ``BeginExport``.
@Message
public struct ExportBegun: BusReply {
}
