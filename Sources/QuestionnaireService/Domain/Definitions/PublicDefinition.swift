import JSONText

/// The part of a published definition that everybody may read. It has the questions, and not how answers are scored.
///
/// It lists the members that are shown. So a member that a later release adds is not shown by accident.
enum PublicDefinition {
    /// The part of a value, or of each element of a list, that is shown.
    private indirect enum Part {
        case whole
        case members([String: Part])

        static func members(_ names: [String], _ parts: [String: Part] = [:]) -> Part {
            .members(parts.merging(names.map { ($0, .whole) }) { part, _ in part })
        }

        func of(_ value: JSONValue) -> JSONValue {
            guard case .members(let parts) = self else { return value }
            if let elements = value.arrayValue { return .array(elements.map(of)) }
            guard let members = value.objectValue else { return value }
            return .object(
                members.reduce(into: [:]) { shown, member in
                    if let part = parts[member.key] { shown[member.key] = part.of(member.value) }
                })
        }
    }

    private static let option = Part.members(["key", "labelKey", "exclusive"])
    private static let question = Part.members(
        [
            "key", "type", "textKey", "helpKey", "slug", "required", "skippable", "declinable", "default",
            "defaultCounts", "presentation", "constraints", "meaningRev",
        ],
        ["options": option, "preference": .members(["acceptable"])])
    private static let section = Part.members(["key", "titleKey", "repeat"], ["questions": question])
    private static let definition = Part.members(
        ["key", "version", "derivedFrom", "titleKey", "locales", "defaultLocale", "strings"], ["sections": section])

    /// - Parameter whole: the canonical document of a version.
    static func document(of whole: JSONValue) -> JSONValue { definition.of(whole) }
}
