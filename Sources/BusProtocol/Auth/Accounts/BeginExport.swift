import JSONText

/// Writes down that the person's data is about to leave (`GET /users/me/export`). The pages are asked for beside it
/// (``ExportAccount``), and change nothing.
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
