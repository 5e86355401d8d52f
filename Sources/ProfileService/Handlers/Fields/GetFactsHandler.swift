import BusProtocol
import BusRuntime
import EventLoop

/// Returns the facts of a profile that questionnaires may use.
struct GetFactsHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetFacts, context: RequestContext) async throws -> ProfileFacts {
        var told = ProfileFacts(facts: [:])
        guard let record = try await profile.publicPart(of: request.personID) else { return told }
        for key in request.fields where GetFacts.fields.contains(key) {
            // A skipped, declined or stale field counts as unknown.
            if case .answered(let value) = record.fields[key] { told.facts[key] = value }
        }
        // The time zone is not in the field catalogue. The profile stores it separately.
        if request.fields.contains("timeZone"), let zone = record.timeZone?.name {
            told.facts["timeZone"] = .string(zone)
        }
        return told
    }
}
