import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import RecoveryService

/// Recovery as it is, with an auth that knows one account and takes what it is told.
@Loop final class RecoveryProvider: Provider {
    let stage: ServiceStage
    let owner: Identifier
    let notified = Ears<NotifyPerson>()

    /// Numbers that auth gives the answer to.
    nonisolated static let accountPhone = "+14155552671"
    nonisolated static let invalidPhone = "+999"
    /// Codes that auth refuses so.
    nonisolated static let refusals = [
        "111111": Sample.otpInvalid, "222222": Sample.otpExpired, "333333": Sample.otpLocked,
    ]

    private init(_ stage: ServiceStage) throws {
        (self.stage, owner) = (stage, .random())
        try stage.answering(as: .auth, Auth(owner: owner), notified, Ears<CaseOpened>(), Ears<CaseClosed>())
    }

    nonisolated static func run(
        _ body: @escaping @Loop @Sendable (RecoveryProvider) async throws -> Void
    ) async throws {
        try await ServiceStage.run(RecoveryBlueprint.blueprint) { try await body(try RecoveryProvider($0)) }
    }

    /// A code tells who claims.
    private struct Auth: RequestHandler {
        let owner: Identifier

        func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
            if request.accountPhone == RecoveryProvider.invalidPhone { throw Sample.invalidPhone }
            if let refusal = RecoveryProvider.refusals[request.code] { throw refusal }
            return RecoveryProvider.begun(case: request.caseID, claimant: request.code, owner: owner)
        }
    }

    nonisolated static func begun(case id: Identifier, claimant: String, owner: Identifier) -> RecoveryBegun {
        RecoveryBegun(
            caseID: id, accountID: owner, accountReference: "reference-of-account",
            claimantReference: "reference-of-\(claimant)", maskedClaimantPhone: "+46 (***) ***-4567")
    }

    /// A claim of the account by who has the code.
    func claim(code: String, phone: String = accountPhone) -> Asked<RequestRecovery> {
        let request = RequestRecovery(
            accountPhone: phone, challengeId: .ordered(), code: code, device: Sample.phone,
            reason: "My phone was stolen.")
        return Asked(request, key: "key-\(Identifier.random())")
    }

    /// A case that is held, with the token that its owner was sent.
    func heldCase() async throws -> (requested: RecoveryRequested, disputeToken: String) {
        let requested = try await reply(to: claim(code: String(400_000 + notified.heard.count)))
        while true {
            let told = notified.heard.first { $0.data["recoveryId"] == requested.recoveryId.description }
            if let token = told?.data["disputeToken"] { return (requested, token) }
            _ = try await notified.atLeast(notified.heard.count + 1)
        }
    }
}
