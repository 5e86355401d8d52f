import BusProtocol
import Documents
import EventLoop

/// Decides which newer version to offer to people whose session has an older one.
@Loop final class VersionOffers {
    private let definitions: PublishedDefinitions
    private let migrations: QuestionnaireSessionMigrationStore
    /// The classes of the changes between versions. They stay the same, since published versions never change.
    private var known: [VersionStep: ChangeClass] = [:]

    private struct VersionStep: Hashable {
        let questionnaire: String
        let from: Int64
        let to: Int64
    }

    init(definitions: PublishedDefinitions, migrations: QuestionnaireSessionMigrationStore) {
        (self.definitions, self.migrations) = (definitions, migrations)
    }

    /// - Parameter newest: the result of ``DocumentStore/newest(of:)``.
    /// - Returns: `nil` if there is no newer version, or if its policy does not offer it for this class of change.
    func offer(
        from version: Int64, to newest: (version: Int64, hash: [UInt8])?, of questionnaire: String
    ) async throws -> SessionOffer? {
        guard let newest, newest.version > version else { return nil }
        let step = VersionStep(questionnaire: questionnaire, from: version, to: newest.version)
        let changeClass: ChangeClass
        if let found = known[step] {
            changeClass = found
        } else {
            changeClass = try await gravest(on: step)
            known[step] = changeClass
        }
        let policy = try await definitions.definition(newest.hash).definition.policy
        guard policy.offered.contains(changeClass) else { return nil }
        return SessionOffer(version: newest.version, class: changeClass.rawValue)
    }

    /// A session moves through every version in between, so the gravest class of their changes counts.
    private func gravest(on step: VersionStep) async throws -> ChangeClass {
        let path = try await migrations.path(from: step.from, to: step.to, of: step.questionnaire)
        return try await Loop.compute {
            let files = try path.map { try DefinitionParser.read($0).file }
            return zip(files, files.dropFirst()).compactMap { DefinitionDifference(from: $0, to: $1).changeClass }.max()
                ?? .editorial
        }
    }
}
