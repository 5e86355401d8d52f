import Documents
import JSONText

extension ConditionParser {
    typealias Operand = ConditionOperand<ConditionTest>

    private func operand(
        _ place: Int, _ kind: ConditionKind, _ measure: ConditionRule.Measure = .value
    ) -> Operand {
        Operand(kind, measure, names: [known.questions[place].key]) { .answer(AnswerTest(question: place, rule: $0)) }
    }

    /// Reads `{"var": q}`, `{"count": {"var": q}}`, `{"age_years": q}`, `{"state": q}`, `{"ctx": fact}` or
    /// `{"subjects": {"count": subject}}`.
    mutating func operand(_ name: String, _ json: JSONValue, at pointer: String) -> Operand? {
        switch name {
        case "var": return question(json, at: pointer).flatMap { value(of: $0, at: pointer) }
        case "count": return setQuestion(json, at: pointer).map { operand($0, .number, .count) }
        case "age_years":
            guard let place = question(json, at: pointer) else { return nil }
            guard known.questions[place].kind == .date else {
                refuse("E05", pointer, "age_years needs a question of type date.", keys: [known.questions[place].key])
                return nil
            }
            return operand(place, .number, .age)
        case "state":
            return question(json, at: pointer).map { operand($0, .state(AnswerTest.states)) }
        case "ctx":
            let locales = known.locales
            return fact(
                json, at: pointer, kind: { QuestionnaireSessionFact($0)?.values(in: locales) }, make: { .fact($0) })
        case "subjects":
            guard let members = json.objectValue, members.count == 1, let subject = members["count"] else {
                refuse("E05", pointer, "Only the number of subjects can be compared: {\"count\": subject}.")
                return nil
            }
            return section(subject, at: "\(pointer)/count").map { section in
                Operand(.number, names: [known.sections[section].key]) {
                    .subjects(SubjectsTest(section: section, rule: .count($0)))
                }
            }
        default:
            refuse("E05", pointer, "“\(name)” cannot be compared.")
            return nil
        }
    }

    mutating func set(_ json: JSONValue, at pointer: String) -> Operand? {
        setQuestion(json, at: pointer).map { operand($0, options(of: $0)) }
    }

    /// Reads `{"var": q}` for a question whose answer is a set.
    private mutating func setQuestion(_ json: JSONValue, at pointer: String) -> Int? {
        guard let members = json.objectValue, members.count == 1, let operand = members["var"] else {
            refuse("malformed", pointer, "This must be {\"var\": question}.")
            return nil
        }
        guard let place = question(operand, at: "\(pointer)/var") else { return nil }
        guard [.multiChoice, .tags, .ranking].contains(known.questions[place].kind) else {
            refuse(
                "E05", pointer, "The answer to this question is not a set of options.",
                keys: [known.questions[place].key])
            return nil
        }
        return place
    }

    /// The index of an earlier question.
    mutating func question(_ json: JSONValue, at pointer: String) -> Int? {
        guard let key = json.stringValue else {
            refuse("malformed", pointer, "This must be the key of a question.")
            return nil
        }
        guard let place = known.places[key] else {
            refuse("E02", pointer, "There is no question “\(key)”.", keys: [key])
            return nil
        }
        guard place < scope.before else {
            let end = scope.subject.map { "the end of the section for each “\($0)”" } ?? "this"
            refuseLater(
                pointer, "The question “\(key)” does not come before \(end).", key, target: .question(key))
            return nil
        }
        // A question in a repeated section has one answer per subject. Only conditions in the same section can use it.
        let section = known.sectionOf[place]
        guard section == scope.section || known.sections[section].repetition == nil else {
            refuse(
                "E05", pointer, "“\(key)” has an answer for each subject, so it cannot be used here.", keys: [key])
            return nil
        }
        return place
    }

    private func options(of place: Int) -> ConditionKind {
        let question = known.questions[place]
        return .option(question.options.map(\.key), of: "The question “\(question.key)”")
    }

    mutating func value(of place: Int, at pointer: String) -> Operand? {
        let kind: ConditionKind
        switch known.questions[place].kind {
        case .singleChoice: kind = options(of: place)
        case .boolean: kind = .truth
        case .slider, .number, .height: kind = .number
        case .date: kind = .date
        case .text: kind = .text
        case .multiChoice, .tags, .ranking:
            refuse(
                "E05", pointer, "A set cannot be compared: use any_in, all_in or count.",
                keys: [known.questions[place].key])
            return nil
        case .info:
            refuse("E05", pointer, "An info screen has no answer.", keys: [known.questions[place].key])
            return nil
        }
        return operand(place, kind)
    }
}
