import BusProtocol
import BusRuntime
import EventLoop

/// Seals dates that were stored before dates were sealed.
struct SealDatesHandler: RequestHandler {
    let openDates: OpenDates

    func handle(_ request: SealDates, context: RequestContext) async throws -> DatesSealed {
        guard openDates.dates.isSealing else {
            throw BusError(
                .sealingOff,
                "Nothing is sealed while QUESTIONNAIRE_SEAL_DATES is false: some replica may not know what is.")
        }
        let (sessions, dates, next) = try await openDates.seal(
            after: request.after.flatMap { SessionCursor($0) }, limit: request.limit)
        return DatesSealed(sessions: sessions, dates: dates, next: next?.text)
    }
}
