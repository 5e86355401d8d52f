/// What shows that a claimant is no stranger to the account. The strongest comes first.
enum RecoveryProof: String, CaseIterable, Sendable {
    case device
    case linkedIdentity = "linked_identity"
    case formerNumber = "former_number"

    static func strongest(of proofs: Set<RecoveryProof>) -> RecoveryProof? { allCases.first(where: proofs.contains) }
}
