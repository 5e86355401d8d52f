import BusProtocol

/// A definition made ready to be walked through: which question's conditions look at which, and what answers can differ in.
final class PathMap {
    /// A test by its question's place and its own among those on that question.
    struct Look: Sendable, Hashable {
        let place: Int
        let test: Int
    }

    /// The conditions of one question or section.
    struct Part {
        var visibleIf: Logic<Look>?
        var requiredIf: Logic<Look>?
        /// For each option.
        var options: [Logic<Look>?] = []

        var looks: [Look] {
            ([visibleIf, requiredIf] + options).compactMap(\.self).flatMap(\.tests)
        }
    }

    let definition: Definition
    let cells: AnswerCells
    let sections: [Part]
    let questions: [Part]
    /// The section of each question.
    let sectionOf: [Int]
    /// By place: the earlier questions that decide how it stands, its section's condition included.
    let causes: [Set<Int>]

    init(_ definition: Definition, today: CivilDate) {
        var (tests, numbers) = (
            Array(repeating: [AnswerTest](), count: definition.questions.count), [AnswerTest: Look]()
        )
        func look(at test: AnswerTest) -> Look {
            if let known = numbers[test] { return known }
            let look = Look(place: test.question, test: tests[test.question].count)
            tests[test.question].append(test)
            numbers[test] = look
            return look
        }
        sections = definition.sections.map { Part(visibleIf: $0.visibleIf?.map(look)) }
        questions = definition.questions.map { question in
            Part(
                visibleIf: question.visibleIf?.map(look), requiredIf: question.requiredIf?.map(look),
                options: question.hasConditionalOptions ? question.options.map { $0.visibleIf?.map(look) } : [])
        }
        sectionOf = definition.sections.enumerated().flatMap { index, section in section.questions.map { _ in index } }
        self.definition = definition
        cells = AnswerCells(definition, tests: tests, today: today)
        let (parts, whole, owner) = (questions, sections, sectionOf)
        causes = parts.indices.map { place in
            Set((parts[place].looks + whole[owner[place]].looks).map(\.place))
        }
    }

    /// Those questions and all that they depend on, directly or not, in document order.
    func cone(of places: Set<Int>) -> [Int] {
        var (found, next) = (places, Array(places))
        while let place = next.popLast() {
            for cause in causes[place] where found.insert(cause).inserted { next.append(cause) }
        }
        return found.sorted()
    }

    /// The questions in groups of which none depends on another, each in document order.
    var components: [[Int]] {
        var root = Array(questions.indices)
        func find(_ place: Int) -> Int {
            var place = place
            while root[place] != place {
                root[place] = root[root[place]]
                place = root[place]
            }
            return place
        }
        for (place, causes) in causes.enumerated() { for cause in causes { root[find(place)] = find(cause) } }
        return Dictionary(grouping: questions.indices, by: find).values.map { $0.sorted() }.sorted { $0[0] < $1[0] }
    }
}
