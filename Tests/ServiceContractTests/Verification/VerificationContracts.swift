import BusProtocol
import TestSupport

extension ExportVerification: MessageContract {
    static let canonical = ExportVerification(after: "1:0199")
    static let minimal = ExportVerification(after: nil)
    static let maximal = ExportVerification(after: String(repeating: "ö", count: 300))
    static let canonicalReply = ExportSample.page
    static let minimalReply = ExportSample.smallest
    static let maximalReply = ExportSample.largest
    static let errors: [BusError] = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VerificationProvider) async throws -> Asked<ExportVerification> {
        Asked(ExportVerification(after: nil), for: .random())
    }

    static let provocations: [String: Provocation<VerificationProvider, ExportVerification>] = [
        "unauthorized": { _ in Asked(ExportVerification(after: nil)) }
    ]
}
