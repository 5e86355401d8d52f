// English only: writers of sets read it.

import Documents
import Foundation

/// Finds the problems that keep a stimulus set from being used.
struct StimulusSetGate: ProblemCollector {
    static let fewestItems = 40
    /// Drawing the next pairs from this many items takes 2 ms.
    static let mostItems = 100
    static let mostAttributes = 12
    /// The pictures of the program.
    private static let pictures = Set(EmbeddedFiles.Images.all.map(\.name))

    private(set) var problems: [DocumentProblem] = []

    mutating func refuse(_ problem: DocumentProblem) { problems.append(problem) }

    init(_ file: StimulusSetDocument.File) {
        if !KeyForm.kebab.fits(file.key) { refuse("malformed", "/key", "The key of a set must be in kebab-case.") }
        if file.attributes.count > Self.mostAttributes {
            refuse("too_many_attributes", "/attributes", "A set has at most \(Self.mostAttributes) attributes.")
        }
        if file.items.count < Self.fewestItems {
            refuse("too_few_items", "/items", "A set has at least \(Self.fewestItems) items.")
        }
        if file.items.count > Self.mostItems {
            refuse("too_many_items", "/items", "A set has at most \(Self.mostItems) items.")
        }
        check(file.attributes) { "/attributes/\($0)" }
        check(file.items.map(\.id)) { "/items/\($0)/id" }
        for (place, item) in file.items.enumerated() { check(item, file.attributes.count, at: "/items/\(place)") }
        if file.items.allSatisfy({ $0.levels.count == file.attributes.count }) {
            checkIndependence(of: file.attributes, file.items.map(\.levels))
        }
    }

    private mutating func check(_ keys: [String], pointer: (Int) -> String) {
        var known = Set<String>()
        for (place, key) in keys.enumerated() {
            if !KeyForm.snake.fits(key) { refuse("malformed", pointer(place), "Must be in snake_case.", keys: [key]) }
            if !known.insert(key).inserted {
                refuse("duplicate_key", pointer(place), "“\(key)” is used twice.", keys: [key])
            }
        }
    }

    private mutating func check(_ item: StimulusSetDocument.Item, _ attributes: Int, at pointer: String) {
        if item.alt["en"] == nil {
            refuse("missing_text", "\(pointer)/alt", "There is no text in English.", keys: [item.id])
        }
        if item.levels.count != attributes {
            refuse("wrong_levels", "\(pointer)/levels", "Must have one level for each attribute.", keys: [item.id])
        }
        if let image = item.image {
            let url = URL(string: image)
            if url?.scheme != "https" || url?.host()?.isEmpty != false {
                refuse("malformed", "\(pointer)/image", "Must be an https address.", keys: [item.id])
            }
        } else if !Self.pictures.contains(item.id) {
            refuse(
                "unknown_picture", "\(pointer)/id", "The program has no such picture: say its address in image.",
                keys: [item.id])
        }
    }

    /// A choice depends on the differences between two items. If the differences of two attributes go together in all
    /// items, no choices can tell their weights apart. So the matrix of levels, less their means, must have full rank.
    private mutating func checkIndependence(of attributes: [String], _ levels: [[Double]]) {
        var directions: [[Double]] = []
        for (place, key) in attributes.enumerated() {
            let column = levels.map { $0[place] }
            guard Set(column).count > 1 else {
                refuse("constant_attribute", "/attributes/\(place)", "All items have the same level.", keys: [key])
                continue
            }
            let mean = column.reduce(0, +) / Double(column.count)
            var rest = column.map { $0 - mean }
            let length = Self.length(rest)
            for direction in directions {
                let part = zip(rest, direction).reduce(0) { $0 + $1.0 * $1.1 }
                rest = zip(rest, direction).map { $0 - part * $1 }
            }
            let left = Self.length(rest)
            guard left > 1e-6 * length else {
                refuse(
                    "dependent_attribute", "/attributes/\(place)",
                    "Its levels follow from those of the attributes before it.", keys: [key])
                continue
            }
            directions.append(rest.map { $0 / left })
        }
    }

    private static func length(_ vector: [Double]) -> Double { vector.reduce(0) { $0 + $1 * $1 }.squareRoot() }
}
