import BusProtocol
import BusRuntime
import EventLoop

/// Counts what people did with each question of a version.
struct GetStatisticsHandler: RequestHandler {
    let statistics: StatisticsStore
    let definitions: DefinitionStore

    func handle(_ request: GetStatistics, context: RequestContext) async throws -> VersionStatistics {
        try context.requireAdmin()
        guard let version = Int64(request.version), (1...2_147_483_647).contains(version),
            String(version) == request.version,
            let hash = try await statistics.hash(of: version, request.questionnaire)
        else { throw BusError(.notFound, "There is no such version.") }
        let definition = try await definitions.definition(hash).definition
        let (samples, all, medians) = try await statistics.database.transaction { transaction in
            try await statistics.samples(of: version, request.questionnaire, in: transaction)
        }
        let tally = try await Loop.compute {
            var tally = VersionTally(definition)
            let now = Timestamp.now()
            for sample in samples { tally.add(try AnswerSheet(sample, of: definition, now: now), sample.status) }
            return tally
        }
        return VersionStatistics(
            version: version, sessions: tally.sessions, of: all, completed: tally.completed,
            questions: tally.questions(medians: medians))
    }
}
