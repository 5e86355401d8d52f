import Database
import Documents
import EventLoop
import ServiceRuntime

/// Publishes a definition of this build once, however many replicas start together.
@Loop struct DefinitionImport {
    typealias Edited = DocumentEdited

    private let documents: DocumentImport<Definition>

    init(database: Database, definition: Definition) {
        let store = DocumentStore(.questionnaire, database: database)
        documents = DocumentImport(definition, in: store) { try Self.problems(of: definition, after: $0) }
    }

    /// - Throws: ``Edited``; ``DefinitionError`` if the definition breaks a rule for publishing, for example by using a
    ///   retired key again.
    func run() async throws -> DocumentImported { try await documents.run() }

    /// - Parameter report: the result of the publish gate.
    func start(_ report: GateReport, log: Log) async throws {
        try await documents.start(DocumentReport(problems: report.problems, warnings: report.warnings), log: log)
    }

    private nonisolated static func problems(
        of definition: Definition, after texts: [[UInt8]]
    ) throws -> [DefinitionProblem] {
        let documents = try texts.map { try DefinitionParser.read($0) }
        let earlier = documents.map(\.file)
        let file = try DefinitionParser.read(definition.canonicalText).file
        var problems = RetiredKeys(earlier).problems(in: file) + SharedTexts.problems(in: file)
        problems += DerivedFrom(documents.map(\.document.root.value)).problems(of: file.derivedFrom)
        if let before = earlier.last {
            problems +=
                QuestionnaireSessionMigrationRules(entries: file.migrations ?? [], old: before, new: file).problems
        }
        return problems
    }
}
