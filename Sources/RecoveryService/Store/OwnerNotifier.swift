import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// What an owner is told of a claim: never a code, and never a whole number.
struct ClaimFacts: Codable, Sendable, Equatable {
    /// `+46 (***) ***-4567`
    var phone: String
    /// Of the claimant's device: `ios`, `android` or `web`.
    var platform: String?
    /// Somebody signed in by the account's number within a day.
    var hasRecentSignIn: Bool
}

/// Tells owners of cases against their accounts, through auth: by push to each device, and by SMS to the account's number
/// where that is not the claimant's.
struct OwnerNotifier: Sendable {
    let container: ServiceContainer
    let secrets: RecoverySecrets

    static let middleTimer = "timer:middle"
    static let lastHourTimer = "timer:last-hour"
    static let gatheringTimer = "timer:gathered"

    /// Tells the owner of a claim that was just made, or has it told together with others; and sets when to remind them.
    @Loop func begin(_ made: RecoveryCase, of account: Identifier, in transaction: Transaction) async throws {
        let row = try await transaction.query(Self.claims, [.uuid(account), .uuid(made.id)]).first
        if try row?.integer("of_day") ?? 0 < NoticePlan.mostAlone {
            try await notify(.requested, [made], of: account, in: transaction)
        } else if try row?.integer("untold") ?? 0 == 0 {
            let due = made.now + NoticePlan.gathering
            container.outbox.enqueue(Self.gatheringTimer, payload: account.array, dueAt: due, in: transaction)
        }
        for (stage, timer) in [(NoticePlan.Stage.middle, Self.middleTimer), (.lastHour, Self.lastHourTimer)] {
            guard let due = NoticePlan.due(stage, from: made.createdAt, until: made.holdUntil) else { continue }
            container.outbox.enqueue(timer, payload: account.array, dueAt: due, in: transaction)
        }
    }

    /// Tells of every case of the account that is as far and was not told of yet, many in one notice.
    @Loop func remind(_ item: OutboxItem, _ stage: NoticePlan.Stage) async throws {
        guard let account = Identifier(item.payload) else { return }
        try await container.database.transaction { transaction in
            Erasure.wait(for: account, in: transaction)
            let rows = try await transaction.query(Self.open, [.uuid(account), .integer(stage.rawValue)])
            let cases = try rows.map { try RecoveryCase($0) }.filter { record in
                let due = NoticePlan.due(stage, from: record.createdAt, until: record.holdUntil)
                return due.map { $0 <= record.now + NoticePlan.gathering } ?? false
            }
            guard !cases.isEmpty else { return }
            try await notify(stage, cases, of: account, in: transaction)
        }
    }

    @Loop private func notify(
        _ stage: NoticePlan.Stage, _ cases: [RecoveryCase], of account: Identifier, in transaction: Transaction
    ) async throws {
        transaction.send(Self.noteTold, [.uuidArray(cases.map(\.id)), .integer(stage.rawValue)])
        // What stops a case stands in a notice of it only: none may be left out.
        for start in stride(from: 0, to: cases.count, by: NoticePlan.mostTogether) {
            let together = cases[start..<min(start + NoticePlan.mostTogether, cases.count)]
            try await notify(stage.kind, Array(together), of: account, in: transaction)
        }
    }

    /// One notice of cases of one account. While one of them can be stopped it carries the token that stops them.
    @Loop func notify(
        _ kind: String, _ cases: [RecoveryCase], of account: Identifier, isOver: Bool = false,
        in transaction: Transaction
    ) async throws {
        guard let newest = cases.last else { return }
        let notice = Identifier.ordered()
        var data = ["recoveryId": newest.id.description, "at": newest.now.description]
        if cases.count > 1 { data["recoveryIds"] = cases.map(\.id.description).joined(separator: " ") }
        data["holdUntil"] = cases.map(\.holdUntil).min()?.description
        let facts = try facts(of: newest)
        data["claimantPhone"] = facts?.phone
        data["platform"] = facts?.platform
        data["requestedAt"] = newest.createdAt.description
        if facts?.hasRecentSignIn == true { data["recentSignIn"] = "true" }
        if !isOver {
            let token = SecretToken.make(prefix: "dt")
            data["disputeToken"] = token
            let hash = secrets.hash(of: token)
            for record in cases { transaction.send(Self.keepToken, [.bytes(hash), .uuid(record.id)]) }
        }
        for record in cases { transaction.send(Self.keepNotice, [.uuid(notice), .uuid(record.id), .text(kind)]) }
        try await container.outbox.publish(
            NotifyPerson(
                notificationID: notice, personID: account, kind: kind, data: data,
                smsUnlessHeldBy: Array(Set(cases.map(\.claimantReference))).sorted()), in: transaction)
    }

    func seal(_ facts: ClaimFacts, of id: Identifier) throws -> [UInt8] {
        secrets.factsSealer.seal(try WireJSON.encode(facts), associated: id.array)
    }

    private func facts(of record: RecoveryCase) throws -> ClaimFacts? {
        try record.factsSealed.map {
            try WireJSON.decode(ClaimFacts.self, from: try secrets.factsSealer.open($0, associated: record.id.array))
        }
    }

    private static let claims: Statement = """
        SELECT count(*) FILTER (WHERE created_at > clock_timestamp() - interval '1 day') AS of_day,
            count(*) FILTER (WHERE told = 0 AND status = 'held') AS untold
        FROM cases WHERE account_id = $1 AND id <> $2 AND NOT is_decoy
        """
    private static let open = Statement(
        """
        SELECT \(RecoveryCase.columns) FROM cases
        WHERE account_id = $1 AND NOT is_decoy AND status = 'held' AND told < $2 ORDER BY created_at FOR UPDATE
        """)
    private static let noteTold: Statement = "UPDATE cases SET told = $2 WHERE id = ANY ($1)"
    private static let keepToken: Statement = "INSERT INTO dispute_tokens (hash, case_id) VALUES ($1, $2)"
    private static let keepNotice: Statement = "INSERT INTO notices (id, case_id, kind) VALUES ($1, $2, $3)"
}
