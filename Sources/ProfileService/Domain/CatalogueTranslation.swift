import BusProtocol
import Cryptography
import JSONText

/// Translates the labels of the catalogue. Keys, bounds and version stay. The hash is that of the translation.
enum CatalogueTranslation {
    /// - Throws: ``CatalogueError`` if a label is missing, or if a label is for nothing in the catalogue.
    static func translate(_ view: ProfileFields, by bytes: [UInt8]) throws(CatalogueError) -> ProfileFields {
        guard let file = try? JSONValue.parse(bytes), let language = file["language"]?.stringValue else {
            throw CatalogueError(problems: ["a translation is not valid JSON"])
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
        view.preferNotToSay?.label = label("preferNotToSay")
        for step in view.steps.indices { view.steps[step].label = label("steps", view.steps[step].key) }
        for field in view.fields.indices {
            let key = view.fields[field].key
            view.fields[field].label = label("fields", key)
            for option in view.fields[field].options?.indices ?? 0..<0 {
                guard let value = view.fields[field].options?[option].key else { continue }
                view.fields[field].options?[option].label = label("options", key, value)
            }
        }
        if used != count(file) - 1 {
            missing.append("\(language): labels for fields or options that the catalogue does not have")
        }
        guard missing.isEmpty else { throw CatalogueError(problems: missing) }
        view.hash = try CatalogueFile.hash(of: view)
        return view
    }

    /// The number of texts in a JSON value.
    private static func count(_ value: JSONValue?) -> Int {
        if let members = value?.objectValue { return members.values.reduce(0) { $0 + count($1) } }
        return value?.stringValue == nil ? 0 : 1
    }
}
