import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Finds the reviewer behind a request, and checks that they have the role now.
struct CaseReviewerReader: Sendable {
    let database: Database
    let audit: AuditTrail
    let bearers: BearerReader

    /// Returns the reviewer by pseudonym, so that nothing about them outlives their account. It uses its own
    /// transaction, so that no decision holds the advisory locks of two people.
    @Loop func reviewer(_ context: RequestContext) async throws -> CaseReviewer {
        _ = try context.staff()
        let person = try await bearers.bearer(of: context).userID
        let chain = try await database.transaction { try await audit.chain(ofReviewer: person, in: $0) }
        return CaseReviewer(name: chain.name, person: person, key: nil)
    }
}

struct ListReviewsHandler: RequestHandler {
    let reviews: CaseReviewStore

    func handle(_ request: ListReviews, context: RequestContext) async throws -> ReviewQueue {
        if context.caller == .gateway { _ = try context.staff() }
        return ReviewQueue(cases: try await reviews.list(status: try request.status.map(Self.status)))
    }
}

extension ListReviewsHandler {
    /// Refuses an unknown status. An empty queue would hide the mistake.
    private static func status(_ word: String) throws(BusError) -> CaseStatus {
        if let status = CaseStatus(rawValue: word) { return status }
        let message = "There are \(CaseStatus.allCases.map(\.rawValue).joined(separator: ", "))."
        throw BusError(
            .validationFailed, "There is no such status. \(message)",
            errors: [.init(field: "status", code: "unknown_option", message: message)])
    }
}

struct GetReviewHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let reviews: CaseReviewStore
    let bus: Bus

    func handle(_ request: GetReview, context: RequestContext) async throws -> ReviewPage {
        let staff = context.caller == .gateway ? try context.staff() : nil
        let record = try await CaseStore.find(request.recoveryId, in: database)
        if let staff, staff.userID == record?.accountID { throw CaseReviewError.own }
        guard var page = try await reviews.page(of: request.recoveryId) else { throw CaseWorkflow.unknown }
        if page.pictures != nil {
            // If this call fails, the request fails too. Otherwise a reviewer would think that there are no pictures.
            let kept = try await bus.call(
                ListEvidence(caseID: request.recoveryId),
                CallOptions(timeout: context.remaining, trace: context.trace.child()))
            page.pictures = kept.pictures.map { .init(mediaId: $0.mediaID, side: $0.side, at: $0.at) }
        }
        if let record, !record.life.status.isClosed, let person = record.accountID {
            page.account = try await account(of: person, context)
        }
        try await note(staff, sawEvidenceOf: request.recoveryId)
        return page
    }

    @Loop private func account(of person: Identifier, _ context: RequestContext) async throws -> ReviewPage.Account {
        let options = CallOptions(timeout: context.remaining, trace: context.trace.child())
        let described = try await bus.call(DescribePerson(personID: person), options)
        let known = try await bus.call(DescribeDevices(personID: person), options)
        return ReviewPage.Account(
            firstName: described.firstName, ageBand: described.ageBand, badges: described.badges,
            devices: known.devices.map { .init(platform: $0.platform, addedAt: $0.addedAt, lastUsedAt: $0.lastUsedAt) })
    }

    /// Records that a reviewer saw evidence: on the reviewer's own chain, or for an operator on the service's chain. It
    /// does not use the case's own chain. Reviewers see that chain in full, and it would grow with every view.
    @Loop private func note(_ staff: Actor?, sawEvidenceOf id: Identifier) async throws {
        try await database.transaction { transaction in
            let chain =
                if let staff { try await audit.chain(ofReviewer: staff.userID, in: transaction) } else {
                    AuditChain.service
                }
            let act = AuditAct("evidence_seen", ["case": id.description])
            guard try await !audit.isLast(act, on: chain, in: transaction) else { return }
            audit.note(act, on: chain, in: transaction)
        }
    }
}

/// Shows a picture to a reviewer, and notes that they saw it.
struct SeePictureHandler: RequestHandler {
    let database: Database
    let audit: AuditTrail
    let reader: CaseReviewerReader
    let bus: Bus

