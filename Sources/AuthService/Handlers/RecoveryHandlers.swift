import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Consumes the claimant's challenge, looks for the account and freezes it. The case is the natural key: what was
/// answered for it is answered again. A refusal is kept by the idempotency key, so that a wrong code counts once.
struct BeginRecoveryHandler: RequestHandler {
    let house: ServiceHouse
    let secrets: Secrets
    let checker: ChallengeChecker

    func handle(_ request: BeginRecovery, context: RequestContext) async throws -> RecoveryBegun {
        guard let phone = PhoneNumber(request.accountPhone) else {
            throw BusError(.invalidPhone, "Please enter a valid phone number")
        }
        let hash = secrets.phoneHash.code(for: phone.e164)
        return try await house.once(context) { transaction in
            // The same case at once: the second waits here and finds what the first was answered.
            transaction.send(Self.lock, [.uuid(request.caseID)])
            let known = try await transaction.query(
                "SELECT begun FROM freezes WHERE case_id = $1", [.uuid(request.caseID)])
            if let row = known.first {
                return .reply(try WireJSON.decode(RecoveryBegun.self, from: try row.json("begun")))
            }
            switch try await checker.check(request.challengeID, request.code, purpose: "recovery", in: transaction) {
            case .refused(let error): return .refusal(error)
            case .passed(let challenge):
                return .reply(try await begin(request, hash, challenge, in: transaction))
            }
        }
    }

    @Loop private func begin(
        _ request: BeginRecovery, _ hash: [UInt8], _ challenge: Challenge, in transaction: Transaction
    ) async throws -> RecoveryBegun {
        let account = try await AccountStore.reachable(phone: hash, in: transaction)
        let number = try secrets.phoneSealer.open(challenge.phoneSealed, associated: challenge.id.array)
        let begun = RecoveryBegun(
            caseID: request.caseID, accountID: account, accountReference: secrets.reference(ofPhoneHash: hash),
            claimantReference: secrets.reference(ofPhoneHash: challenge.phoneHash),
            maskedClaimantPhone: PhoneNumber(String(decoding: number, as: UTF8.self))?.masked ?? "another number")
        transaction.send(
            Self.freeze,
            [
                .uuid(request.caseID), .uuid(account), .integer(request.freezeSeconds),
                .json(try WireJSON.encode(begun)),
            ])
        try await house.outbox.tell(
            RecoveryBegan(personID: account ?? request.caseID, begun: begun), in: transaction)
        return begun
    }

    private static let lock: Statement = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 2))"
    private static let freeze: Statement = """
        INSERT INTO freezes (case_id, person_id, until, begun)
        VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 s', $4)
        """
}

/// The hold runs: the freeze lasts as long, whatever was written first.
struct CaseOpenedHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ event: CaseOpened, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .recovery, in: transaction) else { return }
            transaction.send(
                "UPDATE freezes SET until = greatest(until, $2) WHERE case_id = $1 AND ended_at IS NULL",
                [.uuid(event.caseID), .timestamp(event.holdUntil)])
        }
        return Acknowledged()
    }
}

/// The case is over: what was frozen for it may be moved again.
struct CaseClosedHandler: RequestHandler {
    let house: ServiceHouse

    func handle(_ event: CaseClosed, context: RequestContext) async throws -> Acknowledged {
        try await house.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .recovery, in: transaction) else { return }
            transaction.send(
                "UPDATE freezes SET ended_at = clock_timestamp() WHERE case_id = $1 AND ended_at IS NULL",
                [.uuid(event.caseID)])
        }
        return Acknowledged()
    }
}
