import Cryptography
import Database
import EventLoop

/// Publishes a definition of this build once, however many replicas start together.
@Loop struct DefinitionImport {
    enum Result: Equatable { case published, alreadyThere }

    /// The same version was published with another text. A published version never changes, so the edit needs a new
    /// version.
    struct Edited: Error {}

    let database: Database
    let definition: Definition

    /// - Throws: ``Edited``; ``DefinitionError`` if the definition breaks a rule for publishing, for example by using a
    ///   retired key again.
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
