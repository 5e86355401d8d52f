import BusProtocol

/// All fields of a profile, in the order in which they are asked.
struct FieldCatalogue: Sendable {
    static let declined = "prefer_not_to_say"

    /// The catalogue as clients see it.
    let view: ProfileFields
    let fields: [ProfileField]

    /// The catalogue of this release. A service with an invalid file does not start.
    static let shipped = Result { () throws(CatalogueError) in
        try CatalogueFile.read(EmbeddedFiles.Catalogue.profile_fields.bytes)
    }

    /// The catalogue in every language. The first one is for people with any other language.
    static let shippedViews = Result { () throws(CatalogueError) -> [ProfileFields] in
        let view = try shipped.get().view
        return [view, try CatalogueTranslation.translate(view, by: EmbeddedFiles.Catalogue.profile_fields_sv.bytes)]
    }

    static let fields = (try? shipped.get())?.fields ?? []
    static let version = (try? shipped.get())?.view.version ?? 0
    static let totalSteps = Int64((try? shipped.get())?.view.steps.count ?? 0)

    static func field(_ key: String) -> ProfileField? { place(of: key).map { fields[$0] } }
    static func place(of key: String) -> Int? { places[key] }

    private static let places = Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.place) })
}
