import JSONText

/// The set of pictures that people compare.
package enum StimulusSetMessages: SingleDocument {
    package static let name = "stimuli"
    package static let noun = "set"
    package static let title = "the stimulus set"
    package static let affected = "the sessions that begin from then on"

    package static func view() -> ViewStimulusSets { .init() }
    package static func read(_ version: String) -> GetStimulusSet { .init(version: version) }
    package static func create(_ content: JSONValue) -> CreateStimulusSetDraft { .init(set: content) }
    package static func check(_ draft: String) -> CheckStimulusSetDraft { .init(draft: draft) }
    package static func publish(_ draft: String, accepting accepted: String?) -> PublishStimulusSetDraft {
        .init(draft: draft, acceptClass: accepted)
    }
    package static func delete(_ draft: String) -> DeleteStimulusSetDraft { .init(draft: draft) }
}

extension StimulusSetOverview: SingleDocumentOverview {}
extension StimulusSetVersionSummary: SingleDocumentSummary {}
extension PublishedStimulusSet: SingleDocumentVersion { package var content: JSONValue { self.set } }
extension StimulusSetDraft: SingleDocumentDraft {}
extension StimulusSetPublished: SingleDocumentPublished {}
