import VestibuleClient

/// Makes an answer that fits a question.
enum DemoAnswer {
    static func value(for question: ScreenQuestion) throws -> JSONValue {
        try value(question.type.rawValue, open(question.options), question.constraints)
    }

    static func value(for question: QuestionView) throws -> JSONValue {
        try value(question.type.rawValue, open(question.options), question.constraints)
    }

    static func value(for field: ProfileFieldView) throws -> JSONValue {
        try value(field.type.rawValue, (field.options ?? []).filter { $0.exclusive != true }.map(\.key), nil)
    }

    private static func open(_ options: [QuestionOption]?) -> [String] {
        (options ?? []).filter { !$0.exclusive }.map(\.key)
    }

    private static func value(
        _ type: String, _ options: [String], _ constraints: QuestionConstraints?
    ) throws -> JSONValue {
        let keys = options.map { JSONValue.string($0) }
        switch type {
        case "single_choice": return keys.first ?? .null
        case "multi_choice", "tags": return .array(Array(keys.prefix(max(1, constraints?.minSelections ?? 1))))
        case "ranking": return .array(Array(keys.prefix(constraints?.topK ?? keys.count)))
        case "slider": return .number(constraints?.min ?? 0)
        case "boolean": return true
        case "date": return "1990-06-15"
        case "text": return "Kim"
        default: throw CommandError("the demo has no answer for questions of type \(type)")
        }
    }
}
