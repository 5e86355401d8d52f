/// Commands that share their first word, such as those of `vestibule role`.
struct CommandGroup {
    /// The shared word, such as `role`.
    let name: String
    /// The verb and the arguments of each command, such as `grant PERSON ROLE`.
    let usages: [String]

    /// Checks the verb before anything else. So the command reports a wrong verb, and not the errors that follow from
    /// it.
    ///
    /// If an option comes first, the command itself must look for the verb.
    ///
    /// - Throws: ``CommandError`` if the first word is missing or is not a verb of the group.
    func checkVerb(of words: ArraySlice<String>) throws {
        guard let word = words.first, word.hasPrefix("-") || !usages(of: word).isEmpty else {
            throw misuse(of: words.first)
        }
    }

    /// The error that lists the commands or, for a known verb, its arguments.
    ///
    /// - Parameter verb: `nil` if none was given.
    func misuse(of verb: String?) -> CommandError {
        guard let verb else { return .usage("vestibule \(name) needs a command: \(Self.either(usages))") }
        let meant = usages(of: verb)
        guard meant.isEmpty else { return .usage("expected vestibule \(name) \(Self.either(meant))") }
        return .usage("vestibule \(name) has no command \(verb): expected \(Self.either(usages))")
    }

    private func usages(of verb: String) -> [String] { usages.filter { $0 == verb || $0.hasPrefix("\(verb) ") } }

    /// Joins words as in `a, b or c`.
    private static func either(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
