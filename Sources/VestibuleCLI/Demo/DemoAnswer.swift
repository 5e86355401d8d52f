import JSONText

/// Makes an answer that fits a question.
enum DemoAnswer {
    static func value(for question: JSONValue) throws -> JSONValue {
        let options = (question["options"]?.arrayValue ?? []).filter { $0["exclusive"] != true }
            .compactMap { $0["key"]?.stringValue }.map { JSONValue.string($0) }
        let constraints = question["constraints"]
        switch question["type"]?.stringValue {
        case "single_choice": return options.first ?? .null
        case "multi_choice", "tags":
            return .array(Array(options.prefix(max(1, Int(constraints?["min"]?.integerValue ?? 1)))))
        case "ranking":
            return .array(Array(options.prefix(Int(constraints?["topK"]?.integerValue ?? Int64(options.count)))))
        case "slider": return constraints?["min"] ?? 0
        case "boolean": return true
        case "date": return "1990-06-15"
        case "text": return "Kim"
        case let type: throw CommandError("the demo has no answer for questions of type \(type ?? "nothing")")
        }
    }
}
