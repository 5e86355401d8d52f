import JSONText

extension DefinitionParser {
    /// Puts the conditions of a file into what was built of it.
    ///
    /// - Parameter questions: in document order, without those that could not be built.
    mutating func readConditions(
        _ file: DefinitionFile, into questions: inout [Question], _ sections: inout [Definition.Section]
    ) {
        let places = Dictionary(
            questions.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        let plain = questions
        let references = ConditionReferences(file)
        let repeated = sections.filter { $0.repetition != nil }.map(\.questions)
        func read(
            _ json: JSONValue?, at pointer: String, of owner: ConditionReferences.Node, before: Int,
            _ parser: inout DefinitionParser
        ) -> Condition? {
            guard let json, json != .null else { return nil }
            // What is asked once for each subject has an answer only for who asks about the same subject.
            let inner = repeated.filter { !$0.contains(before) }
            var reader = ConditionParser(questions: plain, places: places, before: before, outOfReach: inner)
            let condition = reader.condition(json, at: pointer)
            parser.take(reader.problems, of: owner, references)
            return condition
        }
        for (sectionIndex, section) in file.sections.enumerated() {
            let pointer = "/sections/\(sectionIndex)"
            let start = sections[sectionIndex].questions.lowerBound
            sections[sectionIndex].visibleIf = read(
                section.visibleIf, at: "\(pointer)/visibleIf", of: .section(section.key), before: start, &self)
            for (index, question) in section.questions.enumerated() {
                guard let place = places[question.key] else { continue }
                let (pointer, owner) = (
                    "\(pointer)/questions/\(index)", ConditionReferences.Node.question(question.key)
                )
                questions[place].visibleIf = read(
                    question.visibleIf, at: "\(pointer)/visibleIf", of: owner, before: place, &self)
                questions[place].requiredIf = read(
                    question.requiredIf, at: "\(pointer)/requiredIf", of: owner, before: place, &self)
                for (index, option) in (question.options ?? []).enumerated() {
                    questions[place].options[index].visibleIf = read(
                        option.visibleIf, at: "\(pointer)/options/\(index)/visibleIf", of: owner, before: place, &self)
                }
            }
        }
    }

    /// A reference that does not go backwards is told with the whole circle, where it makes one.
    private mutating func take(
        _ problems: [DefinitionProblem], of owner: ConditionReferences.Node, _ references: ConditionReferences
    ) {
        for var problem in problems {
            if problem.code == "E04", let target = problem.keys.first {
                let way = references.way(from: owner, through: .question(target))
                problem.message += " " + way.map(\.name).joined(separator: " → ")
                problem.keys = way.map(\.key)
            }
            refuse(problem)
        }
    }
}

/// Which conditions look at which questions, as the file has it.
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

    init(_ file: DefinitionFile) {
        for section in file.sections {
            targets[.section(section.key)] = Self.questions(in: section.visibleIf)
            for question in section.questions {
                let conditions = [question.visibleIf, question.requiredIf] + (question.options ?? []).map(\.visibleIf)
                targets[.question(question.key)] = [.section(section.key)] + conditions.flatMap(Self.questions)
            }
        }
    }

    /// From a node to one that its condition names, and on, until it comes back to where it began: the circle. Where it
    /// does not come back, the first step alone.
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

    private static func questions(in json: JSONValue?) -> [Node] {
        switch json {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, operand -> [Node] in
                if ["var", "answered", "age_years", "state"].contains(name), let key = operand.stringValue {
                    return [.question(key)]
                }
                return questions(in: operand)
            }
        case .array(let elements): elements.flatMap { questions(in: $0) }
        default: []
        }
    }
}
