import Foundation
import Testing
import VestibuleClient

@Suite("stores of the client") struct StoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vestibule-\(UUID())/client")

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("a file item is readable by its user alone until removed")
    func file() throws {
        let store = FileStore(folder: folder)
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        #expect(try store.read("session") == nil)
        try store.write(Data("one".utf8), as: "session")
        try store.write(Data("two".utf8), as: "session")
        #expect(try FileStore(folder: folder).read("session") == Data("two".utf8))
        #expect(try mode(folder.path) == 0o700 && mode("\(folder.path)/session") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["session"])
        try store.write(nil, as: "session")
        try store.write(nil, as: "session")
        #expect(try store.read("session") == nil)
    }

    @Test("a file left by a killed app does not block later writes")
    func leftover() throws {
        let store = FileStore(folder: folder)
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        try store.write(Data("one".utf8), as: "session")
        try Data("tw".utf8).write(to: folder.appendingPathComponent("session.new"))
        #expect(try store.read("session") == Data("one".utf8))
        try store.write(Data("two".utf8), as: "session")
        #expect(try store.read("session") == Data("two".utf8) && mode("\(folder.path)/session") == 0o600)
    }

    @Test("an unreadable file is an error and not an absent one")
    func unreadable() throws {
        let store = FileStore(folder: folder)
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("session"), withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try store.read("session") }
        #expect(throws: FileStoreError.self) { try store.write(Data(), as: "session") }
    }

    @Test func memoryKeepsItems() {
        let store = MemoryStore()
        store.write(Data("one".utf8), as: "session")
        #expect(store.read("session") == Data("one".utf8) && store.read("other") == nil)
        store.write(nil, as: "session")
        #expect(store.read("session") == nil)
    }

    @Test("a code's timer counts by itself")
    func timer() throws {
        let sent = try WireJSON.decoder().decode(
            CodeDelivery.self,
            from: Data(#"{"delivery": "sent", "resendAfterSeconds": 30, "expiresInSeconds": 300}"#.utf8))
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let timer = CodeTimer(sent, at: now)
        #expect(timer.secondsToResend(at: now) == 30 && timer.secondsToEnd(at: now) == 300)
        #expect(timer.secondsToResend(at: now + 29.2) == 1 && timer.secondsToResend(at: now + 30) == 0)
        #expect(timer.secondsToEnd(at: now + 301) == 0)
        let locked = try WireJSON.decoder().decode(
            Problem.self, from: TransportAnswer.problem(429, "otp_locked", retryAfter: 900).body)
        #expect(CodeTimer(locked, at: now)?.secondsToResend(at: now + 1) == 899)
        let other = try WireJSON.decoder().decode(
            Problem.self, from: TransportAnswer.problem(422, "otp_invalid").body)
        #expect(CodeTimer(other, at: now) == nil)
    }
}
