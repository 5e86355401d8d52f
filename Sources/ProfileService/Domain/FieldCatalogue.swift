import BusProtocol

/// Every field that a profile has, in the order in which they are asked.
struct FieldCatalogue: Sendable {
    static let declined = "prefer_not_to_say"

    /// What clients are shown.
    let view: ProfileFields
    let fields: [ProfileField]

    /// The catalogue that this release brings; a service whose file is wrong does not start.
    static let shipped = Result { () throws(CatalogueError) in
        try CatalogueFile.read(EmbeddedFiles.Catalogue.profile_fields.bytes)
    }

    /// The same in every language that there is, the one for everybody else first.
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
