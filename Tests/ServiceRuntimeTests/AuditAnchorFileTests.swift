import EventLoop
import Foundation
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("file of audit anchors") struct AuditAnchorFileTests {
    /// A service without audited acts reads an empty file each minute.
    @Test func readingAnEmptyOneKeepsNoMemory() throws {
        let folder = try ScratchFolder()
        let file = AuditAnchorFile(path: "\(folder.path)/auth.jsonl")
        try Data().write(to: URL(filePath: file.path))
        let before = ProcessMemory.inUse
        let isEmpty = (0..<1000).allSatisfy { _ in file.read().runs.isEmpty }
        #expect(isEmpty && ProcessMemory.inUse < before + 1_000_000)
    }
}
