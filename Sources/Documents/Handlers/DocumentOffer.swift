import BusProtocol
import Database
import EventLoop
import JSONText
import ProcessRuntime

/// Offers the document of a file when a service starts, however many replicas start together.
///
/// It publishes only a first version. It makes a draft of a newer version, which an editor publishes.
@Loop package struct DocumentOffer<Document: VersionedDocument> {
    /// The outcome for the document.
    package enum Outcome: Sendable, Equatable {
        /// The document was published as the first version.
        case published
        /// The document was published before, or it is a draft already.
        case alreadyThere
        /// The document is a draft now, with this number.
        case drafted(Int64)
        /// Another content has the document's number, or the number lies before the newest version. `newest` is the
        /// newest version's number.
        case differs(newest: Int64)
    }

    private let store: DocumentStore
    private let file: DocumentFile<Document>
    private var document: Document { file.document }

    /// Takes the document with its file.
    package init(_ file: DocumentFile<Document>, to store: DocumentStore) { (self.file, self.store) = (file, store) }

    /// Offers the document, and logs the result. A document of the program never keeps the service from starting, since
    /// operators may have published versions of their own.
    ///
    /// - Parameter problems: checks a first version. Nothing else is published meanwhile.
    /// - Throws: ``DocumentFileRefused`` if the file cannot be used.
    package func start(log: Log, problems: @Loop (Transaction) async throws -> [DocumentProblem]) async throws {
        let (kind, noun) = (store.kind.name, store.kind.noun)
        let named: [String: JSONValue] = [kind: .string(document.key), "version": .integer(document.version)]
        do {
            switch try await run(problems: problems) {
            case .alreadyThere: break
            case .published: log.info("\(noun)_published", named)
            case .drafted(let number): log.info("\(noun)_drafted", named.merging(["draft": .integer(number)]) { $1 })
            case .differs(let newest):
                guard let path = file.path else { break }
                throw DocumentFileRefused(
                    "\(path) cannot be used: version \(document.version) of \(document.key) is published with another "
                        + "content, or is older than version \(newest). Give the file the number \(newest + 1).")
            }
        } catch let error as DocumentError {
            guard let path = file.path else {
                return log.warning(
                    "\(noun)_refused", named.merging(["problem": .string(error.description)]) { $1 })
            }
            throw DocumentFileRefused(path, error)
        }
    }

    /// Publishes the document, makes a draft of it, or does nothing.
    ///
    /// - Parameter problems: checks a first version. Nothing else is published meanwhile.
    /// - Throws: ``DocumentError`` if a first version has problems.
    package func run(
        problems: @Loop (Transaction) async throws -> [DocumentProblem]
    ) async throws -> Outcome {
        try await store.database.transaction { transaction in
            store.waitForTurn(in: transaction)
            let versions = try await store.rows(of: document.key, in: transaction)
            guard let newest = versions.first?.version else {
                let problems = try await problems(transaction)
                guard problems.isEmpty else { throw DocumentError(problems: problems) }
                store.insert(document, in: transaction)
                return .published
            }
            if versions.contains(where: { $0.version == document.version && $0.hash == document.hash }) {
                return .alreadyThere
            }
            guard document.version > newest else { return .differs(newest: newest) }
            let content = try JSONValue.parse(document.canonicalText, limits: DocumentText.limits)
            if try await store.draft(with: content, of: document.key, in: transaction) != nil { return .alreadyThere }
            let draft = try await store.create(content, copyOf: nil, of: document.key, in: transaction)
            return .drafted(draft.number)
        }
    }
}
