import EventLoop

/// What a provider says of a claimant's evidence.
enum EvidenceVerdict: String, Sendable {
    case yes, no, undecided
}

/// Judges what a claimant gives as evidence of who they are.
protocol IdentityEvidenceProvider: Sendable {
    /// - Parameter reference: as the claimant gave it: the id of a verification, or where the evidence lies.
    /// - Throws: where no word can be had now; it is asked again later.
    @Loop func verdict(on reference: String) async throws -> EvidenceVerdict
}

/// For development: says yes or no by how the reference begins, else that it cannot tell.
struct LocalEvidenceProvider: IdentityEvidenceProvider {
    func verdict(on reference: String) -> EvidenceVerdict {
        reference.hasPrefix("yes") ? .yes : reference.hasPrefix("no") ? .no : .undecided
    }
}

/// Nobody is asked: reviewers look at the evidence themselves.
struct ManualEvidenceProvider: IdentityEvidenceProvider {
    func verdict(on reference: String) -> EvidenceVerdict { .undecided }
}
