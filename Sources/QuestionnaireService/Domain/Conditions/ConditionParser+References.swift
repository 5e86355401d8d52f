import JSONText

extension ConditionParser {
    /// What a comparison takes from one question.
    struct Reference {
        let question: Int
        let measure: AnswerTest.Measure
        let kind: Kind
    }

    /// `{"var": q}`, `{"count": {"var": q}}`, `{"age_years": q}` or `{"state": q}`.
    mutating func term(_ json: JSONValue, at pointer: String) -> Reference? {
        guard let members = json.objectValue, members.count == 1, let (name, operand) = members.first else {
            refuse("malformed", pointer, "This must be an object that names a question.")
            return nil
        }
        return reference(name, operand, at: "\(pointer)/\(name)")
    }

    mutating func reference(_ name: String, _ operand: JSONValue, at pointer: String) -> Reference? {
        switch name {
        case "var": return question(operand, at: pointer).flatMap { value(of: $0, at: pointer) }
        case "count":
            return set(operand, at: pointer).map { Reference(question: $0, measure: .count, kind: .number) }
        case "age_years":
            guard let place = question(operand, at: pointer) else { return nil }
            guard questions[place].kind == .date else {
                refuse("E05", pointer, "Years are counted from a date.", keys: [questions[place].key])
                return nil
            }
            return Reference(question: place, measure: .age, kind: .number)
        case "state":
            return question(operand, at: pointer).map { Reference(question: $0, measure: .value, kind: .state) }
        case "ctx", "subjects":
            refuse("unsupported", pointer, "“\(name)” is not supported yet.")
            return nil
        default:
            refuse("E05", pointer, "“\(name)” gives nothing that could be compared.")
            return nil
        }
    }

    /// `{"var": q}` of a question whose answer is a set.
    mutating func set(_ json: JSONValue, at pointer: String) -> Int? {
        guard let members = json.objectValue, members.count == 1, let operand = members["var"] else {
            refuse("malformed", pointer, "This must be {\"var\": question}.")
            return nil
        }
        guard let place = question(operand, at: "\(pointer)/var") else { return nil }
        guard [.multiChoice, .tags, .ranking].contains(questions[place].kind) else {
            refuse("E05", pointer, "The answer to this question is no set of options.", keys: [questions[place].key])
            return nil
        }
        return place
    }

    /// The place of a question that stands before.
    mutating func question(_ json: JSONValue, at pointer: String) -> Int? {
        guard let key = json.stringValue else {
            refuse("malformed", pointer, "A question is named by its key.")
            return nil
        }
        guard let place = places[key] else {
            refuse("E02", pointer, "There is no question “\(key)”.", keys: [key])
            return nil
        }
        guard place < before else {
            refuse("E04", pointer, "The question “\(key)” does not stand before this.", keys: [key])
            return nil
        }
        guard !outOfReach.contains(where: { $0.contains(place) }) else {
            refuse(
                "E05", pointer, "“\(key)” is asked once for each subject, so it has no one answer here.", keys: [key])
            return nil
        }
        return place
    }

    private mutating func value(of place: Int, at pointer: String) -> Reference? {
        let kind: Kind
        switch questions[place].kind {
        case .singleChoice: kind = .option(place)
        case .boolean: kind = .truth
        case .slider, .number, .height: kind = .number
        case .date: kind = .date
        case .text: kind = .text
        case .multiChoice, .tags, .ranking:
            refuse(
                "E05", pointer, "A set is not compared: use any_in, all_in or count.", keys: [questions[place].key])
            return nil
        case .info:
            refuse("E05", pointer, "A screen that only informs has no answer.", keys: [questions[place].key])
            return nil
        }
        return Reference(question: place, measure: .value, kind: kind)
    }
}
