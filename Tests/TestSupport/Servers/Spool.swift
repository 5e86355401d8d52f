import EventLoop
import Foundation
import JSONText

/// Reads the folder of a spool provider.
package struct Spool: Sendable {
    package let folder: String

    /// Creates an empty folder.
    package init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "spool-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    package func remove() { try? FileManager.default.removeItem(atPath: folder) }

    package func messages() -> [JSONValue] { lines("sms.jsonl") }
    package func emails() -> [JSONValue] { lines("email.jsonl") }
    package func pushes() -> [JSONValue] { lines("push.jsonl") }

    private func lines(_ file: String) -> [JSONValue] {
        let text = (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSONValue.parse(Array($0.utf8)) }
    }

    /// The codes that were sent to a phone or an email address so far. Messages without a code do not count.
    package func codes(for contact: String) -> [String] {
        (contact.contains("@") ? emails() : messages()).filter { $0["to"]?.stringValue == contact }
            .compactMap { $0["body"]?.stringValue.map { String($0.prefix(6)) } }
            .filter { $0.count == 6 && $0.allSatisfy(\.isNumber) }
    }

    /// Waits for the code that a phone or an email address gets after its first `known` codes.
    @Loop package func code(for contact: String, after known: Int = 0) async throws -> String {
        while true {
            let codes = codes(for: contact)
            if codes.count > known { return codes[known] }
            try await Loop.sleep(for: .milliseconds(5))
        }
    }

    /// The number of SMS messages that a phone has got.
    package func count(for phone: String) -> Int { messages().count { $0["to"]?.stringValue == phone } }
}
