import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Promises an upload to a side of a recovery case. Recovery alone decides who may upload.
struct PromiseEvidenceHandler: RequestHandler {
    let evidence: EvidenceStore

    func handle(_ request: PromiseEvidence, context: RequestContext) async throws -> EvidencePromised {
        let reserved = try await evidence.reserve(request)
        return EvidencePromised(uploadURL: reserved.url, expiresAt: reserved.expiresAt)
    }
}

/// Lists the pictures of a recovery case. Recovery alone decides who sees them, and records each look.
struct ListEvidenceHandler: RequestHandler {
    let evidence: EvidenceStore

    func handle(_ request: ListEvidence, context: RequestContext) async throws -> EvidenceList {
        EvidenceList(pictures: try await evidence.pictures(of: request.caseID))
    }
}

/// Destroys the pictures of a case once nobody may see them any more.
struct EvidenceEndedHandler: RequestHandler {
    let database: Database
    let evidence: EvidenceStore

    func handle(_ event: EvidenceEnded, context: RequestContext) async throws -> Acknowledged {
        try await database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .recovery, in: transaction) else { return }
            evidence.end(event.personID, in: transaction)
        }
        return Acknowledged()
    }
}
