import BusProtocol
import EventLoop

extension AgreeOnEpoch: MessageContract {
    static let canonical = AgreeOnEpoch(
        epoch: "00000001/16385/7713184794638867119", cluster: "7713184794638867120", at: Sample.everyday)
    static let minimal = AgreeOnEpoch(cluster: "!", at: Sample.earliest)
    static let maximal = AgreeOnEpoch(
        epoch: String(repeating: "~", count: 64), cluster: String(repeating: "~", count: 32), at: Sample.latest)

    static let canonicalReply = DatabaseEpoch(epoch: "00000002/16385/7713184794638867119", since: Sample.everyday)
    static let minimalReply = DatabaseEpoch()
    static let maximalReply = DatabaseEpoch(epoch: String(repeating: "~", count: 64), since: Sample.latest)
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<AgreeOnEpoch> {
        let epoch = try await profile.stage.rows("SELECT database_epoch()")
        return Asked(AgreeOnEpoch(epoch: epoch, cluster: "another", at: .now()), as: .questionnaire)
    }

    static let provocations: [String: Provocation<ProfileProvider, AgreeOnEpoch>] = [:]
}
