import Foundation

/// Writes the list of all messages, from the Swift files that declare them.
///
/// A message is a structure under `@Message` with a `static let type`. The compiler refuses the list if one of them is no
/// `BusRequest`. What this program cannot read ends the build with the place.
@main
enum MessageLister {
    /// Why the list cannot be made.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    static func main() throws {
        let paths = CommandLine.arguments.dropFirst()
        guard let output = paths.first else { throw Refusal(description: "usage: MessageLister OUTPUT FILE…") }
        let names = try paths.dropFirst().sorted().flatMap { try messages(in: $0) }
        try """
        extension Catalogue {
            /// Every message type and version of the bus, each once, in the order of their files.
            public static let all: [any BusRequest.Type] = [
                \(names.map { "\($0).self," }.joined(separator: "\n        "))
            ]
        }

        """.write(toFile: output, atomically: true, encoding: .utf8)
    }

    /// The names of the messages that a file declares, in their order.
    private static func messages(in path: String) throws -> [String] {
        var (names, structure, isMessage, isAnnounced) = ([String](), Substring?.none, false, false)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
            func refuse(_ why: String) -> Refusal { Refusal(description: "\(path):\(number): \(why)") }
            let words = line.split { " :<({".contains($0) }
            guard let first = words.first, !first.hasPrefix("//") else { continue }
            if line == "@Message" {
                isAnnounced = true
            } else if !line.hasPrefix(" "), let place = words.firstIndex(of: "struct"), place + 1 < words.count {
                (structure, isMessage, isAnnounced) = (words[place + 1], isAnnounced, false)
            } else if isAnnounced, !first.hasPrefix("@") {
                throw refuse("@Message is followed by the line with the structure's name")
            } else if line == "}" {
                structure = nil
            } else if words.contains("static"), words.contains("type"), !words.contains("get") {
                guard let structure, isMessage, line.prefix(while: { $0 == " " }).count == 4 else {
                    throw refuse("a message's type stands in a structure under @Message, which lies in no other type")
                }
                names.append(String(structure))
            }
        }
        return names
    }
}
