import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Tells owners of cases against their accounts, through auth: by push to each device, and by SMS to the account's number
/// where that is not the claimant's.
struct OwnerNotifier: Sendable {
    let database: Database
    let outbox: Outbox
    let secrets: RecoverySecrets

    static let middleTimer = "timer:middle"
    static let lastHourTimer = "timer:last-hour"
    static let gatheringTimer = "timer:gathered"

    /// Tells the owner of a claim that was just made, or has it told together with others; and sets when to remind them.
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

    /// Tells of every case of the account that is as far and was not told of yet, many in one notice.
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
        // What stops a case stands in a notice of it only: none may be left out.
        for start in stride(from: 0, to: cases.count, by: NoticePlan.mostTogether) {
            let together = cases[start..<min(start + NoticePlan.mostTogether, cases.count)]
            try await notify(stage.kind, Array(together), of: account, in: transaction)
        }
    }

    /// One notice of cases of one account. While one of them can be stopped it carries the token that stops them.
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
