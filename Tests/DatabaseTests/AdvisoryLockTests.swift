import BusProtocol
import EventLoop
import TestSupport
import Testing

@testable import Database

@Suite("advisory locks") @Loop struct AdvisoryLockTests {
    @Test func followOneAnotherInOneOrder() {
        #expect(AdvisoryLock.codes.mayFollow(.person))
        #expect(AdvisoryLock.person.mayFollow(.person))
        #expect(!AdvisoryLock.person.mayFollow(.codes))
    }

    @Test func locksAreFoundInTheTextOfAStatement() {
        let statement = Statement(
            """
            SELECT \(AdvisoryLock.person.wait(for: "account_id::text")), \(AdvisoryLock.auditAnchors.wait())
            FROM cases WHERE folder = '/number/'
            """)
        #expect(AdvisoryLock.taken(by: statement) == [.person, .auditAnchors])
        #expect(AdvisoryLock.taken(by: "SELECT 1 AS one").isEmpty)
    }

    /// A service that holds a person's lock may ask another service about the person. The other one must not wait for
    /// it.
    @Test func ofTwoServicesInOneDatabaseAreTwo() async throws {
        let shop = try await ScratchDatabase.make([("shop", []), ("bank", [])])
        let bank = ScratchDatabase(schema: "bank", beside: shop)
        let services = [shop, bank].map { Database($0.configuration()) }
        for service in services { service.start() }
        defer { for service in services { service.close() } }
        for service in services { try await service.waitUntilAvailable() }
        let person = Identifier.random()
        try await services[0].transaction { first in
            Erasure.wait(for: person, in: first)
            _ = try await first.query("SELECT 1 AS one")
            try await services[1].transaction { Erasure.wait(for: person, in: $0) }
            await #expect(throws: DatabaseError.self, "within a service it is one lock") {
                try await services[0].transaction { Erasure.wait(for: person, in: $0) }
            }
        }
    }

    /// `audit_anchor` in the database makes its own.
    @Test func ofAnchorsIsThatOfTheDatabase() async throws {
        let scratch = try await ScratchDatabase.make(schema: "shop")
        let same = "\(AdvisoryLock.auditAnchors.key()) = hashtextextended('shop/audit-anchors/', 0)"
        #expect(try await scratch.query("SELECT \(same)") == "t")
    }
}
