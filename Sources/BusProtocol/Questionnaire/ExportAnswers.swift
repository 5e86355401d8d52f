import JSONText

/// Sessions, answers with what they were before, and what they came to.
public struct ExportAnswers: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "questionnaire.export-person"
    public static let schema = ExportPage.request
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])

    public var after: String?
    public init(after: String?) { self.after = after }
}
