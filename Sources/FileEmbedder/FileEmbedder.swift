import Foundation

/// Writes text files as one Swift file: an enum for each folder, with a member for each of its files.
///
/// Each text is a string literal, which the program contains unchanged. The compiler took a hundred times as long for
/// an array of bytes.
@main
enum FileEmbedder {
    /// Why the arguments are wrong or a text cannot be a literal.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    static func main() throws {
        let paths = CommandLine.arguments.dropFirst()
        guard paths.count > 1, let output = paths.first, let target = paths.dropFirst().first else {
            throw Refusal(description: "usage: FileEmbedder OUTPUT TARGET-FOLDER FILE…")
        }
        let files = paths.dropFirst(2).map { URL(filePath: $0) }
        let folders = Dictionary(grouping: files) { $0.deletingLastPathComponent().lastPathComponent }
        let enums = try folders.sorted { $0.key < $1.key }.map { try folder($0.key, of: $0.value, in: target) }
        let text = """
            /// A file of this target, embedded in the program.
            struct EmbeddedFile: Sendable {
                /// The name without its extension.
                let name: String
                /// From the target's folder: `Migrations/m0001_accounts.sql`.
                let path: String
                let text: StaticString

                var bytes: [UInt8] { Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)) }
            }

            /// The files of this target by their folders.
            enum EmbeddedFiles {
            \(enums.joined(separator: "\n"))
            static let all: [EmbeddedFile] = \(folders.isEmpty ? "[]" : folders.keys.sorted().map { "\($0).all" }.joined(separator: " + "))
            }

            """
        // Leave an unchanged file alone, so that the build compiles nothing anew.
        guard (try? String(contentsOfFile: output, encoding: .utf8)) != text else { return }
        try text.write(toFile: output, atomically: true, encoding: .utf8)
    }

    private static func folder(_ name: String, of files: [URL], in target: String) throws -> String {
        let files = files.sorted { $0.lastPathComponent < $1.lastPathComponent }
        let members = try files.map { file in
            """
            static let \(identifier(file)) = EmbeddedFile(
                name: "\(stem(file))", path: "\(file.path.dropFirst(target.count + 1))", text: ###\"""
            \(try text(file))
            \"""###)
            """
        }
        return """
            enum \(name) {
            \(members.joined(separator: "\n"))
            static let all = [\(files.map(identifier).joined(separator: ", "))]
            }
            """
    }

    private static func stem(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }

    private static func identifier(_ file: URL) -> String {
        "`\(String(stem(file).map { $0.isLetter || $0.isNumber ? $0 : "_" }))`"
    }

    private static func text(_ file: URL) throws -> String {
        let text = try String(contentsOf: file, encoding: .utf8)
        // The compiler would read these differently from the file.
        guard !text.utf8.contains(UInt8(ascii: "\r")), !text.contains("\"\"\"###"), !text.contains("\\###") else {
            throw Refusal(description: "\(file.path) has a carriage return, \"\"\"### or \\###")
        }
        return text
    }
}
