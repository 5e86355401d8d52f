import BusProtocol
import EventLoop

/// Which newer version the people in an older one are asked about.
@Loop final class VersionOffers {
    private let definitions: DefinitionStore
    private let migrations: SessionMigrationStore
    /// Neither version changes, so what lies between them does not.
    private var known: [Way: ChangeClass] = [:]

    private struct Way: Hashable {
        let questionnaire: String
        let from: Int64
        let to: Int64
    }

    init(definitions: DefinitionStore, migrations: SessionMigrationStore) {
        (self.definitions, self.migrations) = (definitions, migrations)
    }

    /// - Parameter newest: as ``DefinitionStore/newest(of:)`` tells it.
    /// - Returns: `nil` where there is no newer version, or its policy keeps people with theirs.
    func offer(
        from version: Int64, to newest: (version: Int64, hash: [UInt8])?, of questionnaire: String
    ) async throws -> SessionOffer? {
        guard let newest, newest.version > version else { return nil }
        let way = Way(questionnaire: questionnaire, from: version, to: newest.version)
        let changeClass: ChangeClass
        if let found = known[way] {
            changeClass = found
        } else {
            changeClass = try await gravest(on: way)
            known[way] = changeClass
        }
        let policy = try await definitions.definition(newest.hash).definition.policy
        guard policy.offered.contains(changeClass) else { return nil }
        return SessionOffer(version: newest.version, class: changeClass.rawValue)
    }

    /// A session goes from version to version, so the gravest of the changes on its way counts.
    private func gravest(on way: Way) async throws -> ChangeClass {
        let path = try await migrations.path(from: way.from, to: way.to, of: way.questionnaire)
        return try await Loop.compute {
            let files = try path.map { try DefinitionParser.read($0).file }
            return zip(files, files.dropFirst()).compactMap { DefinitionDifference(from: $0, to: $1).changeClass }.max()
                ?? .editorial
        }
    }
}
