import BusProtocol
import Foundation
import Testing

@testable import VestibuleCLI

@Suite("a file of people") struct PersonFileTests {
    private func file(_ text: String) throws -> String {
        let path = "/tmp/vestibule-test-people-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func thePersonFileIsReadInBatches() throws {
        let ids = (0..<7).map { _ in Identifier.random() }
        let lines = ids.map(\.description)
        let path = try file(
            "# people\n\n\(lines[0].uppercased())\r\n  \(lines[1])\t\n" + lines[2...].joined(separator: "\n"))
        defer { unlink(path) }
        var batches: [[Identifier]] = []
        #expect(try PersonFile.batches(of: path, size: 3) { batches.append($0) } == 7)
        #expect(batches == [Array(ids[0..<3]), Array(ids[3..<6]), Array(ids[6...])])
    }

    @Test(arguments: [
        "5f0c1f3e-6a52-4a7e-9d5b-0c9a3f2b1d1", "+14155552671", "5f0c1f3e6a524a7e9d5b0c9a3f2b1d10", "x\u{0}y",
    ])
    func namesTheLineThatIsWrong(line: String) throws {
        let path = try file("\(Identifier.random())\n\n\(line)\n")
        defer { unlink(path) }
        let error = #expect(throws: CommandError.self) { try PersonFile.batches(of: path, size: 3) { _ in } }
        #expect(error?.code == 65 && error?.message.contains("line 3: ") == true)
    }

    @Test func aMissingFileIsReported() throws {
        let error = #expect(throws: CommandError.self) { try PersonFile.batches(of: "/nowhere", size: 3) { _ in } }
        #expect(error?.code == 66)
    }
}
