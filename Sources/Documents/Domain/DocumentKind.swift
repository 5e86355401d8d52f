/// The names of one kind of document. They are part of SQL, so none of them comes from outside.
package struct DocumentKind: Sendable {
    /// The kind: `questionnaire`. It is also the name of the column with a document's key, and of the member with it in
    /// logs and in the audit trail.
    package let name: String
    /// The word for a version in messages, in the requests about drafts and in logs: `definition`.
    package let noun: String
    /// The table of the published versions. Its rows never change.
    package let versions: String
    /// The table of the drafts.
    package let drafts: String
    /// The table of the versions that were retired; `nil` if no version can be retired.
    package let retirements: String?

    /// Takes the names.
    package init(name: String, noun: String, versions: String, drafts: String, retirements: String?) {
        (self.name, self.noun) = (name, noun)
        (self.versions, self.drafts, self.retirements) = (versions, drafts, retirements)
    }
}

/// The version that publishing a draft would make, with the changes from the newest version.
package protocol PublicationPlan: DocumentDifference, Sendable {
    /// A version of this kind of document.
    associatedtype Document: VersionedDocument
    /// The version.
    var document: Document { get }
}
