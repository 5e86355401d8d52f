import Foundation

/// Compares the texts in Swift files with the files of the languages, and writes the languages as Swift.
///
/// The build ends if a translation is missing or unused, or if its inserted values differ from the English text. The
/// error names the place.
@main
enum LanguageChecker {
    /// The problems, one on each line.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    static func main() throws { try check(Array(CommandLine.arguments.dropFirst())) }

    /// - Parameter arguments: the file to write, the folder of the sources, and all files to read.
    static func check(_ arguments: [String]) throws {
        guard arguments.count > 2 else {
            throw Refusal(description: "usage: LanguageChecker OUTPUT SOURCES FILE…")
        }
        let (output, root, files) = (arguments[0], arguments[1] + "/", arguments.dropFirst(2))
        let spared = try spared(in: files.first { $0.hasSuffix("/english-only.txt") })
        var (places, used) = ([String: String](), Set<String>())
        for file in files.filter({ $0.hasSuffix(".swift") }).sorted() where file.hasPrefix(root) {
            let path = String(file.dropFirst(root.count))
            if let line = spared.first(where: { covers($0, path) }) {
                used.insert(line)
                continue
            }
            let source = try String(contentsOfFile: file, encoding: .utf8)
            if source.hasPrefix(mark) { continue }
            var finder = TextFinder(source)
            for text in finder.texts() {
                if spared.contains(text) { used.insert(text) } else if places[text] == nil { places[text] = path }
            }
        }
        var problems = spared.subtracting(used).map { "english-only.txt: nothing is “\($0)”" }
        var languages: [(tag: String, texts: [String: String])] = []
        for file in files.filter({ $0.hasSuffix(".json") }).sorted() {
            let name = file.split(separator: "/").last ?? ""
            let texts = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: URL(filePath: file)))
            problems += places.filter { texts[$0.key] == nil }.map { "\($0.value): \(name) lacks “\($0.key)”" }
            problems += texts.keys.filter { places[$0] == nil }.map { "\(name): nothing says “\($0)”" }
            problems += texts.filter { values(in: $0.key) != values(in: $0.value) }
                .map { "\(name): the values of “\($0.key)” are not those of its translation" }
            languages.append((String(name.dropLast(5)), texts))
        }
        guard problems.isEmpty else { throw Refusal(description: problems.sorted().joined(separator: "\n")) }
        let text = swift(languages)
        // Leave an unchanged file alone, so that the build compiles nothing anew.
        guard (try? String(contentsOfFile: output, encoding: .utf8)) != text else { return }
        try text.write(toFile: output, atomically: true, encoding: .utf8)
    }

    /// The beginning of a file's first line, if its texts stay English. The rest of the line names the readers.
    private static let mark = "// English only:"

    /// Whether a line of `english-only.txt` covers a path. The line is the beginning of the path or, behind a `*`, its
    /// end.
    private static func covers(_ line: String, _ path: String) -> Bool {
        line.hasPrefix("*") ? path.hasSuffix(line.dropFirst()) : path.hasPrefix(line)
    }

    private static func spared(in file: String?) throws -> Set<String> {
        guard let file else { return [] }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        return Set(lines.filter { !$0.hasPrefix("#") }.map(String.init))
    }

    /// The inserted values of a text, `{1}` and so on, in order of their numbers.
    private static func values(in text: String) -> [Character] {
        let characters = Array(text)
        return characters.indices.filter {
            characters[$0].isNumber && $0 > 0 && characters[$0 - 1] == "{" && $0 + 1 < characters.count
                && characters[$0 + 1] == "}"
        }.map { characters[$0] }.sorted()
    }

    private static func swift(_ languages: [(tag: String, texts: [String: String])]) -> String {
        let lists = languages.map { tag, texts in
            let lines = texts.sorted { $0.key < $1.key }
                .map { "            \($0.key.debugDescription): \($0.value.debugDescription)," }
            return "        (\"\(tag)\", [\n\(lines.joined(separator: "\n"))\n        ]),"
        }
        return """
            extension Language {
                /// Each language but English, with its text for each English one.
                static let files: [(tag: String, texts: [String: String])] = [
            \(lists.joined(separator: "\n"))
                ]
            }

            """
    }
}
