import JSONText

/// Writes down that the person's data is about to leave (`GET /users/me/export`). The pages are asked for beside it
/// (``ExportAccount``), and change nothing.
public struct BeginExport: BusRequest {
    public typealias Reply = ExportBegun
    public static let type: MessageType = "auth.begin-export"
    public static let schema = JSONSchema.object([])
    public static let rules = MessageRules(
        service: .auth, callers: [.gateway], effect: .once,
        errors: [.unauthorized, .reauthenticationRequired, .accountFrozen])
    public init() {}
}

/// The answer to ``BeginExport``.
public struct ExportBegun: BusReply {
    public static let schema = JSONSchema.object([])
    public init() {}
}
