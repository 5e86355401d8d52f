extension MessageDeclaration {
    /// The members that `@Message` adds, as Swift source.
    func members() throws(Problem) -> String {
        var parts = [try schema(), reader, writer]
        if !hasInitialiser { parts.insert(initialiser, at: 0) }
        parts += [sources, codingKeys, encode].compactMap { $0 }
        return parts.joined(separator: "\n\n")
    }

    private var initialiser: String {
        let parameters = fields.map { field in
            let initial = field.initial ?? (field.isOptional ? "nil" : nil)
            return "\(field.plainName): \(field.type)" + (initial.map { " = \($0)" } ?? "")
        }
        let assignments = fields.map { "    self.\($0.plainName) = \(Self.escaped($0.plainName))" }
        return "public init(\(parameters.joined(separator: ", "))) {\n\(assignments.joined(separator: "\n"))\n}"
    }

    private func schema() throws(Problem) -> String {
        var lines: [String] = []
        for field in fields {
            let kind = field.isRequired ? "required" : "optional"
            let words = field.words.isEmpty ? "" : ", \(Self.literal(field.words))"
            let schema = try Self.schema(of: field)
            let deprecated = field.isDeprecated ? ", isDeprecated: true" : ""
            let examples = ["example", "inExamples"].compactMap { label in
                field.labels[label].map { ", \(label): \($0)" }
            }
            lines.append("    .\(kind)(\"\(field.wireName)\", \(schema)\(words)\(deprecated)\(examples.joined())),")
        }
        return "public static let schema = JSONSchema.object([\n\(lines.joined(separator: "\n"))\n])"
            + ".named(Self.self, \(Self.literal(words)))"
    }

    private static func schema(of field: Field) throws(Problem) -> String {
        let type = field.wrapped
        guard type.hasPrefix("["), field.schema == nil || field.labels["count"] != nil else {
            if field.schema == nil, ["String", "Int64", "Double"].contains(type) {
                throw Problem(message: "say what '\(field.name)' may be: @Field(.string(1...64))", offset: field.offset)
            }
            return field.schema ?? "\(type).schema"
        }
        guard let count = field.labels["count"] else {
            throw Problem(
                message: "say how many '\(field.name)' may have: @Field(count: 0...100)", offset: field.offset)
        }
        let parts = SourceScanner.split(type.dropFirst().dropLast(), at: ":")
        let element = field.schema ?? "\(parts[parts.count - 1].trimmed).schema"
        return ".\(parts.count == 2 ? "map" : "array")(of: \(element), count: \(count))"
    }

    /// The fields in the order of the members in JSON.
    private var sorted: [Field] { fields.sorted { $0.wireName.utf8.lexicographicallyPrecedes($1.wireName.utf8) } }

    private var reader: String {
        var lines = ["public init(json: JSONNode) throws(JSONMismatch) {"]
        if fields.isEmpty {
            lines.append("    _ = try JSONObjectReader(json)")
        } else {
            lines.append("    var object = try JSONObjectReader(json)")
        }
        for field in sorted {
            let read = field.isOptional ? "optional" : "required"
            lines.append("    self.\(field.plainName) = try object.\(read)(\"\(field.wireName)\")")
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private var writer: String {
        guard !fields.isEmpty else {
            return "public func write(to json: JSONOutput) { json.object { _ in } }"
        }
        let lines = sorted.map { field in
            let call = field.isOptional && !field.isNullWritten ? "optional" : "member"
            return "        object.\(call)(\"\(field.wireName)\", self.\(field.plainName))"
        }
        return
            "public func write(to json: JSONOutput) {\n    json.object { object in\n\(lines.joined(separator: "\n"))\n    }\n}"
    }

    /// The sources of the members that the gateway does not take from the body.
    private var sources: String? {
        let lines = fields.compactMap { field in field.labels["from"].map { "    \"\(field.wireName)\": \($0)," } }
        guard !lines.isEmpty else { return nil }
        return "public static let sources: [String: HTTPRoute.Source] = [\n\(lines.joined(separator: "\n"))\n]"
    }

    /// For `Codable`, if a member has another name in JSON.
    private var codingKeys: String? {
        guard fields.contains(where: { $0.wireName != $0.plainName }) else { return nil }
        let cases = fields.map { "    case \($0.name) = \"\($0.wireName)\"" }
        return "private enum CodingKeys: String, CodingKey {\n\(cases.joined(separator: "\n"))\n}"
    }

    /// For `Codable`. Without this, the compiler's code would leave out each optional that is `nil`.
    private var encode: String? {
        guard fields.contains(where: \.isNullWritten) else { return nil }
        let lines = fields.map { field in
            let call = field.isOptional && !field.isNullWritten ? "encodeIfPresent" : "encode"
            return "    try container.\(call)(self.\(field.plainName), forKey: .\(field.plainName))"
        }
        return "public func encode(to encoder: any Encoder) throws {\n"
            + "    var container = encoder.container(keyedBy: CodingKeys.self)\n\(lines.joined(separator: "\n"))\n}"
    }

    private static let keywords: Set<String> = [
        "default", "defer", "class", "in", "is", "self", "where", "for", "if", "case",
    ]
    private static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    private static func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
