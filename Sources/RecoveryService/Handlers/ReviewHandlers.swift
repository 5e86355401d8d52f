import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Finds out who decides, and that they have the role at this moment.
struct ReviewerReader: Sendable {
    let database: Database
    let audit: AuditTrail
    let bearers: BearerReader

    /// By a pseudonym, so that nothing of a reviewer outlives their account. In a transaction of its own: no decision holds two
    /// people's turns.
    @Loop func reviewer(_ context: RequestContext) async throws -> Reviewer {
        _ = try context.staff()
        let person = try await bearers.bearer(of: context).userID
        let chain = try await database.transaction { try await audit.chain(ofReviewer: person, in: $0) }
        return Reviewer(name: chain.name, person: person, key: nil)
    }
}

extension AuditTrail {
    /// - Throws: ``BusError`` `unauthorized` for somebody whose account is deleted.
    fileprivate func chain(ofReviewer person: Identifier, in transaction: Transaction) async throws -> AuditChain {
        Erasure.wait(for: person, in: transaction)
        guard try await !Erasure.isErased(person, in: transaction) else {
            throw BusError(.unauthorized, "Please sign in.")
        }
        return try await ensure(person, in: transaction)
    }
}

extension RequestContext {
    /// The person, of trust and safety: a route with the wrong line in the gateway's table shows nobody else a case.
    fileprivate func staff() throws(BusError) -> Actor {
        let actor = try person()
        guard ["staff", "admin"].contains(actor.role) else { throw BusError(.unauthorized, "Please sign in.") }
        return actor
    }
}

struct ListReviewsHandler: RequestHandler {
    let reviews: ReviewStore

    func handle(_ request: ListReviews, context: RequestContext) async throws -> ReviewQueue {
        if context.caller == .gateway { _ = try context.staff() }
        return ReviewQueue(cases: try await reviews.list(status: try request.status.map(Self.status)))
    }
}

extension ListReviewsHandler {
    /// An empty queue would say that nothing is wrong, where a word is.
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
    let reviews: ReviewStore

    func handle(_ request: GetReview, context: RequestContext) async throws -> ReviewPage {
        let staff = context.caller == .gateway ? try context.staff() : nil
        guard let page = try await reviews.page(of: request.recoveryId) else { throw CaseWorkflow.unknown }
        try await note(staff, sawEvidenceOf: request.recoveryId)
        return page
    }

    /// Nobody sees evidence unseen. The look stands in the trail of who looked: a case's own trail is shown whole, and would
    /// grow with each look.
    @Loop private func note(_ staff: Actor?, sawEvidenceOf id: Identifier) async throws {
        try await database.transaction { transaction in
            let chain =
                if let staff { try await audit.chain(ofReviewer: staff.userID, in: transaction) } else {
                    AuditChain.service
                }
            let act = AuditAct("evidence_seen", ["case": id.description])
            // Looking again with nothing between is the same look, as where a request is repeated.
            guard try await !reviews.isLast(act, on: chain, in: transaction) else { return }
            audit.note(act, on: chain, in: transaction)
        }
    }
}

struct ClaimReviewHandler: RequestHandler {
    let database: Database
    let decider: Decider
    let reader: ReviewerReader

    func handle(_ request: ClaimReview, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await database.transaction { transaction in
            let reviewed = try await decider.locked(request.recoveryId, for: reviewer, in: transaction)
            let life = reviewed.record.life
            guard life.status == .inReview || life.status == .contested else {
                throw ReviewError.refusal(
                    life.status.place < CaseStatus.inReview.place ? .tooEarly : CaseRefusal.tooLate)
            }
            do throws(ReviewPolicy.Refusal) {
                try reviewed.policy.mayClaim(reviewer.name)
            } catch {
                throw ReviewError.refusal(error)
            }
            decider.reviews.claim(request.recoveryId, by: reviewer, in: transaction)
            return try await decider.summary(of: request.recoveryId, in: transaction)
        }
    }
}

struct ReleaseReviewHandler: RequestHandler {
    let database: Database
    let decider: Decider
    let reader: ReviewerReader

    func handle(_ request: ReleaseReview, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await database.transaction { transaction in
            decider.reviews.release(request.recoveryId, by: reviewer, in: transaction)
            return try await decider.summary(of: request.recoveryId, in: transaction)
        }
    }
}

struct ApproveCaseHandler: RequestHandler {
    let inbox: Inbox
    let decider: Decider
    let reader: ReviewerReader

    func handle(_ request: ApproveCase, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await inbox.once(context) { transaction in
            return .reply(
                try await decider.decide(
                    request.recoveryId, isApproved: true, note: request.note, by: reviewer, in: transaction))
        }
    }
}

struct RejectCaseHandler: RequestHandler {
    let inbox: Inbox
    let decider: Decider
    let reader: ReviewerReader

    func handle(_ request: RejectCase, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = try await reader.reviewer(context)
        return try await inbox.once(context) { transaction in
            return .reply(
                try await decider.decide(
                    request.recoveryId, isApproved: false, note: request.note, by: reviewer, in: transaction))
        }
    }
}

/// An operator has no account, and takes and decides in one.
struct DecideAsOperatorHandler: RequestHandler {
    let database: Database
    let decider: Decider
    /// Who develops alone is two operators by their names.
    let isDevelopment: Bool

    func handle(_ request: DecideAsOperator, context: RequestContext) async throws -> ReviewSummary {
        let reviewer = Reviewer(
            name: "operator \(request.operatorName)", person: nil, key: isDevelopment ? nil : context.callerKey)
        return try await database.transaction { transaction in
            let reviewed = try await decider.locked(request.recoveryId, for: reviewer, in: transaction)
            do throws(ReviewPolicy.Refusal) {
                try reviewed.policy.mayClaim(reviewer.name, key: reviewer.key)
            } catch {
                throw ReviewError.refusal(error)
            }
            if [.inReview, .contested].contains(reviewed.record.life.status) {
                decider.reviews.claim(request.recoveryId, by: reviewer, in: transaction)
            }
            return try await decider.decide(
                request.recoveryId, isApproved: request.isApproved, note: request.note, by: reviewer, in: transaction)
        }
    }
}
