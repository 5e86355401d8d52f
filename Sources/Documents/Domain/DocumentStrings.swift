import JSONText

/// The texts of a document in each of its languages.
package struct DocumentStrings {
    let locales: [String]
    let defaultLocale: String
    let strings: [String: [String: String]]

    /// - Parameters:
    ///   - locales: the languages, in the order of the document.
    ///   - defaultLocale: the language whose texts the others translate.
    ///   - strings: the texts by language and key.
    package init(locales: [String], defaultLocale: String, strings: [String: [String: String]]) {
        (self.locales, self.defaultLocale, self.strings) = (locales, defaultLocale, strings)
    }
}

extension ProblemCollector {
    /// E11: every text must exist in every language, have the same placeholders in all languages, and be used. The
    /// texts are in the members `locales`, `defaultLocale` and `strings`.
    ///
    /// - Parameter used: the keys of the texts that the document uses, with the places of use.
    package mutating func check(_ texts: DocumentStrings, used: [(key: String, pointer: String)]) {
        checkLocales(texts)
        let keys = Set(used.map(\.key))
        let wanted = texts.strings[texts.defaultLocale] ?? [:]
        for (locale, strings) in texts.strings.sorted(by: { $0.key < $1.key }) {
            for (key, pointer) in used where strings[key] == nil {
                refuse("E11", pointer, "There is no string “\(key)” in \(locale).", keys: [key])
            }
            for (key, text) in strings.sorted(by: { $0.key < $1.key }) {
                let pointer = "/strings/\(JSONPointer.escaped(locale))/\(JSONPointer.escaped(key))"
                if !keys.contains(key) {
                    refuse("E11", pointer, "This string is not used.", keys: [key])
                } else if let other = wanted[key] {
                    checkPlaceholders(of: text, like: other, of: key, in: texts.defaultLocale, at: pointer)
                }
            }
        }
    }

    private mutating func checkLocales(_ texts: DocumentStrings) {
        var known = Set<String>()
        for (index, locale) in texts.locales.enumerated() {
            unique(locale, in: &known, at: "/locales/\(index)")
            if !isLanguageTag(locale) {
                refuse("malformed", "/locales/\(index)", "A language must be a tag such as en or pt-BR.")
            }
        }
        if !known.contains(texts.defaultLocale) {
            refuse("E11", "/defaultLocale", "The default language is not among the locales.")
        }
        let (missing, spare) = (known.subtracting(texts.strings.keys), Set(texts.strings.keys).subtracting(known))
        let told = [
            missing.isEmpty ? nil : "There are no strings for \(list(missing)).",
            spare.isEmpty ? nil : "There are strings for \(list(spare)), which locales does not name.",
        ].compactMap(\.self)
        if !told.isEmpty {
            refuse("E11", "/strings", told.joined(separator: " "), keys: missing.union(spare).sorted())
        }
    }

    private mutating func checkPlaceholders(
        of text: String, like other: String, of key: String, in locale: String, at pointer: String
    ) {
        let (own, wanted) = (placeholders(text), placeholders(other))
        let (missing, spare) = (wanted.subtracting(own), own.subtracting(wanted))
        let told = [
            missing.isEmpty ? nil : "This lacks \(list(missing)), which \(locale) has.",
            spare.isEmpty ? nil : "This has \(list(spare)), which \(locale) lacks.",
        ].compactMap(\.self)
        if !told.isEmpty { refuse("E11", pointer, told.joined(separator: " "), keys: [key]) }
    }

    /// E01: a key must be used once.
    ///
    /// - Parameter keys: the keys that were used before.
    package mutating func unique(_ key: String, in keys: inout Set<String>, at pointer: String) {
        if !keys.insert(key).inserted { refuse("E01", pointer, "The key “\(key)” is used twice.") }
    }
}

private func list(_ names: Set<String>) -> String { names.sorted().joined(separator: ", ") }

/// The placeholders with their braces, such as `{name}`.
private func placeholders(_ text: String) -> Set<String> {
    Set(
        text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            part.firstIndex(of: "}").map { "{\(part[..<$0])}" }
        })
}

/// Whether a tag has the form of RFC 5646: subtags of 1 to 8 letters or digits, the first of 2 or 3 letters.
private func isLanguageTag(_ tag: String) -> Bool {
    let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
    return parts.allSatisfy {
        (1...8).contains($0.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
        && (2...3).contains(parts[0].count) && parts[0].allSatisfy(\.isLetter)
}
