import Documents
import JSONText

/// The version of the stimulus set that publishing a draft would make. It is decided before anything is written.
struct StimulusSetPublication: PublicationPlan {
    let document: StimulusSetDocument
    let changes: [DocumentChange<StimulusSetChangeKind>]

    /// - Parameters:
    ///   - draft: as it was written. Its `version` is ignored.
    ///   - newest: the newest published version; `nil` if there is none.
    /// - Throws: every problem of the draft.
    init(_ draft: JSONValue, after newest: StimulusSetDocument?) throws(DocumentError) {
        let next = try StimulusSetDocument(DocumentText.next(draft, of: nil, after: newest?.version ?? 0))
        try Self.check(next)
        document = next
        changes = newest.map { StimulusSetDifference(from: $0, to: next).changes } ?? []
    }

    /// - Throws: every problem of the set.
    static func check(_ document: StimulusSetDocument) throws(DocumentError) {
        let problems = StimulusSetGate(document.file).problems
        guard problems.isEmpty else { throw DocumentError(problems: problems) }
    }

    /// Reports all problems of a draft.
    static func report(on draft: JSONValue, after newest: StimulusSetDocument?) -> DocumentReport {
        DocumentReport { () throws(DocumentError) in _ = try StimulusSetPublication(draft, after: newest) }
    }
}
