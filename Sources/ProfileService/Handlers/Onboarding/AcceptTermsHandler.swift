import BusProtocol
import BusRuntime
import EventLoop

/// Stores the texts that a person accepts: the versions in the plan that the person follows, and those in its newest version.
struct AcceptTermsHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: AcceptTerms, context: RequestContext) async throws -> AcceptedTerms {
        let planned = try await profile.planned(context)
        let (person, asked) = (planned.record.personID, planned.plan.acceptable)
        let plan = planned.plan.reference.key
        let given = request.documents.map { Plan.TermsKey(plan: plan, document: $0.document, version: $0.version) }
        let problems = given.enumerated().filter { !asked.contains($0.element) }.map { place, _ in
            BusError.FieldProblem(
                field: "documents.\(place)", code: "not_asked", message: "Your plan does not ask for this version.")
        }
        guard problems.isEmpty else {
            throw BusError(.validationFailed, "Some texts are not those to accept.", errors: problems)
        }
        return try await profile.database.transaction { transaction in
            let record = try await profile.locked(person, in: transaction)
            let now = Timestamp.now()
            var changed = record
            for terms in given where changed.acceptedAt(terms) == nil {
                changed.consents[terms] = now
                profile.store.noteConsent(terms, of: person, at: now, in: transaction)
            }
            profile.noteProgress(from: record, to: changed, try await profile.plans(of: record), in: transaction)
            return AcceptedTerms(
                consents: asked.compactMap { terms in
                    changed.acceptedAt(terms).map {
                        TermsConsent(document: terms.document, version: terms.version, acceptedAt: $0)
                    }
                })
        }
    }
}
