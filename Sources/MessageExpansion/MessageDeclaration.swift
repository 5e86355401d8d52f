/// The source of a `struct` under `@Message`: its stored properties in their order.
///
/// It understands the part of Swift that messages use: one stored property per declaration, with its type. It skips all
/// other members.
struct MessageDeclaration {
    /// Why a declaration is not a message.
    struct Problem: Error {
        var message: String
        /// The place in bytes, from the start of the declaration.
        var offset: Int
    }

    /// A stored property, which is a member of the JSON object.
    struct Field {
        var name: String
        /// The type as written: `String`, `[Identifier]`, `Timestamp?`.
        var type: String
        /// The default value for the initialiser.
        var initial: String?
        /// The first paragraph of the doc comment, for the reader of the schema.
        var words: String
        /// The unlabelled argument of `@Field`.
        var schema: String?
        /// The labelled arguments of `@Field`.
        var labels: [String: String]
        var offset: Int

        var isOptional: Bool { type.hasSuffix("?") }
        /// The type without its question mark.
        var wrapped: String { isOptional ? String(type.dropLast()) : type }
        /// The name without backticks.
        var plainName: String { name.filter { $0 != "`" } }
        /// The name in JSON.
        var wireName: String { labels["name"].map { $0.filter { $0 != "\"" } } ?? plainName }
        /// An optional that is written as `null` if it is `nil`.
        var isNullWritten: Bool { isOptional && (isRequired || labels["writesNull"] == "true") }
        var isRequired: Bool { !isOptional || labels["isRequired"] == "true" }
        var isDeprecated: Bool { labels["isDeprecated"] == "true" }
    }

    private(set) var fields: [Field] = []
    /// The first paragraph of the structure's own doc comment, for readers of the schema.
    let words: String
    /// The structure has its own initialiser, so `@Message` adds none.
    private(set) var hasInitialiser = false

    init(_ source: String) throws(Problem) {
        var route: SourceScanner.Member?
        let scanner = SourceScanner(source)
        words = scanner.words
        for part in scanner.members() {
            let initialiser = ["init(", "public init("].first { part.code.hasPrefix($0) }
            // The initialiser of `Decodable` does not count, since it does not take the members.
            if let initialiser, !part.code.hasPrefix(initialiser + "from decoder") { hasInitialiser = true }
            if part.code.hasPrefix("public static let route ") { route = part }
            guard let declaration = Self.stored(part) else { continue }
            fields.append(try Self.field(declaration, part))
        }
        if let route { try checkParameters(of: route) }
    }

    /// Checks that the parameters of the route's path and the fields that come from it are the same.
    private func checkParameters(of route: SourceScanner.Member) throws(Problem) {
        let path = route.code.split(separator: "\"").first { $0.hasPrefix("/") } ?? ""
        let parameters = path.split(separator: "{").dropFirst().map { $0.prefix { $0 != "}" } }
        let given = fields.compactMap { $0.labels["from"] }.filter { $0.hasPrefix(".path(") }
            .map { $0.split(separator: "\"")[1] }
        for name in Set(parameters).symmetricDifference(given).sorted() {
            let problem =
                given.contains(name) ? "the path has no {\(name)}" : "no field comes from {\(name)} of the path"
            throw Problem(message: problem, offset: route.offset)
        }
    }

    /// The text after `var` of a stored property; `nil` for anything else.
    private static func stored(_ part: SourceScanner.Member) -> Substring? {
        var words = part.code[...]
        while ["public", "package", "internal"].contains(words.prefix { !$0.isWhitespace }) {
            words = words.drop { !$0.isWhitespace }.drop { $0.isWhitespace }
        }
        guard words.hasPrefix("var ") else { return nil }
        words = words.dropFirst(4)
        // A computed property has a body.
        return SourceScanner.split(words, at: "{").count == 1 ? words : nil
    }

    private static func field(_ declaration: Substring, _ part: SourceScanner.Member) throws(Problem) -> Field {
        let halves = SourceScanner.split(declaration, at: "=")
        let parts = SourceScanner.split(halves[0], at: ":")
        let name = parts[0].trimmed
        guard parts.count == 2 else {
            throw Problem(message: "a field of a message is one property with its type", offset: part.offset)
        }
        var field = Field(
            name: name, type: parts[1].trimmed, initial: halves.count > 1 ? halves[1].trimmed : nil, words: part.words,
            labels: [:], offset: part.offset)
        for argument in part.arguments(of: "Field") {
            let pieces = SourceScanner.split(argument, at: ":")
            if pieces.count == 2, pieces[0].trimmed.allSatisfy(\.isLetter) {
                field.labels[pieces[0].trimmed] = pieces[1].trimmed
            } else {
                field.schema = argument.trimmed
            }
        }
        return field
    }
}

extension StringProtocol {
    /// The text without white space at both ends.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
