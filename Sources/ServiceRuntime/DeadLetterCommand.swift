import BusProtocol
import Database
import EventLoop
import JSONText

/// Lists or replays a service's dead letters from the command line, without a running replica.
///
/// It needs the connection string of the service's role, and no keys.
enum DeadLetterCommand: Equatable {
    case list
    /// Replays the dead letters with these IDs; `nil` means all.
    case replay([Identifier]?)

    /// - Parameter words: the arguments after `--dead-letters`.
    init(_ words: [String]) throws(ConfigurationError) {
        let ids = words.dropFirst().map { Identifier($0) }
        switch words.first {
        case nil: self = .list
        case "replay" where words.dropFirst() == ["all"]: self = .replay(nil)
        case "replay" where !ids.isEmpty && !ids.contains(nil): self = .replay(ids.compactMap(\.self))
        default:
            throw ConfigurationError("--dead-letters: expected nothing more, replay all, or replay and ids")
        }
    }

    /// - Returns: the lines to print: a JSON object for each dead letter, or the ID of each replayed one.
    /// - Throws: ``ConfigurationError`` under the conditions of ``OperatorTables/with(_:_:_:)``.
    @Loop func run(_ definition: ServiceDefinition, environment: [String: String]) async throws -> [String] {
        let configuration = try Configuration(
            variables: definition.allVariables, prefix: definition.prefix, environment: environment)
        return try await OperatorTables.with(definition, configuration) { database in
            let letters = DeadLetters(database: database)
            switch self {
            case .list: return try await letters.list().map { Self.line($0) }
            case .replay(let ids): return try await letters.replay(ids).map(\.description)
            }
        }
    }

    private static func line(_ letter: DeadLetter) -> String {
        let value: JSONValue = [
            "id": .string(letter.id.description), "destination": .string(letter.destination),
            "type": letter.messageType.map { .string($0.rawValue) } ?? .null,
            "version": .integer(letter.messageVersion),
            "personId": letter.personID.map { .string($0.description) } ?? .null,
            "personSequence": letter.personSequence.map { .integer($0) } ?? .null,
            "attempts": .integer(letter.attempts), "waiting": .integer(letter.waiting),
            "createdAt": .string(letter.createdAt.description), "deadAt": .string(letter.deadAt.description),
            "lastError": letter.lastError.map { .string($0) } ?? .null,
        ]
        return String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self)
    }
}
