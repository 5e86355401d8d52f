import BusProtocol
import Cryptography
import Documents
import JSONText

/// A problem of a questionnaire's definition.
typealias DefinitionProblem = DocumentProblem
/// All problems of a questionnaire's definition.
typealias DefinitionError = DocumentError

/// Parses a definition file and checks the rules that a single part can break. ``PublishGate`` checks what depends on
/// paths.
struct DefinitionParser: ProblemCollector {
    static let limits = DocumentText.limits

    private(set) var problems: [DefinitionProblem] = []

    /// - Parameter bytes: a JSON text of at most 256 KB.
    /// - Throws: all problems. If the shape is wrong, they are only those of the shape.
    static func parse(_ bytes: [UInt8]) throws(DefinitionError) -> Definition {
        var parser = DefinitionParser()
        let (document, file) = try read(bytes)
        let definition = parser.definition(file, canonicalText: DocumentText.canonicalText(of: document.root.value))
        parser.check(file, definition)
        if let claimed = file.contentHash, claimed != Hex.encode(definition.hash) {
            parser.refuse("malformed", "/contentHash", "This is not the hash of the content.")
        }
        guard parser.problems.isEmpty else { throw DefinitionError(problems: parser.problems) }
        return definition
    }

    /// Reads a file and checks only its shape.
    static func read(_ bytes: [UInt8]) throws(DefinitionError) -> (document: JSONDocument, file: DefinitionFile) {
        try DocumentText.read(bytes, as: DefinitionFile.self, DefinitionFile.schema, called: "definition")
    }

    mutating func refuse(_ problem: DefinitionProblem) { problems.append(problem) }

    // MARK: Building

    private mutating func definition(_ file: DefinitionFile, canonicalText: [UInt8]) -> Definition {
        var (questions, sections) = build(file, in: file.defaultLocale)
        readConditions(file, into: &questions, &sections)
        // The copy drops problems, since those were reported for the default language.
        var silent = self
        let translations = file.strings.map { locale, strings in
            let titles = file.sections.map { ($0.key, $0.titleKey.flatMap { strings[$0] }) }
            return (
                locale,
                Definition.Translation(
                    title: strings[file.titleKey] ?? "",
                    sectionTitles: Dictionary(titles, uniquingKeysWith: { a, _ in a }).compactMapValues(\.self),
                    questions: silent.build(file, in: locale).questions)
            )
        }
        return Definition(
            key: file.key, version: file.version, hash: SHA256.digest(canonicalText), canonicalText: canonicalText,
            language: file.defaultLocale, translations: Dictionary(translations, uniquingKeysWith: { a, _ in a }),
            dimensions: dimensions(file.dimensions ?? []), sections: sections, questions: questions,
            policy: UpgradePolicy(file.policy))
    }

    /// Builds everything except the conditions, with the texts of one language.
    private mutating func build(
        _ file: DefinitionFile, in locale: String
    ) -> (questions: [Question], sections: [Definition.Section]) {
        let strings = file.strings[locale] ?? [:]
        var (questions, sections): ([Question], [Definition.Section]) = ([], [])
        for (sectionIndex, section) in file.sections.enumerated() {
            let start = questions.count
            for (index, question) in section.questions.enumerated() {
                let pointer = "/sections/\(sectionIndex)/questions/\(index)"
                guard let kind = QuestionKind(rawValue: question.type) else {
                    let kinds = QuestionKind.allCases.map(\.rawValue).joined(separator: ", ")
                    refuse("malformed", "\(pointer)/type", "The type must be one of \(kinds).")
                    continue
                }
                questions.append(
                    self.question(question, kind, section: section.key, strings: strings, at: pointer))
            }
            sections.append(Definition.Section(key: section.key, questions: start..<questions.count))
            if let repetition = section.repeat, repetition.min <= repetition.max {
                sections[sectionIndex].repetition = .init(
                    subject: repetition.subject, range: repetition.min...repetition.max, label: repetition.label)
            }
        }
        return (questions, sections)
    }

    private mutating func dimensions(_ dimensions: [DefinitionFile.Dimension]) -> [Dimension] {
        var built: [Dimension] = []
        for (index, dimension) in dimensions.enumerated() {
            guard let method = Dimension.Method(rawValue: dimension.method) else {
                refuse("malformed", "/dimensions/\(index)/method", "The method must be weighted_mean or tag_vector.")
                continue
            }
            let range = dimension.range ?? [0, 100]
            if range[0] >= range[1] {
                refuse("E08", "/dimensions/\(index)/range", "The low end must be below the high end.")
            }
            built.append(
                Dimension(
                    key: dimension.key, method: method, low: range[0], high: range[1],
                    minAnswered: dimension.minAnswered ?? 0))
        }
        return built
    }

    private mutating func question(
        _ file: DefinitionFile.Question, _ kind: QuestionKind, section: String, strings: [String: String],
        at pointer: String
    ) -> Question {
        let options = (file.options ?? []).map { option in
            Question.Option(
                key: option.key, label: strings[option.labelKey] ?? "", exclusive: option.exclusive ?? false,
                score: (option.score ?? [:]).compactMapValues(Thousandths.init))
        }
        var weights = (file.score ?? [:]).compactMapValues(Thousandths.init)
        for dimension in options.flatMap(\.score.keys) where weights[dimension] == nil {
            weights[dimension] = Thousandths(count: 1000)
        }
        return Question(
            key: file.key, slug: file.slug, section: section, kind: kind, text: strings[file.textKey] ?? "",
            help: file.helpKey.flatMap { strings[$0] }, required: file.required ?? false,
            skippable: file.skippable ?? false, declinable: file.declinable ?? false,
            suggestion: file.default == .null ? nil : file.default, suggestionCounts: file.defaultCounts ?? false,
            presentation: file.presentation ?? kind.presentations[0],
            constraints: constraints(file.constraints, kind, strings: strings, at: "\(pointer)/constraints"),
            options: options, weights: weights, importances: file.preference?.importance ?? [],
            profileField: file.extract?.profileField, isSensitive: file.sensitive != nil)
    }

    private mutating func constraints(
        _ file: DefinitionFile.Constraints?, _ kind: QuestionKind, strings: [String: String], at pointer: String
    ) -> Constraints {
        guard let file else { return Constraints() }
        var built = Constraints()
        built.min = number(file.min, at: "\(pointer)/min")
        built.max = number(file.max, at: "\(pointer)/max")
        built.step = number(file.step, at: "\(pointer)/step")
        built.topK = file.topK
        (built.minLength, built.maxLength) = (file.minLength, file.maxLength)
        built.minLabel = file.minLabelKey.flatMap { strings[$0] }
        built.maxLabel = file.maxLabelKey.flatMap { strings[$0] }
        (built.earliest, built.latest) = (file.earliest.flatMap(CivilDate.init), file.latest.flatMap(CivilDate.init))
        (built.minAge, built.maxAge) = (file.minAge, file.maxAge)
        (built.otherCount, built.otherLength) = (file.other?.maxCount ?? 0, file.other?.maxLength ?? 0)
        if let name = file.pattern {
            built.pattern = TextPattern(rawValue: name)
            if built.pattern == nil { refuse("malformed", "\(pointer)/pattern", "There is no such pattern.") }
        }
        return built
    }

    private mutating func number(_ value: JSONValue?, at pointer: String) -> Thousandths? {
        guard let value else { return nil }
        let number = Thousandths(value)
        if number == nil { refuse("malformed", pointer, "Must be a number with at most three decimals.") }
        return number
    }
}
