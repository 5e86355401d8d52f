import BusProtocol
import Cryptography
import JSONText

/// The problems of a catalogue file.
struct CatalogueError: Error, Sendable, Equatable, CustomStringConvertible {
    let problems: [String]
    var description: String { "The catalogue of fields: " + problems.joined(separator: "; ") }
}

/// Reads the file of the field catalogue. Clients see its content and a hash. The rules for fields are made from it.
enum CatalogueFile {
    static func read(_ bytes: [UInt8]) throws(CatalogueError) -> FieldCatalogue {
        let view = try view(bytes)
        let problems = problems(of: view)
        guard problems.isEmpty else { throw CatalogueError(problems: problems) }
        var fields: [ProfileField] = []
        for field in view.fields {
            guard let field = ProfileField(field, place: fields.count) else {
                throw CatalogueError(problems: ["\(field.key): its type, category and bounds do not fit together"])
            }
            fields.append(field)
        }
        return FieldCatalogue(view: view, fields: fields)
    }

    private static func view(_ bytes: [UInt8]) throws(CatalogueError) -> ProfileFields {
        do {
            guard case .object(var members) = try JSONValue.parse(bytes) else {
                throw CatalogueError(problems: ["not an object"])
            }
            members["hash"] = .string(hash(of: members))
            let text = CanonicalJSON.bytes(of: .object(members))
            let problems = ProfileFields.schema.problems(in: try JSONDocument(text).root)
            guard problems.isEmpty else {
                throw CatalogueError(problems: problems.map { "\($0.field): \($0.message)" })
            }
            return try WireJSON.decode(ProfileFields.self, from: text)
        } catch let error as CatalogueError {
            throw error
        } catch {
            throw CatalogueError(problems: ["not valid JSON"])
        }
    }

    /// The hash of what clients see, without the hash itself.
    static func hash(of view: ProfileFields) throws(CatalogueError) -> String {
        guard let bytes = try? WireJSON.encode(view), case .object(var members)? = try? JSONValue.parse(bytes) else {
            throw CatalogueError(problems: ["it cannot be written as JSON"])
        }
        members["hash"] = nil
        return hash(of: members)
    }

    private static func hash(of members: [String: JSONValue]) -> String {
        Hex.encode(SHA256.digest(CanonicalJSON.bytes(of: .object(members))))
    }

    /// The contradictions between parts of the file.
    private static func problems(of view: ProfileFields) -> [String] {
        var problems: [String] = []
        if Set(view.fields.map(\.key)).count != view.fields.count { problems.append("a key is used twice") }
        for (index, step) in view.steps.enumerated() {
            let fields = view.fields.filter { $0.step == step.step }
            if step.step != index + 1 || step.fields != fields.map(\.key) {
                problems.append("step \(step.step) is out of order or does not list its fields")
            }
        }
        if view.fields.map(\.step) != view.fields.map(\.step).sorted()
            || view.steps.flatMap(\.fields).count != view.fields.count
        {
            problems.append("a field is in no step or out of order")
        }
        if view.preferNotToSay?.key != FieldCatalogue.declined { problems.append("preferNotToSay has another key") }
        let filled = Set(view.fields.flatMap { $0.lookup?.fills.map(\.field) ?? [] })
        if !filled.isSubset(of: view.fields.map(\.key)) { problems.append("a lookup fills what is no field") }
        return problems
    }
}

extension ProfileField {
    /// `nil` if the members of the field do not fit together.
    convenience init?(_ view: ProfileFieldView, place: Int) {
        guard let category = Category(rawValue: view.category), let kind = Kind(view),
            view.required == (category == .required), view.encouraged == (category == .encouraged),
            view.skippable == (category != .required), !view.sensitive || view.allowsPreferNotToSay,
            ["public", "private"].contains(view.visibility)
        else { return nil }
        let capabilities = view.capabilities.compactMap { RequirementRules.Capability(rawValue: $0) }
        guard capabilities.count == view.capabilities.count else { return nil }
        self.init(
            key: view.key, step: view.step, kind: kind, category: category, isDeclinable: view.allowsPreferNotToSay,
            isPublic: view.visibility == "public", capabilities: Set(capabilities), place: place)
    }
}

extension ProfileField.Kind {
    fileprivate init?(_ view: ProfileFieldView) {
        switch (view.type, view.format) {
        case ("text", "person_name"?):
            guard let length = Self.length(view) else { return nil }
            self = .name(length)
        case ("text", "single_line"?):
            guard let length = Self.length(view) else { return nil }
            self = .line(length)
        case ("text", "free_text"?):
            guard let length = Self.length(view) else { return nil }
            self = .text(length)
        case ("integer", nil):
            guard let min = view.min, let max = view.max, min <= max else { return nil }
            self = .integer(min...max)
        case ("single_choice", nil):
            guard let options = Self.keys(view) else { return nil }
            self = .choice(options)
        case ("multi_choice", nil):
            guard let options = Self.keys(view) else { return nil }
            let exclusive = view.options?.first { $0.exclusive == true }?.key
            self = .choices(options, exclusive: exclusive, most: Int(view.maxSelections ?? Int64(options.count)))
        case ("date", nil): self = .date
        case ("boolean", nil): self = .boolean
        case ("url", nil): self = .url
        case ("coordinates", nil): self = .coordinates
        default: return nil
        }
    }

    private static func length(_ view: ProfileFieldView) -> ClosedRange<Int>? {
        guard let min = view.minLength, let max = view.maxLength, min <= max else { return nil }
        return Int(min)...Int(max)
    }

    /// The keys of the options; `nil` if a key is used twice, or if more than one option is exclusive.
    private static func keys(_ view: ProfileFieldView) -> [String]? {
        guard let options = view.options, Set(options.map(\.key)).count == options.count,
            options.count(where: { $0.exclusive == true }) <= (view.type == "multi_choice" ? 1 : 0)
        else { return nil }
        return options.map(\.key)
    }
}
