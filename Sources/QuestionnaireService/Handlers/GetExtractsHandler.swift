import BusProtocol
import BusRuntime
import Cryptography
import EventLoop

/// Returns to profile the values that a result has for its fields.
struct GetExtractsHandler: RequestHandler {
    let sessions: SessionStore
    let definitions: DefinitionStore

    func handle(_ request: GetExtracts, context: RequestContext) async throws -> ProfileExtracts {
        // Operators may send any message that only reads. A person's answers are not for them, so only profile may send
        // this.
        guard context.caller == .profile else {
            throw BusError(.callerNotAllowed, "This service does not take this message from this caller.")
        }
        guard let result = try await sessions.resultThatCounts(of: request.sessionID, of: request.personID),
            let hash = Hex.decode(result.hash)
        else { return ProfileExtracts(extracts: []) }
        let definition = try await definitions.definition(hash).definition
        return ProfileExtracts(extracts: Extraction.extracts(of: definition, from: result.answers))
    }
}
