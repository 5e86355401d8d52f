import Documents
import JSONText

extension DefinitionParser {
    /// Checks the rules that a file with a correct shape can still break.
    mutating func check(_ file: DefinitionFile, _ definition: Definition) {
        checkHeader(file)
        check(
            DocumentStrings(locales: file.locales, defaultLocale: file.defaultLocale, strings: file.strings),
            used: Self.usedStrings(file))
        var (sections, questions, subjects) = (Set<String>(), Set<String>(), Set<String>())
        for (sectionIndex, section) in file.sections.enumerated() {
            let pointer = "/sections/\(sectionIndex)"
            unique(section.key, in: &sections, at: "\(pointer)/key")
            if let repetition = section.repeat { check(repetition, of: section, &subjects, at: "\(pointer)/repeat") }
            for (index, question) in section.questions.enumerated() {
                unique(question.key, in: &questions, at: "\(pointer)/questions/\(index)/key")
                check(question, definition, at: "\(pointer)/questions/\(index)")
                check(question.preference, of: question, in: section, at: "\(pointer)/questions/\(index)/preference")
                check(question.extract, of: question, in: section, at: "\(pointer)/questions/\(index)/extract")
                checkSensitive(question, in: section, at: "\(pointer)/questions/\(index)/sensitive")
            }
        }
        if file.sections.reduce(0, { $0 + $1.questions.count * ($1.repeat?.max ?? 1) }) > 500 {
            refuse(
                "malformed", "/sections", "A definition may have at most 500 questions, counting those of all subjects."
            )
        }
        checkDimensions(file, definition)
    }

    private mutating func checkHeader(_ file: DefinitionFile) {
        if !KeyForm.kebab.fits(file.key) { refuse("malformed", "/key", "A questionnaire key must be in kebab-case.") }
        for (pointer, message) in DefinitionMigrations(file.migrations ?? []).malformed {
            refuse("E15", pointer, message)
        }
    }

    private mutating func check(
        _ repetition: DefinitionFile.Repeat, of section: DefinitionFile.Section, _ subjects: inout Set<String>,
        at pointer: String
    ) {
        unique(repetition.subject, in: &subjects, at: "\(pointer)/subject")
        if !KeyForm.camel.fits(repetition.subject) {
            refuse("malformed", "\(pointer)/subject", "A subject must be in camelCase.")
        }
        if repetition.min > repetition.max { refuse("E08", "\(pointer)/min", "min is above max.") }
        guard let label = repetition.label else { return }
        let question = section.questions.first { $0.key == label }
        if question == nil {
            refuse("E02", "\(pointer)/label", "There is no question “\(label)” in this section.", keys: [label])
        } else if question?.type != QuestionKind.text.rawValue {
            refuse("E05", "\(pointer)/label", "The label must be a question of type text.", keys: [label])
        }
    }

    private mutating func check(_ file: DefinitionFile.Question, _ definition: Definition, at pointer: String) {
        if !KeyForm.camel.fits(file.key) {
            refuse("malformed", "\(pointer)/key", "A question key must be in camelCase.")
        }
        if let slug = file.slug, !KeyForm.kebab.fits(slug) {
            refuse("malformed", "\(pointer)/slug", "A slug must be in kebab-case.")
        }
        if file.defaultCounts == true, file.default ?? .null == .null {
            refuse("E08", "\(pointer)/defaultCounts", "defaultCounts needs a default.")
        }
        if file.required == true, file.skippable == true {
            refuse("E08", "\(pointer)/skippable", "A required question cannot be skipped.")
        }
        var keys = Set<String>()
        for (index, option) in (file.options ?? []).enumerated() {
            unique(option.key, in: &keys, at: "\(pointer)/options/\(index)/key")
            if !KeyForm.snake.fits(option.key), !KeyForm.country.fits(option.key) {
                refuse(
                    "malformed", "\(pointer)/options/\(index)/key",
                    "An option key must be in lower snake_case, or a country's code of two capitals.")
            }
        }
        guard let question = definition.place(of: file.key).map({ definition.questions[$0] }) else { return }
        for (message, member) in ConstraintRules(question: question).problems {
            refuse("E08", "\(pointer)/\(member)", message)
        }
        if question.presentation == "radio", question.options.count > 6 {
            refuse("E12", "\(pointer)/options", "Radio buttons can show at most 6 options.")
        }
    }

