import BusProtocol
import Database
import EventLoop
import JSONText
import ProcessRuntime

/// Publishes a document of this build once, however many replicas start together.
@Loop package struct DocumentImport<Document: VersionedDocument> {
    private let store: DocumentStore
    private let document: Document
    private let problems: @Sendable ([[UInt8]]) throws -> [DocumentProblem]

    /// - Parameter problems: checks the document against the texts of the versions before it, the oldest first.
    package init(
        _ document: Document, in store: DocumentStore,
        problems: @escaping @Sendable (_ earlier: [[UInt8]]) throws -> [DocumentProblem]
    ) { (self.document, self.store, self.problems) = (document, store, problems) }

    /// Publishes the document if it is not published yet.
    ///
    /// - Throws: ``DocumentEdited``; ``DocumentError`` if the document breaks a rule for publishing, for example by
    ///   using a retired key again.
    package func run() async throws -> DocumentImported {
        try await store.database.transaction { transaction in
            store.waitForTurn(in: transaction)
            if let known = try await store.hash(of: document, in: transaction) {
                guard known == document.hash else { throw DocumentEdited() }
                return .alreadyThere
            }
            let problems = try self.problems(try await store.contents(before: document, in: transaction))
            guard problems.isEmpty else { throw DocumentError(problems: problems) }
            store.insert(document, in: transaction)
            return .published
        }
    }

    /// Publishes the document if its check found no problem, and logs the result. If the document is refused, people go
    /// on with the published version.
    ///
    /// - Parameter report: the result of the check.
    package func start(_ report: DocumentReport, log: Log) async throws {
        let (kind, noun) = (store.kind.name, store.kind.noun)
        let named: [String: JSONValue] = [kind: .string(document.key), "version": .integer(document.version)]
        func members(of problem: DocumentProblem) -> [String: JSONValue] {
            named.merging([
                "code": .string(problem.code), "pointer": .string(problem.pointer), "problem": .string(problem.message),
            ]) { $1 }
        }
        for problem in report.problems { log.error("\(noun)_refused", members(of: problem)) }
        for problem in report.warnings { log.warning("\(noun)_warning", members(of: problem)) }
        guard report.problems.isEmpty else { return }
        try await store.database.waitUntilAvailable()
        do {
            if try await run() == .published { log.info("\(noun)_published", named) }
        } catch is DocumentEdited {
            // The published text stays in use. The edited text never replaces it.
            log.error("\(noun)_edited_after_publication", named)
        } catch let error as DocumentError {
            for problem in error.problems { log.error("\(noun)_refused", members(of: problem)) }
        }
    }
}

/// The result of an import.
package enum DocumentImported: Sendable, Equatable {
    /// The document was published.
    case published
    /// It had been published before.
    case alreadyThere
}

/// The same version was published with another text. A published version never changes, so the edit needs a new
/// version.
package struct DocumentEdited: Error {}