    func handle(_ request: SeePicture, context: RequestContext) async throws -> PictureShown {
        let reviewer = try await reader.reviewer(context)
        guard let person = reviewer.person, let record = try await CaseStore.find(request.recoveryId, in: database),
            !record.life.isDecoy, !record.life.status.isClosed
        else { throw CaseWorkflow.unknown }
        guard person != record.accountID else { throw CaseReviewError.own }
        let kept = try await bus.call(
            ListEvidence(caseID: record.id), CallOptions(timeout: context.remaining, trace: context.trace.child()))
        guard let picture = kept.pictures.first(where: { $0.mediaID == request.mediaId }) else {
            throw BusError(.notFound, "There is no such picture.")
        }
        let act = AuditAct("picture_seen", ["case": record.id.description, "media": picture.mediaID.description])
        try await audit.noteLook(act, by: person, in: database)
        return PictureShown(url: picture.url)
    }
}

struct ClaimReviewHandler: RequestHandler {
    let database: Database
    let decisions: CaseReviewDecisions
    let reader: CaseReviewerReader

    func handle(_ request: ClaimReview, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await database.transaction { transaction in
            let reviewed = try await decisions.locked(request.recoveryId, for: reviewer, in: transaction)
            let life = reviewed.record.life
            guard life.status == .inReview || life.status == .contested else {
                throw CaseReviewError.refusal(
                    life.status.place < CaseStatus.inReview.place ? .tooEarly : CaseRefusal.tooLate)
            }
            do throws(CaseReviewPolicy.Refusal) {
                try reviewed.policy.mayClaim(reviewer.name)
            } catch {
                throw CaseReviewError.refusal(error)
            }
            decisions.reviews.claim(request.recoveryId, by: reviewer, in: transaction)
            return try await decisions.summary(of: request.recoveryId, in: transaction)
        }
    }
}

struct ReleaseReviewHandler: RequestHandler {
    let database: Database
    let decisions: CaseReviewDecisions
    let reader: CaseReviewerReader

    func handle(_ request: ReleaseReview, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await database.transaction { transaction in
            decisions.reviews.release(request.recoveryId, by: reviewer, in: transaction)
            return try await decisions.summary(of: request.recoveryId, in: transaction)
        }
    }
}

struct ApproveCaseHandler: RequestHandler {
    let inbox: Inbox
    let decisions: CaseReviewDecisions
    let reader: CaseReviewerReader

    func handle(_ request: ApproveCase, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await inbox.once(context) { transaction in
            return .reply(
                try await decisions.decide(
                    request.recoveryId, isApproved: true, note: request.note, by: reviewer, in: transaction))
        }
    }
}

struct RejectCaseHandler: RequestHandler {
    let inbox: Inbox
    let decisions: CaseReviewDecisions
    let reader: CaseReviewerReader

    func handle(_ request: RejectCase, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await inbox.once(context) { transaction in
            return .reply(
                try await decisions.decide(
                    request.recoveryId, isApproved: false, note: request.note, by: reviewer, in: transaction))
        }
    }
}

/// Claims and decides a case in one call. An operator has no account.
struct DecideAsOperatorHandler: RequestHandler {
    let database: Database
    let decisions: CaseReviewDecisions
    /// In development, operators are distinguished by name only, so that one developer can act as two.
    let isDevelopment: Bool

    func handle(_ request: DecideAsOperator, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = CaseReviewer(
            name: "operator \(request.operatorName)", person: nil, key: isDevelopment ? nil : context.callerKey?.base64)
        return try await database.transaction { transaction in
            let reviewed = try await decisions.locked(request.recoveryId, for: reviewer, in: transaction)
            do throws(CaseReviewPolicy.Refusal) {
                try reviewed.policy.mayClaim(reviewer.name, key: reviewer.key)
            } catch {
                throw CaseReviewError.refusal(error)
            }
            if [.inReview, .contested].contains(reviewed.record.life.status) {
                decisions.reviews.claim(request.recoveryId, by: reviewer, in: transaction)
            }
            return try await decisions.decide(
                request.recoveryId, isApproved: request.isApproved, note: request.note, by: reviewer, in: transaction)
        }
    }
}
