import BusProtocol
import Cryptography
import JSONText

/// The labels of the catalogue in another language: keys, bounds and version stay, the hash is of what is shown.
enum CatalogueTranslation {
    /// - Throws: ``CatalogueError``: a label that is missing, or one of nothing.
    static func translate(_ view: ProfileFields, by bytes: [UInt8]) throws(CatalogueError) -> ProfileFields {
        guard let file = try? JSONValue.parse(bytes), let language = file["language"]?.stringValue else {
            throw CatalogueError(problems: ["a translation is not readable as JSON"])
        }
        var missing: [String] = []
        var used = 0
        func label(_ path: String...) -> String {
            guard let label = path.reduce(Optional(file), { $0?[$1] })?.stringValue, !label.isEmpty else {
                missing.append("\(language): no label for \(path.joined(separator: "."))")
                return ""
            }
            used += 1
            return label
        }
        var view = view
        view.language = language
        for step in view.steps.indices { view.steps[step].label = label("steps", view.steps[step].key) }
        for field in view.fields.indices {
            let key = view.fields[field].key
            view.fields[field].label = label("fields", key)
            for option in view.fields[field].options?.indices ?? 0..<0 {
                guard let value = view.fields[field].options?[option].key else { continue }
                view.fields[field].options?[option].label = label("options", key, value)
            }
        }
        if used != count(file) - 1 { missing.append("\(language): labels of what is not in the catalogue") }
        guard missing.isEmpty else { throw CatalogueError(problems: missing) }
        view.hash = try CatalogueFile.hash(of: view)
        return view
    }

    /// How many texts are in it.
    private static func count(_ value: JSONValue?) -> Int {
        if let members = value?.objectValue { return members.values.reduce(0) { $0 + count($1) } }
        return value?.stringValue == nil ? 0 : 1
    }
}
