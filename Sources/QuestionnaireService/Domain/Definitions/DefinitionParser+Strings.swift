import Documents

extension DefinitionParser {
    /// Checks that every text exists in every language, is used, and has the same placeholders in all of them.
    mutating func checkStrings(_ file: DefinitionFile) {
        checkLocales(file)
        let used = Self.usedStrings(file)
        let keys = Set(used.map(\.key))
        let wanted = file.strings[file.defaultLocale] ?? [:]
        for (locale, strings) in file.strings.sorted(by: { $0.key < $1.key }) {
            for (key, pointer) in used where strings[key] == nil {
                refuse("E11", pointer, "There is no string “\(key)” in \(locale).", keys: [key])
            }
            for (key, text) in strings.sorted(by: { $0.key < $1.key }) {
                let pointer = "/strings/\(DocumentText.escaped(locale))/\(DocumentText.escaped(key))"
                if !keys.contains(key) {
                    refuse("E11", pointer, "This string is not used.", keys: [key])
                } else if let other = wanted[key] {
                    checkPlaceholders(of: text, like: other, of: key, in: file.defaultLocale, at: pointer)
                }
            }
        }
    }

    private mutating func checkLocales(_ file: DefinitionFile) {
        var known = Set<String>()
        for (index, locale) in file.locales.enumerated() {
            unique(locale, in: &known, at: "/locales/\(index)")
            if !Self.isLanguageTag(locale) {
                refuse("malformed", "/locales/\(index)", "A language must be a tag such as en or pt-BR.")
            }
        }
        if !known.contains(file.defaultLocale) {
            refuse("E11", "/defaultLocale", "The default language is not among the locales.")
        }
        let (missing, spare) = (known.subtracting(file.strings.keys), Set(file.strings.keys).subtracting(known))
        let told = [
            missing.isEmpty ? nil : "There are no strings for \(Self.list(missing)).",
            spare.isEmpty ? nil : "There are strings for \(Self.list(spare)), which locales does not name.",
        ].compactMap(\.self)
        if !told.isEmpty {
            refuse("E11", "/strings", told.joined(separator: " "), keys: missing.union(spare).sorted())
        }
    }

    private mutating func checkPlaceholders(
        of text: String, like other: String, of key: String, in locale: String, at pointer: String
    ) {
        let (own, wanted) = (Self.placeholders(text), Self.placeholders(other))
        let (missing, spare) = (wanted.subtracting(own), own.subtracting(wanted))
        let told = [
            missing.isEmpty ? nil : "This lacks \(Self.list(missing)), which \(locale) has.",
            spare.isEmpty ? nil : "This has \(Self.list(spare)), which \(locale) lacks.",
        ].compactMap(\.self)
        if !told.isEmpty { refuse("E11", pointer, told.joined(separator: " "), keys: [key]) }
    }

    private static func list(_ names: Set<String>) -> String { names.sorted().joined(separator: ", ") }

    private static func usedStrings(_ file: DefinitionFile) -> [(key: String, pointer: String)] {
        var used: [(key: String, pointer: String)] = [(file.titleKey, "/titleKey")]
        func use(_ key: String?, at pointer: String) { if let key { used.append((key, pointer)) } }
        for (sectionIndex, section) in file.sections.enumerated() {
            use(section.titleKey, at: "/sections/\(sectionIndex)/titleKey")
            for (index, question) in section.questions.enumerated() {
                let pointer = "/sections/\(sectionIndex)/questions/\(index)"
                use(question.textKey, at: "\(pointer)/textKey")
                use(question.helpKey, at: "\(pointer)/helpKey")
                use(question.constraints?.minLabelKey, at: "\(pointer)/constraints/minLabelKey")
                use(question.constraints?.maxLabelKey, at: "\(pointer)/constraints/maxLabelKey")
                for (index, option) in (question.options ?? []).enumerated() {
                    use(option.labelKey, at: "\(pointer)/options/\(index)/labelKey")
                }
            }
        }
        return used
    }

    /// The placeholders with their braces, such as `{name}`.
    private static func placeholders(_ text: String) -> Set<String> {
        Set(
            text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
                part.firstIndex(of: "}").map { "{\(part[..<$0])}" }
            })
    }

    /// Whether a tag has the form of RFC 5646: subtags of 1 to 8 letters or digits, the first of 2 or 3 letters.
    private static func isLanguageTag(_ tag: String) -> Bool {
        let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
        return parts.allSatisfy {
            (1...8).contains($0.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
            && (2...3).contains(parts[0].count) && parts[0].allSatisfy(\.isLetter)
    }
}
