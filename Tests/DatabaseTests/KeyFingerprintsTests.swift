import Cryptography
import Database
import EventLoop
import TestSupport
import Testing

@Suite("key marks") @Loop struct KeyHashsTests {
    @Test func refuseAnotherKeyOfAKnownIDAndAcceptANewID() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        let database = Database(scratch.configuration())
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        let (first, second) = (KeyRing.generate(id: "k1"), KeyRing.generate(id: "k2"))
        for contents in [first, first, second + first] {
            try await KeyHashs.verify(try KeyRing(contents: contents), in: database)
        }
        let other = try KeyRing(contents: second + KeyRing.generate(id: "k1"))
        await #expect(throws: KeyHashs.Mismatch(id: "k1")) {
            try await KeyHashs.verify(other, in: database)
        }
        #expect(try await scratch.query("SELECT id FROM key_marks ORDER BY id") == "k1\nk2\nof hashes")
        // Rows are found by a hash under one key: the one whose line says `hashes`, else the last one.
        let marked = first.replacing("\n", with: " hashes\n")
        for contents in [marked + second, second + marked] {
            try await KeyHashs.verify(try KeyRing(contents: contents), in: database)
        }
        for contents in [first + second, second] {
            let ring = try KeyRing(contents: contents)
            await #expect(throws: KeyHashs.Mismatch(id: "k2", isHashing: true)) {
                try await KeyHashs.verify(ring, in: database)
            }
        }
    }
}
