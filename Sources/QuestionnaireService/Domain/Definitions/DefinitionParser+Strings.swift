extension DefinitionParser {
    /// The keys of the texts that a definition uses, and where.
    static func usedStrings(_ file: DefinitionFile) -> [(key: String, pointer: String)] {
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
}
