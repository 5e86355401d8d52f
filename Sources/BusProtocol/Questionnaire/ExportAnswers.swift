import JSONText

/// The sessions, the answers with their former values, and the results.
@Message
public struct ExportAnswers: ExportRequest {
    public typealias Reply = ExportPage
    public static let type: MessageType = "questionnaire.export-person"
    public static let rules = MessageRules(
        service: .questionnaire, callers: [.gateway], effect: .read, errors: [.unauthorized])

    @Field(.string(1...300)) public var after: String?
}
