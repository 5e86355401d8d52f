/// The words of a command: options with a value, flags, and the rest.
struct Arguments {
    private var options: [String: String] = [:]
    private var flags: Set<String> = []
    private(set) var rest: [String] = []

    /// - Throws: ``CommandError`` for an option that the command does not have.
    init(_ words: some Sequence<String>, options known: [String] = [], flags knownFlags: [String] = []) throws {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            if known.contains(word) {
                guard let value = words.popFirst() else { throw CommandError.usage("\(word) needs a value") }
                options[word] = value
            } else if knownFlags.contains(word) {
                flags.insert(word)
            } else if word.hasPrefix("-") {
                throw CommandError.usage("there is no option \(word) here; see vestibule --help")
            } else {
                rest.append(word)
            }
        }
    }

    subscript(option: String) -> String? { options[option] }
    func has(_ flag: String) -> Bool { flags.contains(flag) }
}
