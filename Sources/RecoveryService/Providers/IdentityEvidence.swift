import EventLoop

/// Judges the evidence that a claimant gives of their identity.
protocol IdentityEvidenceProvider: Sendable {
    /// - Parameter reference: the claimant's reference: the id of a verification, or the place of the evidence.
    /// - Throws: if there is no verdict now. Recovery asks again later.
    @Loop func verdict(on reference: String) async throws -> EvidenceVerdict
}

/// For development. The verdict is the beginning of the reference, `yes` or `no`; else it is undecided.
struct LocalEvidenceProvider: IdentityEvidenceProvider {
    func verdict(on reference: String) -> EvidenceVerdict {
        reference.hasPrefix("yes") ? .yes : reference.hasPrefix("no") ? .no : .undecided
    }
}

/// Leaves every verdict to the reviewers, who look at the evidence themselves.
struct ManualEvidenceProvider: IdentityEvidenceProvider {
    func verdict(on reference: String) -> EvidenceVerdict { .undecided }
}
