import JSONText

/// A kind of document of which a system has exactly one, in versions: its service publishes them.
///
/// A service declares the kind beside its messages. The commands of `vestibule NAME` and the exported JSON Schema follow
/// from it.
package protocol SingleDocument: SendableMetatype {
    associatedtype View: BusRequest where View.Reply: SingleDocumentOverview
    associatedtype Read: BusRequest where Read.Reply: SingleDocumentVersion
    associatedtype Create: BusRequest where Create.Reply: SingleDocumentDraft
    associatedtype Check: BusRequest where Check.Reply == DraftReport
    associatedtype Publish: BusRequest where Publish.Reply: SingleDocumentPublished
    associatedtype Delete: BusRequest

    /// The key of the document, and the word of its commands.
    static var name: String { get }
    /// The word for a version, such as `set`. The options of the service's program have this word.
    static var noun: String { get }
    /// The name of the document in a sentence.
    static var title: String { get }
    /// The people whom a new version affects.
    static var affected: String { get }

    /// Lists the versions and drafts.
    static func view() -> View
    /// Reads a version.
    ///
    /// - Parameter version: a number from 1, in decimal digits, as are those of drafts.
    static func read(_ version: String) -> Read
    /// Creates a draft.
    ///
    /// - Parameter content: the document so far. It may have errors.
    static func create(_ content: JSONValue) -> Create
    /// Checks a draft.
    static func check(_ draft: String) -> Check
    /// Publishes a draft as the newest version.
    ///
    /// - Parameter accepted: the most severe class of change that the editor accepts.
    static func publish(_ draft: String, accepting accepted: String?) -> Publish
    /// Deletes a draft.
    static func delete(_ draft: String) -> Delete
}

extension SingleDocument {
    /// The service that has the documents. Its program has their rules.
    package static var service: ServiceName { View.rules.service }
}

/// The versions and drafts of a ``SingleDocument``, the newest first. The first version is in use.
package protocol SingleDocumentOverview {
    associatedtype Version: SingleDocumentSummary
    var versions: [Version] { get }
    var drafts: [DraftSummary] { get }
}

/// A version of a ``SingleDocument`` without its content.
package protocol SingleDocumentSummary {
    var version: Int64 { get }
    var publishedAt: Timestamp { get }
}

/// A version of a ``SingleDocument``.
package protocol SingleDocumentVersion {
    var content: JSONValue { get }
}

/// A draft of a ``SingleDocument``.
package protocol SingleDocumentDraft {
    var number: Int64 { get }
}

/// The result of publishing a draft.
package protocol SingleDocumentPublished {
    var version: Int64 { get }
    /// The most severe class of its changes; `nil` if nothing changed.
    var changeClass: String? { get }
    var changes: [VersionChange] { get }
}
