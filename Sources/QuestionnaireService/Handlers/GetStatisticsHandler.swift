import BusProtocol
import BusRuntime
import Cryptography
import Documents
import EventLoop
import ServiceRuntime

/// Counts the answers, skips, declines and drop-offs for each question of a version.
struct GetStatisticsHandler: RequestHandler {
    let statistics: StatisticsStore
    let definitions: PublishedDefinitions
    let log: Log

    func handle(_ request: GetStatistics, context: RequestContext) async throws -> VersionStatistics {
        try context.requireAdmin()
        guard let version = Int64(documentNumber: request.version),
            let found = try await definitions.documents.stored(request.questionnaire, version: version)
        else { throw BusError(.notFound, "There is no such version.") }
        let definition = try await definitions.definition(found.hash).definition
        let (samples, all, medians) = try await statistics.database.transaction { transaction in
            try await statistics.samples(of: version, request.questionnaire, in: transaction)
        }
        let sealer = statistics.sealer
        let (tally, unopened) = try await Loop.compute {
            var (tally, unopened) = (VersionTally(definition), Int64(0))
            let now = Timestamp.now()
            for sample in samples {
                do {
                    tally.add(try AnswerSheet(sample, sealer, of: definition, now: now), sample.status)
                } catch is SealError {
                    unopened += 1
                }
            }
            return (tally, unopened)
        }
        if unopened > 0 { log.error("date_not_opened", ["in": "statistics", "sessions": .integer(unopened)]) }
        return VersionStatistics(
            version: version, sessions: tally.sessions, of: all, completed: tally.completed,
            questions: tally.questions(medians: medians))
    }
}
