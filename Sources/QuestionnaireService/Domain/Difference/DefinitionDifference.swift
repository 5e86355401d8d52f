import Documents
import JSONText

/// The differences between a version and the one before it, each with its class.
struct DefinitionDifference: DocumentDifference {
    let old: DefinitionFile
    let new: DefinitionFile
    let migrations: DefinitionMigrations
    private(set) var changes: [DefinitionChange] = []

    /// A question with its section and its pointer.
    struct Placed {
        let question: DefinitionFile.Question
        let section: DefinitionFile.Section
        let pointer: String
    }

    init(from old: DefinitionFile, to new: DefinitionFile) {
        (self.old, self.new, migrations) = (old, new, DefinitionMigrations(new.migrations ?? []))
        let (before, after) = (Self.questions(of: old), Self.questions(of: new))
        let pairs = match(before, after)
        compareLanguages()
        compareSections()
        compareScoring()
        for (old, new) in pairs { compare(old, new) }
        compareOrder(pairs)
        compareStrings(pairs)
    }

    mutating func note(_ kind: DefinitionChange.Kind, _ pointer: String, _ keys: [String], isMapped: Bool = false) {
        let grade = isMapped ? min(kind.changeClass, .reask) : kind.changeClass
        changes.append(DefinitionChange(kind: kind, changeClass: grade, pointer: pointer, keys: keys))
    }

    private static func questions(of file: DefinitionFile) -> [Placed] {
        file.sections.enumerated().flatMap { sectionIndex, section in
            section.questions.enumerated().map { index, question in
                Placed(
                    question: question, section: section, pointer: "/sections/\(sectionIndex)/questions/\(index)")
            }
        }
    }

    // MARK: Questions that come, go and change their name

    /// - Returns: the questions that are in both versions, in the new order.
    private mutating func match(_ before: [Placed], _ after: [Placed]) -> [(old: Placed, new: Placed)] {
        var unmatched = after
        func take(_ key: String) -> Placed? {
            unmatched.firstIndex { $0.question.key == key }.map { unmatched.remove(at: $0) }
        }
        var (pairs, gone): ([(old: Placed, new: Placed)], [Placed]) = ([], [])
        for placed in before {
            let key = placed.question.key
            if let renamed = migrations.renamed[key], let new = take(renamed) {
                note(.keyRenamed, "\(new.pointer)/key", [key, renamed], isMapped: true)
                pairs.append((placed, new))
            } else if let new = take(key) {
                pairs.append((placed, new))
            } else {
                gone.append(placed)
            }
        }
        for placed in gone {
            let key = placed.question.key
            // A question with the same text and type is the same question with a new key.
            let twin = unmatched.firstIndex {
                $0.question.textKey == placed.question.textKey && $0.question.type == placed.question.type
            }
            if let twin, !migrations.dropped.contains(key) {
                let new = unmatched.remove(at: twin)
                note(.keyRenamed, "\(new.pointer)/key", [key, new.question.key])
                pairs.append((placed, new))
            } else {
                note(.questionRemoved, placed.pointer, [key], isMapped: migrations.dropped.contains(key))
            }
        }
        noteAdded(unmatched)
        let places = Dictionary(
            after.enumerated().map { ($1.question.key, $0) }, uniquingKeysWith: { first, _ in first })
        return pairs.sorted { places[$0.new.question.key] ?? 0 < places[$1.new.question.key] ?? 0 }
    }

    private mutating func noteAdded(_ added: [Placed]) {
        let known = Set(old.sections.map(\.key))
        var told = Set<String>()
        for placed in added {
            let section = placed.section
            let isRequired = Self.demand(of: placed.question) != .never
            let isNewSection = !known.contains(section.key)
            if isNewSection, section.questions.allSatisfy({ Self.demand(of: $0) == .never }) {
                guard told.insert(section.key).inserted else { continue }
                let index = new.sections.firstIndex { $0.key == section.key } ?? 0
                note(.optionalSectionAdded, "/sections/\(index)", [section.key])
            } else {
                note(
                    isRequired ? .requiredQuestionAdded : .optionalQuestionAdded, placed.pointer, [placed.question.key])
            }
        }
    }

    private mutating func compareOrder(_ pairs: [(old: Placed, new: Placed)]) {
        let before = Self.questions(of: old).map(\.question.key)
        let places = pairs.compactMap { before.firstIndex(of: $0.old.question.key) }
        if places != places.sorted() { note(.questionOrder, "/sections", []) }
    }

    // MARK: Languages and sections

    private mutating func compareLanguages() {
        for locale in new.locales where !old.locales.contains(locale) {
            note(.localeAdded, "/strings/\(locale)", [locale])
        }
        for locale in old.locales where !new.locales.contains(locale) {
            note(.unlisted, "/strings/\(locale)", [locale])
        }
        if old.defaultLocale != new.defaultLocale { note(.unlisted, "/defaultLocale", [new.defaultLocale]) }
    }

    private mutating func compareSections() {
        for (index, section) in new.sections.enumerated() {
            guard let before = old.sections.first(where: { $0.key == section.key }) else { continue }
            let pointer = "/sections/\(index)"
            if text(before.titleKey, of: old) != text(section.titleKey, of: new) {
                note(.sectionTitle, "\(pointer)/titleKey", [section.key])
            }
            if before.visibleIf != section.visibleIf { note(.visibilityChanged, "\(pointer)/visibleIf", [section.key]) }
            if before.repeat != section.repeat { note(.unlisted, "\(pointer)/repeat", [section.key]) }
        }
    }

    private mutating func compareScoring() {
        if old.dimensions ?? [] != new.dimensions ?? [] { note(.scoringChanged, "/dimensions", []) }
    }

    // MARK: Strings

    func text(_ key: String?, of file: DefinitionFile) -> String? {
        key.flatMap { file.strings[file.defaultLocale]?[$0] }
    }

    /// Compares strings other than the texts of questions, options and sections, which are compared before.
    private mutating func compareStrings(_ pairs: [(old: Placed, new: Placed)]) {
        var told = Set(new.sections.compactMap(\.titleKey))
        for (_, placed) in pairs {
            let question = placed.question
            told.formUnion(
                [question.textKey, question.helpKey].compactMap(\.self) + (question.options ?? []).map(\.labelKey))
        }
        for (locale, strings) in new.strings.sorted(by: { $0.key < $1.key }) {
            for (key, text) in strings.sorted(by: { $0.key < $1.key }) {
                guard let before = old.strings[locale]?[key], before != text else { continue }
                guard locale != new.defaultLocale || !told.contains(key) else { continue }
                note(
                    .stringChanged, "/strings/\(JSONPointer.escaped(locale))/\(JSONPointer.escaped(key))",
                    [key, locale])
            }
        }
    }
}
