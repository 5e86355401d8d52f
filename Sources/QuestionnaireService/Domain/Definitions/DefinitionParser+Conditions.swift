import JSONText

extension DefinitionParser {
    /// Parses the conditions of a file and adds them to the questions and sections.
    ///
    /// - Parameter questions: in document order, without those with errors.
    mutating func readConditions(
        _ file: DefinitionFile, into questions: inout [Question], _ sections: inout [Definition.Section]
    ) {
        let places = Dictionary(
            questions.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        let known = ConditionParser.Known(
            questions: questions, places: places, sections: sections, locales: file.locales)
        let references = ConditionReferences(file)
        // Of questions with one key, which is refused elsewhere, the first is the one that was built.
        var unread = places
        func read(
            _ json: JSONValue?, at pointer: String, of owner: ConditionReferences.Node, before: Int, in section: Int,
            _ parser: inout DefinitionParser
        ) -> Condition? {
            guard let json, json != .null else { return nil }
            var reader = ConditionParser(known, scope: .init(before: before, section: section))
            let condition = reader.condition(json, at: pointer)
            parser.take(reader.problems, of: owner, references)
            return condition
        }
        for (sectionIndex, section) in file.sections.enumerated() {
            let pointer = "/sections/\(sectionIndex)"
            let start = sections[sectionIndex].questions.lowerBound
            sections[sectionIndex].visibleIf = read(
                section.visibleIf, at: "\(pointer)/visibleIf", of: .section(section.key), before: start,
                in: sectionIndex, &self)
            for (index, question) in section.questions.enumerated() {
                guard QuestionKind(rawValue: question.type) != nil,
                    let place = unread.removeValue(forKey: question.key)
                else { continue }
                let (pointer, owner) = (
                    "\(pointer)/questions/\(index)", ConditionReferences.Node.question(question.key)
                )
                questions[place].visibleIf = read(
                    question.visibleIf, at: "\(pointer)/visibleIf", of: owner, before: place, in: sectionIndex, &self)
                questions[place].requiredIf = read(
                    question.requiredIf, at: "\(pointer)/requiredIf", of: owner, before: place, in: sectionIndex, &self)
                for (index, option) in (question.options ?? []).enumerated() {
                    questions[place].options[index].visibleIf = read(
                        option.visibleIf, at: "\(pointer)/options/\(index)/visibleIf", of: owner, before: place,
                        in: sectionIndex, &self)
                }
            }
        }
    }

    /// Reports problems. If a reference to a later question is part of a cycle, the problem names the whole cycle.
    private mutating func take(
        _ problems: [ConditionParser.Problem], of owner: ConditionReferences.Node, _ references: ConditionReferences
    ) {
        for (var problem, target) in problems {
            if let target {
                let way = references.way(from: owner, through: target)
                problem.message += " " + way.map(\.name).joined(separator: " → ")
                problem.keys = way.map(\.key)
            }
            refuse(problem)
        }
    }
}

/// The references of conditions to questions and sections in a file.
struct ConditionReferences {
    enum Node: Hashable {
        case section(String)
        case question(String)

        var key: String {
            switch self {
            case .section(let key), .question(let key): key
            }
        }

        var name: String {
            switch self {
            case .section(let key): "section \(key)"
            case .question(let key): key
            }
        }
    }

    private var targets: [Node: [Node]] = [:]
    /// The repeated sections by the name of their subjects.
    private var repeated: [String: Node] = [:]

    init(_ file: DefinitionFile) {
        for section in file.sections {
            if let subject = section.repeat?.subject { repeated[subject] = .section(section.key) }
        }
        for section in file.sections {
            targets[.section(section.key)] = nodes(in: section.visibleIf)
            for question in section.questions {
                let conditions = [question.visibleIf, question.requiredIf] + (question.options ?? []).map(\.visibleIf)
                targets[.question(question.key)] = [.section(section.key)] + conditions.flatMap(nodes)
            }
        }
    }

    /// The cycle that begins with a step from a node to one that its condition names. If there is no cycle, it is the
    /// first step only.
    func way(from start: Node, through target: Node) -> [Node] {
        if target == start { return [start, start] }
        var (steps, next): ([Node: Node], [Node]) = ([target: start], [target])
        while !next.isEmpty {
            let node = next.removeFirst()
            for reached in targets[node] ?? [] where steps[reached] == nil {
                steps[reached] = node
                if reached == start { return Self.circle(of: steps, from: start) }
                next.append(reached)
            }
        }
        return [start, target]
    }

    private static func circle(of steps: [Node: Node], from start: Node) -> [Node] {
        var way = [start]
        var node = steps[start]
        while let current = node, current != start {
            way.insert(current, at: 0)
            node = steps[current]
        }
        return [start] + way
    }

    private func nodes(in json: JSONValue?) -> [Node] {
        switch json {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, operand -> [Node] in
                if ["var", "answered", "age_years", "state"].contains(name), let key = operand.stringValue {
                    return [.question(key)]
                }
                // The subject of `count`, `any` and `all`.
                let subject = operand["count"] ?? (operand["any"] ?? operand["all"])?.arrayValue?.first
                let section = name == "subjects" ? subject?.stringValue.flatMap { repeated[$0] } : nil
                return (section.map { [$0] } ?? []) + nodes(in: operand)
            }
        case .array(let elements): elements.flatMap { nodes(in: $0) }
        default: []
        }
    }
}
