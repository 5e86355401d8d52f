import Cryptography
import Database
import EventLoop

/// Publishes the definition that this build brings along, once, however many replicas start together.
@Loop struct DefinitionImport {
    enum Result: Equatable { case published, alreadyThere }

    /// A published version never changes: what was edited needs a version of its own.
    struct Edited: Error {}

    let database: Database
    let definition: Definition

    /// - Throws: ``Edited`` where another text was published under the same version, ``DefinitionError`` where it takes the
    ///   key of something that an earlier version had.
    func run() async throws -> Result {
        try await database.transaction { transaction in
            DefinitionStore.waitForTurn(in: transaction)
            if let known = try await DefinitionStore.hash(of: definition, in: transaction) {
                guard known == definition.hash else { throw Edited() }
                return .alreadyThere
            }
            let documents = try await DefinitionStore.contents(before: definition, in: transaction).map {
                try DefinitionParser.read($0)
            }
            let earlier = documents.map(\.file)
            let file = try DefinitionParser.read(definition.canonicalText).file
            var problems = RetiredKeys(earlier).problems(in: file) + SharedTexts.problems(in: file)
            problems += DerivedFrom(documents.map(\.document.root.value)).problems(in: file)
            if let before = earlier.last {
                problems += SessionMigrationRules(entries: file.migrations ?? [], old: before, new: file).problems
            }
            guard problems.isEmpty else { throw DefinitionError(problems: problems) }
            DefinitionStore.insert(definition, in: transaction)
            return .published
        }
    }
}
