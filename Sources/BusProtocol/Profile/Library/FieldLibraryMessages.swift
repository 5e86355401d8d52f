import JSONText

/// The library of profile fields.
package enum FieldLibraryMessages: SingleDocument {
    package static let name = "fields"
    package static let noun = "library"
    package static let title = "the library of profile fields"
    package static let affected = "every plan"

    package static func view() -> ViewFieldLibrary { .init() }
    package static func read(_ version: String) -> GetFieldLibraryVersion { .init(version: version) }
    package static func create(_ content: JSONValue) -> CreateFieldLibraryDraft { .init(library: content) }
    package static func check(_ draft: String) -> CheckFieldLibraryDraft { .init(draft: draft) }
    package static func publish(_ draft: String, accepting accepted: String?) -> PublishFieldLibraryDraft {
        .init(draft: draft, acceptClass: accepted)
    }
    package static func delete(_ draft: String) -> DeleteFieldLibraryDraft { .init(draft: draft) }
}

extension FieldLibraryOverview: SingleDocumentOverview {}
extension FieldLibraryVersionSummary: SingleDocumentSummary {}
extension PublishedFieldLibrary: SingleDocumentVersion { package var content: JSONValue { library } }
extension FieldLibraryDraft: SingleDocumentDraft {}
extension FieldLibraryPublished: SingleDocumentPublished {}
