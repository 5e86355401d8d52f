import BusProtocol
import ProcessRuntime

/// The fields of a plan, in the order in which they are asked.
final class FieldCatalogue: Sendable {
    static let declined = "prefer_not_to_say"

    /// The catalogue as clients see it, in each language. The first one is for people with any other language.
    let views: [ProfileFields]
    let fields: [ProfileField]
    private let places: [String: Int]

    /// - Throws: ``FieldCatalogueError`` if the members of a field do not fit together.
    convenience init(_ views: [ProfileFields]) throws(FieldCatalogueError) {
        var fields: [ProfileField] = []
        for view in views.first?.fields ?? [] {
            guard let field = ProfileField(view) else {
                throw FieldCatalogueError(problems: ["\(view.key): its type, category and bounds do not fit together"])
            }
            fields.append(field)
        }
        self.init(views: views, fields: fields)
    }

    private init(views: [ProfileFields], fields: [ProfileField]) {
        (self.views, self.fields) = (views, fields)
        places = Dictionary(fields.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The catalogue with more fields behind its own. If both have a field, this catalogue's stays, unless its key is
    /// in `replacing`.
    func adding(_ more: [ProfileField], replacing keys: Set<String>) -> FieldCatalogue {
        let replaced = fields.map { own in keys.contains(own.key) ? more.first { $0.key == own.key } ?? own : own }
        return FieldCatalogue(views: views, fields: replaced + more.filter { field($0.key) == nil })
    }

    var totalSteps: Int64 { Int64(views.first?.steps.count ?? 0) }

    /// The keys of the fields that other people may see.
    var publicKeys: [String] { fields.filter(\.isPublic).map(\.key) }

    func field(_ key: String) -> ProfileField? { places[key].map { fields[$0] } }

    /// The best of its languages for an `Accept-Language` header.
    func view(for header: String?) -> ProfileFields? {
        let languages = views.map(\.language)
        let language = LanguagePreference(header ?? "").choose(from: languages, fallback: languages.first ?? "")
        return views.first { $0.language == language }
    }
}

/// The problems of a field catalogue.
struct FieldCatalogueError: Error, Sendable, Equatable {
    let problems: [String]
}
