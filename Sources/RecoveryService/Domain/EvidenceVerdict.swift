/// A provider's verdict on a claimant's evidence.
enum EvidenceVerdict: String, Sendable {
    case yes, no, undecided
}
