/// The commands that one word leads to, `vestibule role` say.
struct CommandGroup {
    /// `role`.
    let name: String
    /// What each command takes, its verb first: `grant PERSON ROLE`.
    let usages: [String]

    /// Looks at the verb before anything else, so that a slip in it is told before what follows from it. Where an option
    /// stands first, the command looks for the verb itself.
    ///
    /// - Throws: ``CommandError`` where the first word is missing or is no verb of the group.
    func checkVerb(of words: ArraySlice<String>) throws {
        guard let word = words.first, word.hasPrefix("-") || !usages(of: word).isEmpty else {
            throw misuse(of: words.first)
        }
    }

    /// Says which commands there are, or what the one that was meant takes.
    ///
    /// - Parameter verb: `nil` where none was given.
    func misuse(of verb: String?) -> CommandError {
        guard let verb else { return .usage("vestibule \(name) needs a command: \(Self.either(usages))") }
        let meant = usages(of: verb)
        guard meant.isEmpty else { return .usage("expected vestibule \(name) \(Self.either(meant))") }
        return .usage("vestibule \(name) has no command \(verb): expected \(Self.either(usages))")
    }

    private func usages(of verb: String) -> [String] { usages.filter { $0 == verb || $0.hasPrefix("\(verb) ") } }

    /// `a, b or c`
    private static func either(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
