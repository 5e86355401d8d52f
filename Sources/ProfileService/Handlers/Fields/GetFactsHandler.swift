import BusProtocol
import BusRuntime
import EventLoop

/// Tells what questionnaires may look at of a profile.
struct GetFactsHandler: RequestHandler {
    let store: ProfileStore

    func handle(_ request: GetFacts, context: RequestContext) async throws -> ProfileFacts {
        guard let record = try await store.publicPart(of: request.personID) else { return ProfileFacts(facts: [:]) }
        var told = ProfileFacts(facts: [:])
        for key in request.fields where GetFacts.fields.contains(key) {
            // What was skipped, declined, or is no answer any more is not known.
            if case .answered(let value) = record.fields[key] { told.facts[key] = value }
        }
        // No field of the profile: it stands beside them.
        if request.fields.contains("timeZone"), let zone = record.timeZone?.name {
            told.facts["timeZone"] = .string(zone)
        }
        return told
    }
}
