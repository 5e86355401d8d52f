import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import RecoveryService

/// The service as it is, with a gateway that asks it and an auth that knows one account.
@Loop struct RecoveryStage {
    let stage: ServiceStage
    let gateway: Bus
    let owner: Identifier
    let auth: Auth
    let notified = Ears<NotifyPerson>()
    let opened = Ears<CaseOpened>()
    let closed = Ears<CaseClosed>()

    nonisolated static let accountPhone = "+14155552671"
    nonisolated static let unknownPhone = "+14155550100"

    nonisolated static func run(
        hold: String = "72h", perPhone: Int = 100, perAddress: Int = 1000, replicas: Int = 1,
        _ body: @escaping @Loop @Sendable (RecoveryStage) async throws -> Void
    ) async throws {
        let environment = [
            "RECOVERY_HOLD": hold, "RECOVERY_PER_PHONE": "\(perPhone)", "RECOVERY_PER_ADDRESS_DAY": "\(perAddress)",
        ]
        try await ServiceStage.run(RecoveryBlueprint.blueprint, replicas: replicas, environment: environment) { stage in
            try await body(try RecoveryStage(stage))
        }
    }

    private init(_ stage: ServiceStage) throws {
        self.stage = stage
        owner = .random()
        auth = Auth(owner: owner)
        try stage.answering(as: .auth, auth, notified, opened, closed)
        gateway = try stage.asking(as: .gateway)
    }

    /// Every code is right; the code tells who claims.
    @Loop final class Auth: RequestHandler {
        private let owner: Identifier
        /// What auth knows of the next claims of the account.
        var facts = Facts()

        struct Facts {
            var hasRecentSignIn = false
            var proof: String?
            var isStaff = false
        }

        init(owner: Identifier) { self.owner = owner }

        func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
            let isKnown = request.accountPhone == RecoveryStage.accountPhone
            var begun = RecoveryStage.begun(
                case: request.caseID, phone: request.accountPhone, claimant: request.code, owner: isKnown ? owner : nil)
            begun.platform = request.device.platform
            guard isKnown else { return begun }
            (begun.hasRecentSignIn, begun.proof) = (facts.hasRecentSignIn, facts.proof)
            begun.isStaff = facts.isStaff
            return begun
        }
    }

    nonisolated static func begun(
        case id: Identifier, phone: String, claimant: String, owner: Identifier?
    ) -> RecoveryBegun {
        RecoveryBegun(
            caseID: id, accountID: owner, accountReference: "of \(phone)", claimantReference: "of \(claimant)",
            maskedClaimantPhone: "+46 (***) ***-4567")
    }

    func options(
        _ person: Identifier? = nil, role: String = "user", key: String? = nil, at address: String = "192.0.2.7"
    ) -> CallOptions {
        CallOptions(
            timeout: .seconds(10), actor: person.map { Actor(userID: $0, sessionID: .ordered(), role: role) },
            clientAddress: address, idempotencyKey: key)
    }

    /// As if all of it had begun so much earlier.
    func age(_ time: Duration) async throws {
        let interval = "interval '\(time.components.seconds) s'"
        try await stage.rows(
            """
            UPDATE cases SET created_at = created_at - \(interval), hold_until = hold_until - \(interval),
                expires_at = expires_at - \(interval)
            """)
    }

    func claim(
        _ phone: String = accountPhone, claimant: String = "000001", key: String? = nil,
        at address: String = "192.0.2.7"
    ) async throws -> RecoveryRequested {
        let request = RequestRecovery(
            accountPhone: phone, challengeId: .ordered(), code: claimant,
            device: DeviceClaim(name: "Pixel 9", platform: "android"))
        return try await gateway.call(request, options(key: key, at: address))
    }

    func look(_ requested: RecoveryRequested) async throws -> RecoveryCaseView {
        let request = GetRecoveryCase(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken)
        return try await gateway.call(request, options())
    }

    func dispute(
        _ id: Identifier, token: String? = nil, as person: Identifier? = nil
    ) async throws -> RecoveryDisputed {
        try await gateway.call(DisputeRecovery(recoveryId: id, disputeToken: token), options(person))
    }

    func cancel(_ requested: RecoveryRequested) async throws -> RecoveryCancelled {
        let request = CancelRecovery(recoveryId: requested.recoveryId, recoveryToken: requested.recoveryToken)
        return try await gateway.call(request, options())
    }

    /// Waits until a case stands so.
    func until(_ id: Identifier, is status: String) async throws {
        while try await stage.rows("SELECT status FROM cases WHERE id = '\(id)'") != status {
            try await Loop.sleep(for: .milliseconds(20))
        }
    }
}
