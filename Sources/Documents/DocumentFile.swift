import Foundation
import JSONText

/// A document with the file that it comes from.
package struct DocumentFile<Document: Sendable>: Sendable {
    /// The path of the file; `nil` if the document is a part of the program.
    package let path: String?
    /// The document.
    package let document: Document

    /// Takes the document and its path.
    package init(_ document: Document, path: String?) { (self.document, self.path) = (document, path) }
}

/// A file that a service cannot start with.
package struct DocumentFileRefused: Error, CustomStringConvertible {
    /// The text for the operator. It names the file.
    package let description: String

    /// Takes the text.
    package init(_ description: String) { self.description = description }

    /// Takes the path of the file and its problems.
    package init(_ path: String, _ error: DocumentError) {
        description = "\(path) cannot be used: " + error.problems.prefix(10).map(\.description).joined(separator: "; ")
    }
}

/// The files of a folder whose names end with `.json`.
package enum DocumentFolder {
    /// The most files in a folder.
    package static let mostFiles = 1000

    /// Reads the files in the order of their names.
    ///
    /// - Throws: ``DocumentFileRefused`` if the folder or a file cannot be read, or if there are too many.
    package static func read(_ folder: String) throws(DocumentFileRefused) -> [(path: String, bytes: [UInt8])] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw DocumentFileRefused("the folder \(folder) cannot be read")
        }
        let wanted = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard wanted.count <= mostFiles else {
            throw DocumentFileRefused("the folder \(folder) has more than \(mostFiles) files")
        }
        var files: [(path: String, bytes: [UInt8])] = []
        for name in wanted {
            let path = "\(folder)/\(name)"
            // Reading one byte beyond the limit is enough to see that a file is too large.
            guard let handle = FileHandle(forReadingAtPath: path),
                let data = try? handle.read(upToCount: DocumentText.mostBytes + 1)
            else { throw DocumentFileRefused("\(path) cannot be read") }
            files.append((path, Array(data)))
        }
        return files
    }
}
