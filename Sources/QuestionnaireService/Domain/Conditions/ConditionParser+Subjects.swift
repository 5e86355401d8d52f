import Documents
import JSONText

extension ConditionParser {
    /// Reads `{"any": [subject, condition]}` or `{"all": [subject, condition]}`.
    mutating func subjects(_ json: JSONValue, at pointer: String) -> Condition? {
        guard let (name, operand) = operation(json, at: pointer) else { return nil }
        let inner = "\(pointer)/\(name)"
        guard ["any", "all"].contains(name) else {
            refuse(
                name == "count" ? "E05" : "malformed", inner,
                name == "count"
                    ? "“count” is not a condition by itself: compare it."
                    : "The operators for subjects are any, all and count.")
            return nil
        }
        guard let parts = operand.arrayValue, parts.count == 2 else {
            refuse("malformed", inner, "This must be a list of a subject and a condition.")
            return nil
        }
        guard let section = section(parts[0], at: "\(inner)/0") else { return nil }
        let outer = scope
        defer { scope = outer }
        scope = Scope(
            before: known.sections[section].questions.upperBound, section: section, subject: parts[0].stringValue)
        return truth(parts[1], at: "\(inner)/1").map { condition in
            .test(.subjects(SubjectsTest(section: section, rule: name == "any" ? .any(condition) : .all(condition))))
        }
    }

    /// The index of the section that is repeated for a kind of subject. All of it must come before the condition.
    mutating func section(_ json: JSONValue, at pointer: String) -> Int? {
        guard let subject = json.stringValue else {
            refuse("malformed", pointer, "This must be the subject in the “repeat” of a section.")
            return nil
        }
        guard let section = known.sections.firstIndex(where: { $0.repetition?.subject == subject }) else {
            refuse("E02", pointer, "No section is repeated for each “\(subject)”.", keys: [subject])
            return nil
        }
        guard section < scope.section else {
            refuseLater(
                pointer, "The section for each “\(subject)” does not come before this.", subject,
                target: .section(known.sections[section].key))
            return nil
        }
        return section
    }
}