    /// Checks everything but the existence of the field, which only profile knows.
    private mutating func check(
        _ extract: DefinitionFile.Extract?, of question: DefinitionFile.Question, in section: DefinitionFile.Section,
        at pointer: String
    ) {
        guard let extract else { return }
        if !KeyForm.camel.fits(extract.profileField) {
            refuse("malformed", "\(pointer)/profileField", "A field of the profile must be in camelCase.")
        }
        if section.repeat != nil {
            refuse(
                "E08", pointer, "A question in a repeated section cannot fill a field of the profile.",
                keys: [question.key])
        }
        if question.type == QuestionKind.info.rawValue {
            refuse("E08", pointer, "An info screen has no answer.", keys: [question.key])
        }
    }

    /// A sensitive answer must not be stored unsealed: not in a score, in the profile, or as the name of a subject.
    private mutating func checkSensitive(
        _ question: DefinitionFile.Question, in section: DefinitionFile.Section, at pointer: String
    ) {
        guard question.sensitive != nil else { return }
        if question.extract != nil {
            refuse("E19", pointer, "A sensitive question cannot fill a field of the profile.", keys: [question.key])
        }
        if question.preference != nil {
            refuse("E19", pointer, "A sensitive question cannot have a preference.", keys: [question.key])
        }
        if !(question.score ?? [:]).isEmpty || (question.options ?? []).contains(where: { !($0.score ?? [:]).isEmpty })
        {
            refuse("E19", pointer, "A sensitive question cannot count towards a dimension.", keys: [question.key])
        }
        if section.repeat?.label == question.key {
            refuse("E19", pointer, "A sensitive question cannot name a subject.", keys: [question.key])
        }
    }

    private mutating func check(
        _ preference: DefinitionFile.Preference?, of question: DefinitionFile.Question,
        in section: DefinitionFile.Section, at pointer: String
    ) {
        guard let preference else { return }
        let kinds = [QuestionKind.singleChoice, .multiChoice].map(\.rawValue)
        if !kinds.contains(question.type) {
            refuse("E08", pointer, "Only a question with options can have a preference.", keys: [question.key])
        }
        if section.repeat != nil {
            refuse("E08", pointer, "A question in a repeated section cannot have a preference.", keys: [question.key])
        }
        if !preference.acceptable {
            refuse("E08", "\(pointer)/acceptable", "A preference needs acceptable: true.", keys: [question.key])
        }
        if zip(preference.importance, preference.importance.dropFirst()).contains(where: { $0 >= $1 }) {
            refuse("E08", "\(pointer)/importance", "Importances rise.", keys: [question.key])
        }
    }

    private mutating func checkDimensions(_ file: DefinitionFile, _ definition: Definition) {
        var keys = Set<String>()
        for (index, dimension) in definition.dimensions.enumerated() {
            unique(dimension.key, in: &keys, at: "/dimensions/\(index)/key")
            let contributions = definition.questions.filter { $0.weights[dimension.key] != nil }
            if contributions.isEmpty || contributions.count < dimension.minAnswered {
                refuse("E13", "/dimensions/\(index)", "Too few questions count towards this dimension.")
            }
        }
        for (sectionIndex, section) in file.sections.enumerated() {
            for (index, question) in section.questions.enumerated() {
                let pointer = "/sections/\(sectionIndex)/questions/\(index)"
                let wanted: Dimension.Method = question.type == QuestionKind.tags.rawValue ? .tagVector : .weightedMean
                let onQuestion = (question.score ?? [:]).keys.map {
                    ($0, "\(pointer)/score/\(JSONPointer.escaped($0))")
                }
                let onOptions = (question.options ?? []).enumerated().flatMap { optionIndex, option in
                    (option.score ?? [:]).keys.map {
                        ($0, "\(pointer)/options/\(optionIndex)/score/\(JSONPointer.escaped($0))")
                    }
                }
                if section.repeat != nil, let (dimension, pointer) = (onQuestion + onOptions).min(by: { $0.1 < $1.1 }) {
                    refuse(
                        "E13", pointer, "A question in a repeated section cannot count towards a dimension.",
                        keys: [question.key, dimension])
                }
                for (dimension, pointer) in (onQuestion + onOptions).sorted(by: { $0.1 < $1.1 }) {
                    guard let known = definition.dimensions.first(where: { $0.key == dimension }) else {
                        refuse("E13", pointer, "There is no such dimension.")
                        continue
                    }
                    if known.method != wanted {
                        refuse("E13", pointer, "The method of the dimension does not fit this type of question.")
                    }
                }
            }
        }
    }
}
