import JSONText

extension ConditionParser {
    /// The side of a comparison that comes from a question, a fact or a section.
    struct Reference {
        enum Source {
            case question(Int)
            case fact(String)
            /// The number of the subjects of a section.
            case subjects(Int)
        }

        let source: Source
        let measure: AnswerTest.Measure
        let kind: Kind

        func test(_ rule: AnswerTest.Rule) -> Condition {
            switch source {
            case .question(let place): .test(.answer(AnswerTest(question: place, rule: rule)))
            case .fact(let name): .test(.fact(FactTest(fact: name, rule: rule)))
            case .subjects(let section): .test(.subjects(SubjectsTest(section: section, rule: .count(rule))))
            }
        }
    }

    /// The keys of the compared question, fact or subjects, for messages.
    func names(of reference: Reference) -> [String] {
        switch reference.source {
        case .question(let place): [known.questions[place].key]
        case .fact(let name): [name]
        case .subjects(let section): [known.sections[section].key]
        }
    }

    /// Reads `{"var": q}`, `{"count": {"var": q}}`, `{"age_years": q}`, `{"state": q}`, `{"ctx": fact}` or
    /// `{"subjects": {"count": subject}}`.
    mutating func term(_ json: JSONValue, at pointer: String) -> Reference? {
        guard let members = json.objectValue, members.count == 1, let (name, operand) = members.first else {
            refuse("malformed", pointer, "This must be an object with what is compared, such as {\"var\": question}.")
            return nil
        }
        return reference(name, operand, at: "\(pointer)/\(name)")
    }

    mutating func reference(_ name: String, _ operand: JSONValue, at pointer: String) -> Reference? {
        switch name {
        case "var": return question(operand, at: pointer).flatMap { value(of: $0, at: pointer) }
        case "count":
            return set(operand, at: pointer).map { Reference(source: .question($0), measure: .count, kind: .number) }
        case "age_years":
            guard let place = question(operand, at: pointer) else { return nil }
            guard known.questions[place].kind == .date else {
                refuse("E05", pointer, "age_years needs a question of type date.", keys: [known.questions[place].key])
                return nil
            }
            return Reference(source: .question(place), measure: .age, kind: .number)
        case "state":
            return question(operand, at: pointer).map {
                Reference(source: .question($0), measure: .value, kind: .state)
            }
        case "ctx": return fact(operand, at: pointer)
        case "subjects":
            guard let members = operand.objectValue, members.count == 1, let subject = members["count"] else {
                refuse("E05", pointer, "Only the number of subjects can be compared: {\"count\": subject}.")
                return nil
            }
            return section(subject, at: "\(pointer)/count").map {
                Reference(source: .subjects($0), measure: .value, kind: .number)
            }
        default:
            refuse("E05", pointer, "“\(name)” cannot be compared.")
            return nil
        }
    }

    /// Reads `{"var": q}` for a question whose answer is a set.
    mutating func set(_ json: JSONValue, at pointer: String) -> Int? {
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
            refuse(
                "E04", pointer, "The question “\(key)” does not come before \(end).", keys: [key],
                target: .question(key))
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

    private mutating func value(of place: Int, at pointer: String) -> Reference? {
        let kind: Kind
        switch known.questions[place].kind {
        case .singleChoice: kind = .option(place)
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
        return Reference(source: .question(place), measure: .value, kind: kind)
    }
}
