import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Notifies owners of cases against their accounts, through auth. Auth sends a push message to each device, and an SMS
/// unless the account's number is the claimant's.
struct OwnerNotifier: Sendable {
    let database: Database
    let outbox: Outbox
    let secrets: RecoverySecrets

    static let middleTimer = "timer:middle"
    static let lastHourTimer = "timer:last-hour"
    static let gatheringTimer = "timer:gathered"

    /// Notifies the owner of a new claim, alone or together with other claims. It also sets the timers of later
    /// notices.
    @Loop func begin(_ made: RecoveryCase, of account: Identifier, in transaction: Transaction) async throws {
        let others = try await NoticeStore.claims(against: account, but: made.id, in: transaction)
        if others.ofDay < NoticePlan.mostAlone {
            try await notify(.requested, [made], of: account, in: transaction)
        } else if others.untold == 0 {
            let due = made.now + NoticePlan.gathering
            outbox.enqueue(Self.gatheringTimer, payload: account.array, dueAt: due, in: transaction)
        }
        for (stage, timer) in [(NoticePlan.Stage.middle, Self.middleTimer), (.lastHour, Self.lastHourTimer)] {
            guard let due = NoticePlan.due(stage, from: made.createdAt, until: made.holdUntil) else { continue }
            outbox.enqueue(timer, payload: account.array, dueAt: due, in: transaction)
        }
    }

    /// Notifies the owner of all cases that reach this stage within an hour and had no such notice. Cases share
    /// notices.
    @Loop func remind(_ item: OutboxItem, _ stage: NoticePlan.Stage) async throws {
        guard let account = Identifier(item.payload) else { return }
        try await database.transaction { transaction in
            Erasure.wait(for: account, in: transaction)
            let held = try await NoticeStore.held(against: account, toldBefore: stage, in: transaction)
            let cases = held.filter { record in
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
        NoticeStore.noteTold(cases.map(\.id), stage, in: transaction)
        // A notice has the dispute token of its own cases only, so every case must be in a notice.
        for start in stride(from: 0, to: cases.count, by: NoticePlan.mostTogether) {
            let together = cases[start..<min(start + NoticePlan.mostTogether, cases.count)]
            try await notify(stage.kind, Array(together), of: account, in: transaction)
        }
    }

    /// Sends one notice about cases of one account. Unless they are over, it carries a token that disputes all of them.
    @Loop func notify(
        _ kind: NoticeKind, _ cases: [RecoveryCase], of account: Identifier, isOver: Bool = false,
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
            for record in cases { NoticeStore.keep(token: hash, of: record.id, in: transaction) }
        }
        for record in cases { NoticeStore.keep(notice, kind, of: record.id, in: transaction) }
        try await outbox.publish(
            NotifyPerson(
                notificationID: notice, personID: account, kind: kind.rawValue, data: data,
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
}
