// English only: writers of sets read it.

import Documents

/// A version of the pictures that people compare.
struct StimulusSet: Sendable {
    typealias Item = StimulusSetDocument.Item

    let version: Int64
    let licence: String
    /// The keys of the attributes.
    let attributes: [String]
    let items: [Item]
    /// The level of each attribute, for each item.
    let levels: [[Double]]
    private let places: [String: Int]

    /// The set of this release.
    static let shipped = Result { () throws(DocumentError) in
        try StimulusSetDocument(EmbeddedFiles.Sets.drawn_faces.bytes)
    }

    /// Takes a set that an older or newer release has published. So it checks only the parts that the choices need.
    ///
    /// - Throws: ``DocumentError`` if the choices of the set cannot be read.
    init(_ document: StimulusSetDocument) throws(DocumentError) {
        let file = document.file
        guard Set(file.items.map(\.id)).count == file.items.count, file.items.count > 1,
            file.items.allSatisfy({ $0.levels.count == file.attributes.count })
        else {
            throw DocumentError(
                problems: [
                    DocumentProblem(
                        code: "wrong_levels", pointer: "/items",
                        message: "Two items, each with one level for each attribute, are needed.")
                ])
        }
        (version, licence, attributes, items) = (file.version, file.licence, file.attributes, file.items)
        levels = items.map(\.levels)
        places = Dictionary(items.enumerated().map { ($1.id, $0) }) { first, _ in first }
    }

    /// The place of an item; `nil` if the set has none of this ID.
    func place(of id: String) -> Int? { places[id] }
}
