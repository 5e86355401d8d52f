import Foundation
import Testing

/// A public request, and what the gateway makes of it: `Tests/HTTPCases/cases.json`. `scripts/http-cases` compares nginx and
/// HAProxy with it.
private struct HTTPCase: Decodable {
    struct Expected: Decodable, Equatable {
        struct Request: Decodable, Equatable {
            let method, target, body: String
        }

        let requests: [Request]
        let end: String
        let status: Int?
    }

    let id, source, `class`, bytes: String
    let expected: Expected

    /// The text has a character for each byte.
    static func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

@Suite("public HTTP cases") struct HTTPCaseTests {
    private struct File: Decodable {
        let cases: [HTTPCase]
    }

    @Test func eachIsReadAsTheFileSays() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../HTTPCases/cases.json")
        let cases = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).cases
        #expect(cases.count >= 300)
        #expect(Set(cases.map(\.id)).count == cases.count)
        for one in cases {
            let reading = ConnectionReading(of: HTTPCase.bytes(one.bytes))
            let requests = one.expected.requests.map {
                ConnectionReading.Request(method: $0.method, target: $0.target, body: HTTPCase.bytes($0.body))
            }
            #expect(reading.requests == requests, "\(one.id)")
            #expect(reading.end == one.expected.end && reading.status == one.expected.status, "\(one.id)")
        }
    }
}
