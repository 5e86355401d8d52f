import BusProtocol
import Cryptography
import Database
import EventLoop
import Foundation
import TestSupport

/// Publishes events in the place of auth, sealed with its keys in its outbox, and reads their delivery.
@Loop enum AccountEvents {
    /// - Parameters:
    ///   - keys: the file of its key ring.
    ///   - sequence: from 1, of the event of each person that is a dead letter already.
    static func publish(
        about people: [Identifier], database url: String, keys: String, deadAt sequence: Int64?
    ) async throws {
        let ring = try KeyRing(contents: try String(contentsOfFile: keys, encoding: .utf8))
        try await with(url, schema: "auth") { database in
            try await publish(about: people, deadAt: sequence, Outbox(database: database, keys: ring), database)
        }
    }

    private static func publish(
        about people: [Identifier], deadAt sequence: Int64?, _ outbox: Outbox, _ database: Database
    ) async throws {
        try await database.transaction { transaction in
            for person in people {
                try await outbox.publish(AccountCreated(personID: person, createdAt: .now()), in: transaction)
            }
            transaction.send(
                """
                UPDATE outbox SET dead_at = clock_timestamp(), attempts = 10, last_error = 'service_unavailable'
                WHERE person_sequence = (SELECT min(person_sequence) FROM outbox) + $1 - 1
                """, [.integer(sequence)])
        }
    }

    /// Whether all of it comes to be delivered.
    static func areDelivered(database url: String) async throws -> Bool {
        try await with(url, schema: "auth") { database in
            try await eventually(within: .seconds(20)) { try await database.read("SELECT id FROM outbox").isEmpty }
        }
    }

    /// The last event that profile took in of each person.
    static func positions(of people: [Identifier], database url: String) async throws -> [Int64] {
        try await with(url, schema: "profile") { database in
            var positions: [Int64] = []
            for person in people {
                let rows = try await database.read(
                    "SELECT last FROM event_positions WHERE person_id = $1", [.uuid(person)])
                positions.append(try rows.first?.integer("last") ?? 0)
            }
            return positions
        }
    }

    private static func with<Value>(
        _ url: String, schema: String, _ body: @Loop (Database) async throws -> Value
    ) async throws -> Value {
        let database = Database(DatabaseConfiguration(connectionString: url, schema: schema))
        database.start()
        defer { database.close() }
        try await database.waitUntilAvailable()
        return try await body(database)
    }
}
