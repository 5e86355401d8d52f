import BusProtocol
import EventLoop

extension ListOwnCases: MessageContract {
    static let canonical = ListOwnCases()
    static let minimal = ListOwnCases()
    static let maximal = ListOwnCases()

    static let canonicalReply = OwnRecoveryCases(
        cases: [
            .init(
                recoveryId: Sample.recovery, status: "held", requestedAt: Sample.everyday,
                holdUntil: Sample.everyday + .seconds(259_200), closedAt: nil)
        ], lockEnabled: false)
    static let minimalReply = OwnRecoveryCases(cases: [], lockEnabled: false)
    static let maximalReply = OwnRecoveryCases(
        cases: (0..<100).map { _ in
            .init(
                recoveryId: Sample.recovery, status: String(repeating: "h", count: 32), requestedAt: Sample.latest,
                holdUntil: Sample.latest, closedAt: Sample.latest)
        }, lockEnabled: true)

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<ListOwnCases> {
        _ = try await recovery.heldCase()
        return Asked(ListOwnCases(), for: recovery.owner)
    }

    static let provocations: [String: Provocation<RecoveryProvider, ListOwnCases>] = [
        "unauthorized": { _ in Asked(ListOwnCases()) }
    ]
}

extension SetRecoveryLock: MessageContract {
    static let canonical = SetRecoveryLock(enabled: true)
    static let minimal = SetRecoveryLock(enabled: false)
    static let maximal = SetRecoveryLock(enabled: true)

    static let canonicalReply = RecoveryLock(enabled: true)
    static let minimalReply = RecoveryLock(enabled: false)
    static let maximalReply = RecoveryLock(enabled: true)

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(.reauthenticationRequired, "Please sign in again to change the recovery lock."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<SetRecoveryLock> {
        Asked(SetRecoveryLock(enabled: true), for: .random())
    }

    static let provocations: [String: Provocation<RecoveryProvider, SetRecoveryLock>] = [
        "unauthorized": { _ in Asked(SetRecoveryLock(enabled: true)) },
        "reauthentication_required": { recovery in
            recovery.bearers.isFresh = false
            return Asked(SetRecoveryLock(enabled: true), for: .random())
        },
    ]
}

extension SubmitOwnerEvidence: MessageContract {
    static let canonical = SubmitOwnerEvidence(recoveryId: Sample.recovery, verificationId: "ver_2026_0219")
    static let minimal = SubmitOwnerEvidence(recoveryId: Sample.recovery)
    static let maximal = SubmitOwnerEvidence(
        recoveryId: Sample.recovery, verificationId: String(repeating: "v", count: 128),
        evidenceReference: String(repeating: "é", count: 1024))

    static let canonicalReply = EvidenceTaken(status: "contested")
    static let minimalReply = EvidenceTaken(status: "c")
    static let maximalReply = EvidenceTaken(status: String(repeating: "c", count: 32))

    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.notFound, "There is no such recovery."),
        BusError(
            .validationFailed, "Some members of the request are missing or wrong.",
            errors: [
                .init(
                    field: "verificationId", code: "not_allowed",
                    message: "Give either a verificationId or an evidenceReference.")
            ]),
        BusError(.recoveryNotReady, "Nothing is asked of you. If this was not you, say no to it."),
        BusError(.recoveryClosed, "This recovery is over."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    private static func evidence(_ id: Identifier, by person: Identifier) -> Asked<SubmitOwnerEvidence> {
        Asked(
            SubmitOwnerEvidence(recoveryId: id, verificationId: "mine-1"), for: person,
            key: "key-\(Identifier.random())")
    }

    static func everyday(_ recovery: RecoveryProvider) async throws -> Asked<SubmitOwnerEvidence> {
        evidence(try await recovery.contestedCase(), by: recovery.owner)
    }

    static let provocations: [String: Provocation<RecoveryProvider, SubmitOwnerEvidence>] = [
        "unauthorized": { recovery in
            var asked = evidence(try await recovery.contestedCase(), by: recovery.owner)
            asked.options.actor = nil
            return asked
        },
        "not_found": { evidence(try await $0.contestedCase(), by: .random()) },
        "validation_failed": { recovery in
            var asked = evidence(try await recovery.contestedCase(), by: recovery.owner)
            asked.message.evidenceReference = "mine-2"
            return asked
        },
        "recovery_not_ready": { evidence(try await $0.heldCase().requested.recoveryId, by: $0.owner) },
        "recovery_closed": { evidence(try await $0.closedCase(), by: $0.owner) },
    ]
}
