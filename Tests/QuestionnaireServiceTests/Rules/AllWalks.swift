import JSONText

/// Walks every path through a small definition and derives what the gate must report. It follows the text of the rules,
/// with the naive evaluator.
struct AllWalks {
    typealias Answer = NaiveQuestionnaire.Answer

    private struct Walk {
        var answers: [String: Answer] = [:]
        /// Nothing required was left out.
        var isDone = true
        var facts: [String: JSONValue] = [:]
        var children: [[String: Answer]] = []
        /// The numbers of questions about one child: one number for each child, or for each possible child if there is
        /// none.
        var ofOne = [0]
        /// In a section about each child: the number of the walk that reached the section.
        var family = 0
    }

    private let definition: JSONValue
    private let questions: [(json: JSONValue, section: Int, index: Int)]
    /// The walks that reached each question, and at last those that reached the end.
    private var walks: [[Walk]] = []

    /// - Parameter facts: those that conditions may look at.
    init(definition: JSONValue, facts: [String] = []) {
        self.definition = definition
        let sections = definition["sections"]?.arrayValue ?? []
        var questions: [(JSONValue, Int, Int)] = []
        for (section, json) in sections.enumerated() {
            for (index, question) in (json["questions"]?.arrayValue ?? []).enumerated() {
                questions.append((question, section, index))
            }
        }
        self.questions = questions
        var all = [Walk()]
        for fact in facts {
            all = all.flatMap { walk in
                (RandomConditions.values[fact] ?? []).map { value in
                    var told = walk
                    told.facts[fact] = value
                    return told
                } + [walk]
            }
        }
        walks = [all]
        for section in sections {
            var families = walks[walks.count - 1]
            for index in families.indices { families[index].family = index }
            walks[walks.count - 1] = families
            for question in section["questions"]?.arrayValue ?? [] {
                walks.append(walks[walks.count - 1].flatMap { next($0, question) })
            }
            guard let repetition = section["repeat"] else { continue }
            let ones = Dictionary(grouping: walks[walks.count - 1], by: \.family)
            walks[walks.count - 1] = families.flatMap {
                gather(ones[$0.family] ?? [], of: $0, in: section, repetition)
            }
        }
    }

    private func naive(_ walk: Walk) -> NaiveQuestionnaire {
        NaiveQuestionnaire(
            definition: definition, answers: walk.answers, facts: walk.facts, children: walk.children)
    }

    /// Combines every allowed number of children with every walk of one child.
    private func gather(_ ones: [Walk], of family: Walk, in section: JSONValue, _ repetition: JSONValue) -> [Walk] {
        guard naive(family).holds(section["visibleIf"]) else { return [family] }
        let keys = (section["questions"]?.arrayValue ?? []).map { $0["key"]!.stringValue! }
        let seen = ones.map { one in keys.count { naive(one).isVisible($0) } }
        let (least, most) = (Int(repetition["min"]!.integerValue!), Int(repetition["max"]!.integerValue!))
        var found: [Walk] = []
        func add(_ chosen: [Int]) {
            var walk = family
            walk.children = chosen.map { ones[$0].answers }
            walk.isDone = family.isDone && chosen.count >= least && chosen.allSatisfy { ones[$0].isDone }
            let possible = ones.indices.filter { ones[$0].isDone || !family.isDone }
            walk.ofOne = (chosen.isEmpty ? possible : chosen).map { seen[$0] }
            found.append(walk)
            guard chosen.count < most else { return }
            for next in (chosen.last ?? 0)..<ones.count { add(chosen + [next]) }
        }
        add([])
        return found
    }

    /// Values that can be given to a question with these options.
    private static func values(_ question: JSONValue, _ options: [String]) -> [JSONValue] {
        switch question["type"]?.stringValue {
        case "boolean": [true, false]
        case "slider": [0, 1, 2, 3, 4]
        case "single_choice": options.map { .string($0) }
        default:
            (1..<(1 << options.count)).map { subset in
                .array(options.indices.filter { subset >> $0 & 1 == 1 }.map { .string(options[$0]) })
            }
        }
    }

