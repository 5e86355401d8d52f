import Database
import Foundation

/// The sources of this package, for tests that compare a list in code with a folder.
package enum SourceFolder {
    /// The folder of the package.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The migrations in a target's folder, in the order of their names.
    package static func migrations(of target: String) throws -> [Migration] {
        let folder = root.appending(path: "Sources/\(target)/Migrations")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            return Migration(name: String(file.dropLast(4)), sql: text)
        }
    }
}
