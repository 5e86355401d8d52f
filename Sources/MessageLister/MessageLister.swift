import Foundation

/// Writes the list of all messages, from the Swift files that declare them, and a digest of these files.
///
/// A message is a structure under `@Message` with a `static let type`. The compiler refuses the list if one of them is no
/// `BusRequest`. A declaration that this program cannot read ends the build. The error names its place.
@main
enum MessageLister {
    /// Why the list cannot be made.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    static func main() throws {
        let paths = CommandLine.arguments.dropFirst()
        guard let output = paths.first else { throw Refusal(description: "usage: MessageLister OUTPUT FILE…") }
        let files = try paths.dropFirst().sorted().map { path in
            (path: path, text: try String(contentsOfFile: path, encoding: .utf8))
        }
        let names = try files.flatMap { try messages(in: $0.path, $0.text) }
        let text = """
            extension MessageCatalogue {
                /// Every message type and version of the bus, each once, in the order of their files.
                public static let all: [any BusRequest.Type] = [
                    \(names.map { "\($0).self," }.joined(separator: "\n        "))
                ]

                /// A digest of the files that declare the messages, in 16 hexadecimal digits: builds with the same one have the
                /// same messages. It gives no security. It is made while building, because each process says it at its start.
                public static let digest = "\(digest(of: files.map(\.text)))"
            }

            """
        // An unchanged file is left alone, so that nothing is compiled anew.
        guard (try? String(contentsOfFile: output, encoding: .utf8)) != text else { return }
        try text.write(toFile: output, atomically: true, encoding: .utf8)
    }

    /// FNV-1a with 64 bits.
    private static func digest(of texts: [String]) -> String {
        let hash = texts.joined(separator: "\0").utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The names of the messages that a file declares, in their order.
    private static func messages(in path: String, _ text: String) throws -> [String] {
        var (names, structure, isMessage, isAnnounced) = ([String](), Substring?.none, false, false)
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