    private func next(_ walk: Walk, _ question: JSONValue) -> [Walk] {
        let naive = naive(walk)
        let key = question["key"]!.stringValue!
        guard naive.isVisible(key) else { return [walk] }
        let isRequired = naive.isRequired(question)
        let values = Self.values(question, naive.options(of: question))
        func with(_ answer: Answer?, isDone: Bool) -> Walk {
            var next = walk
            next.answers[key] = answer
            next.isDone = walk.isDone && isDone
            return next
        }
        let isDeclinable = question["declinable"] == true
        var found = values.map { with(Answer(state: "answered", value: $0), isDone: true) }
        found.append(with(nil, isDone: !isRequired || values.isEmpty && !isDeclinable))
        if question["skippable"] == true { found.append(with(Answer(state: "skipped"), isDone: !isRequired)) }
        if isDeclinable { found.append(with(Answer(state: "declined"), isDone: true)) }
        if question["required"] != true { found.append(with(Answer(state: "acknowledged"), isDone: !isRequired)) }
        return found
    }

    /// How many questions each walk shows that is done at the end.
    var lengths: [Int] {
        let repeated = (definition["sections"]?.arrayValue ?? []).map { $0["repeat"] != nil }
        return walks[questions.count].filter(\.isDone).flatMap { walk in
            let naive = naive(walk)
            let plain = questions.count { !repeated[$0.section] && naive.isVisible($0.json["key"]!.stringValue!) }
            return walk.ofOne.map { plain + $0 }
        }
    }

    var verdicts: Set<String> {
        var found = Set<String>()
        var hiddenSections = Set<Int>()
        for (place, question) in questions.enumerated() {
            let section = "/sections/\(question.section)"
            let seen = walks[place].map { (naive($0), $0.isDone) }
            if question.index == 0, let condition = definition["sections"]?.arrayValue?[question.section]["visibleIf"] {
                found.formUnion(judge(condition, seen, "\(section)/visibleIf"))
                if !seen.contains(where: { $0.0.holds(condition) }) { hiddenSections.insert(question.section) }
            }
            found.formUnion(
                verdicts(
                    question.json, seen, "\(section)/questions/\(question.index)",
                    inHidden: hiddenSections.contains(question.section)))
        }
        return found
    }

    private func judge(_ condition: JSONValue?, _ seen: [(NaiveQuestionnaire, Bool)], _ pointer: String) -> Set<String>
    {
        guard let condition, condition != .null else { return [] }
        if !seen.contains(where: { $0.0.holds(condition) }) { return ["E06 \(pointer)"] }
        return seen.allSatisfy { !$0.1 || $0.0.holds(condition) } ? ["W1 \(pointer)"] : []
    }

    private func verdicts(
        _ question: JSONValue, _ reached: [(NaiveQuestionnaire, Bool)], _ pointer: String, inHidden: Bool
    ) -> Set<String> {
        var found = judge(question["visibleIf"], reached, "\(pointer)/visibleIf")
        found.formUnion(judge(question["requiredIf"], reached, "\(pointer)/requiredIf"))
        let options = question["options"]?.arrayValue ?? []
        for (index, option) in options.enumerated() {
            found.formUnion(judge(option["visibleIf"], reached, "\(pointer)/options/\(index)/visibleIf"))
        }
        let seen = reached.filter { $0.0.isVisible(question["key"]!.stringValue!) }
        guard !seen.isEmpty else {
            if question["required"] == true || question["requiredIf"] != nil { return found.union(["E07 \(pointer)"]) }
            return inHidden ? found : found.union(["W2 \(pointer)"])
        }
        for (index, option) in options.enumerated() where option["visibleIf"] != nil {
            let key = option["key"]!.stringValue!
            if !seen.contains(where: { $0.0.options(of: question).contains(key) }) {
                found.insert("W2 \(pointer)/options/\(index)")
            }
        }
        if question["requiredIf"] != nil, !seen.contains(where: { $0.0.isRequired(question) }) {
            found.insert("W2 \(pointer)/requiredIf")
        }
        for (naive, isDone) in seen where isDone && !options.isEmpty && naive.options(of: question).isEmpty {
            found.insert("E10 \(pointer)/options")
            if naive.isRequired(question) { found.insert("E09 \(pointer)") }
        }
        return found
    }
}
