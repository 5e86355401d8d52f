import BusProtocol
import Foundation
import JSONText

/// `vestibule dead-letters`: shows and replays messages that the services could not deliver.
///
/// It shows their types, ids and numbers. Their content stays encrypted.
enum DeadLettersCommand {
    private static let commands = CommandGroup(
        name: "dead-letters", usages: ["list", "show ID", "replay ID…", "replay --all"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json", "--all"], mostWords: .max)
        let rest = Array(arguments.rest.dropFirst())
        let ids = try rest.map { try id($0) }
        let isJSON = arguments.has("--json")
        switch (arguments.rest.first, arguments.has("--all")) {
        case ("list", false) where ids.isEmpty: try list(in: arguments["--state"], isJSON: isJSON)
        case ("show", false) where ids.count == 1: try show(ids[0], in: arguments["--state"], isJSON: isJSON)
        case ("replay", false) where !ids.isEmpty: try replay(ids, in: arguments["--state"], isJSON: isJSON)
        case ("replay", true) where ids.isEmpty: try replay(nil, in: arguments["--state"], isJSON: isJSON)
        default:
            throw commands.misuse(of: arguments.rest.first)
        }
    }

    private static func id(_ word: String) throws -> String {
        guard let id = Identifier(word) else { throw CommandError.usage("\(word) is not the id of a dead letter") }
        return id.description
    }

    // MARK: Commands

    private static func list(in state: String?, isJSON: Bool) throws {
        let found = try ask(state) { try $0.deadLetters() }
        if isJSON {
            printResult(.array(found.values))
        } else if !found.values.isEmpty {
            say(DeadLetterText.table(of: found.values))
        } else if found.failure == nil {
            say("There are no dead letters.")
        }
        if let failure = found.failure { throw failure }
    }

    private static func show(_ id: String, in state: String?, isJSON: Bool) throws {
        let found = try ask(state) { try $0.deadLetters() }
        guard let letter = found.values.first(where: { $0["id"]?.stringValue == id }) else {
            throw found.failure ?? unknown([id])
        }
        if isJSON { printResult(letter) } else { say(DeadLetterText.page(of: letter)) }
    }

    /// - Parameter ids: the ids of the dead letters to replay; `nil` for all.
    private static func replay(_ ids: [String]?, in state: String?, isJSON: Bool) throws {
        let found = try ask(state) { tables in
            try tables.replay(ids ?? ["all"]).map { ["service": .string(tables.service), "id": .string($0)] }
        }
        if isJSON {
            printResult(.array(found.values))
        } else if !found.values.isEmpty {
            say(DeadLetterText.replayed(found.values))
        } else if ids == nil, found.failure == nil {
            say("There are no dead letters.")
        }
        let done = Set(found.values.compactMap { $0["id"]?.stringValue })
        let missing = (ids ?? []).filter { !done.contains($0) }
        if let failure = found.failure { throw failure }
        if !missing.isEmpty { throw unknown(missing) }
    }

    // MARK: Parts

    /// Asks every service. If one fails, it still returns the values of the others.
    private static func ask(
        _ state: String?, _ body: @escaping @Sendable (ServiceTables) throws -> [JSONValue]
    ) throws -> (values: [JSONValue], failure: CommandError?) {
        try ServiceTables.each(state: state) { all in
            var (values, failures) = ([JSONValue](), [String]())
            for result in all.together(body) {
                do {
                    values += try result.get()
                } catch let error as CommandError {
                    failures.append(error.message)
                }
            }
            return (values, failures.isEmpty ? nil : .unavailable(failures.joined(separator: "; ")))
        }
    }

    private static func unknown(_ ids: [String]) -> CommandError {
        CommandError("no dead letter has the id \(ids.joined(separator: ", ")): was it replayed already?")
    }

    private static func printResult(_ value: JSONValue) {
        say(String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self))
    }
}

/// Dead letters as text.
enum DeadLetterText {
    private static let columns = [
        ("service", "service"), ("id", "id"), ("type", "type"), ("to", "destination"), ("sequence", "personSequence"),
        ("attempts", "attempts"), ("waiting", "waiting"), ("dead since", "deadAt"), ("last error", "lastError"),
    ]

    static func table(of letters: [JSONValue]) -> String {
        TextTable.text(of: [columns.map(\.0)] + letters.map { letter in columns.map { text(letter, $0.1) } })
    }

    static func page(of letter: JSONValue) -> String {
        """
        \(text(letter, "id")), given up by \(text(letter, "service"))

          type        \(text(letter, "type")), version \(text(letter, "version"))
          to          \(text(letter, "destination"))
          person      \(text(letter, "personId"))
          sequence    \(text(letter, "personSequence"))
          created     \(text(letter, "createdAt"))
          dead since  \(text(letter, "deadAt")), after \(text(letter, "attempts")) attempts
          last error  \(text(letter, "lastError"))
          waiting     \(text(letter, "waiting")) behind it, for the same person and destination

        Its content is encrypted and not shown. To deliver it, and then the messages that wait behind it:
          vestibule dead-letters replay \(text(letter, "id"))
        """
    }

    static func replayed(_ letters: [JSONValue]) -> String {
        let rows = letters.map { [text($0, "service"), text($0, "id"), "put back"] }
        return """
            \(TextTable.text(of: rows))

            \(letters.count) put back. A running service tries each within a second, and then the messages that wait
            behind it. A stopped service does so when it starts.
            """
    }

    private static func text(_ letter: JSONValue, _ member: String) -> String {
        letter[member]?.stringValue ?? letter[member]?.integerValue.map { "\($0)" } ?? "-"
    }
}
