/// The arguments of a command: options with a value, flags, and other words.
struct Arguments {
    private var options: [String: String] = [:]
    private var flags: Set<String> = []
    private(set) var rest: [String] = []

    /// - Parameter mostWords: the most words beside options and flags.
    /// - Throws: ``CommandError`` for an option or a word that the command does not take.
    init(
        _ words: some Sequence<String>, options known: [String] = [], flags knownFlags: [String] = [],
        mostWords: Int = 0
    ) throws {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            if known.contains(word) {
                guard let value = words.popFirst() else { throw CommandError.usage("\(word) needs a value") }
                options[word] = value
            } else if knownFlags.contains(word) {
                flags.insert(word)
            } else if word.hasPrefix("-") {
                throw CommandError.usage("there is no option \(word) here: see vestibule --help")
            } else if rest.count < mostWords {
                rest.append(word)
            } else {
                throw CommandError.usage("\"\(word)\" is one word too many: see vestibule --help")
            }
        }
    }

    subscript(option: String) -> String? { options[option] }
    func has(_ flag: String) -> Bool { flags.contains(flag) }
}
