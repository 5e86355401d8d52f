import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime

/// Moves sessions to the newest version of their questionnaire.
@Loop struct QuestionnaireSessionMigrator {
    let service: QuestionnaireSessionService
    let migrations: QuestionnaireSessionMigrationStore

    /// The version to which sessions move, and the path to it from another version.
    struct Route: Sendable {
        let path: QuestionnaireSessionMigrationPath
        let target: PublishedDefinition
    }

    /// - Returns: `nil` if there is no newer version to move to.
    func route(from version: Int64, of questionnaire: String) async throws -> Route? {
        guard let found = try await migrations.route(from: version, of: questionnaire), let last = found.last else {
            return nil
        }
        let target = try await service.definitions.definition(last.hash)
        let path = try await Loop.compute {
            let files = try found.map { try DefinitionParser.read($0.content).file }
            return QuestionnaireSessionMigrationPath(
                from: files[0], through: Array(files.dropFirst()), to: target.definition)
        }
        return Route(path: path, target: target)
    }

    /// Moves the answers of a session to the target version. A dry run only returns the result and writes nothing.
    ///
    /// - Parameters:
    ///   - verdicts: profile's verdicts on answers that fill its fields in the target version.
    ///   - actor: the person in the app; `nil` if an operator moves the session.
    ///   - watch: waits until the event was tried.
    /// - Throws: ``QuestionnaireSessionFacts/Wanted`` and ``ProfileVerdicts/Wanted``.
    func move(
        _ hand: LoadedQuestionnaireSession, along route: Route?, isDryRun: Bool,
        knowing facts: QuestionnaireSessionFacts,
        _ verdicts: ProfileVerdicts, by actor: Actor? = nil, watch: DeliveryWatch? = nil, in transaction: Transaction
    ) async throws -> SessionMigrated {
        let (session, answers) = (hand.session, hand.session.answers)
        guard let route else {
            let version = hand.session.version
            return SessionMigrated(QuestionnaireSessionMigration(unchanged: hand.sheet), from: version, to: version)
        }
        let definition = route.target.definition
        // Facts decide what is shown, and so which answers the profile gets. Otherwise a dry run needs none.
        let pins =
            isDryRun && !definition.hasExtracts ? [:] : try facts.pins(for: route.target, beside: session.facts)
        var migration = QuestionnaireSessionMigration(of: answers, along: route.path, now: session.now)
        let moved = AnswerSheet(
            definition: definition, answers: migration.answers, subjects: session.subjects,
            facts: pins.merging(session.facts) { $1 }, today: session.today)
        let (_, profile) = moved.judged(since: hand.sheet, verdicts)
        try service.mustBeJudged(profile)
        migration.makeStale(profile.refused)
        if !isDryRun {
            migrations.note(
                QuestionnaireSessionMigrationRecord(migration, of: answers), from: session, in: hand.sheet.definition,
                of: hand.person, to: definition.version, in: transaction)
            service.sessions.replace(
                answers, by: migration.answers, in: definition, of: hand.person, session: session.id, in: transaction)
            migrations.pin(
                session.id, of: hand.person, to: definition.version, definition.hash, knowing: pins, in: transaction)
            try await service.note(profile, verdicts, on: hand, by: actor, watch: watch, in: transaction)
        }
        return SessionMigrated(migration, from: session.version, to: definition.version)
    }
}

extension SessionMigrated {
    fileprivate init(_ migration: QuestionnaireSessionMigration, from: Int64, to: Int64) {
        self.init(
            fromVersion: from, toVersion: to, kept: migration.kept, stale: migration.stale,
            orphaned: migration.orphaned, newQuestions: migration.newQuestions)
    }
}

/// Moves one session to the newest version.
struct MigrateSessionHandler: RequestHandler {
    let mover: QuestionnaireSessionMigrator

    func handle(_ request: MigrateSession, context: RequestContext) async throws -> SessionMigrated {
        let person = try context.person().userID
        let facts = QuestionnaireSessionFacts(language: .header(request.acceptLanguage))
        return try await mover.service.knowing(facts, of: person, context) { facts in
            try await mover.changing(person, context) { verdicts, watch, transaction in
                let hand = try await mover.service.take(
                    request.sessionId, of: person, for: request.questionnaire, in: transaction)
                guard hand.session.status == .inProgress else {
                    throw BusError(.sessionNotOpen, "Only an open session is moved to another version.")
                }
                let route = try await mover.route(from: hand.session.version, of: request.questionnaire)
                return .reply(
                    try await mover.move(
                        hand, along: route, isDryRun: request.dryRun == "true", knowing: facts, verdicts,
                        by: context.actor, watch: watch, in: transaction))
            }
        }
    }
}

/// Undoes the last migration of a session.
struct UndoMigrationHandler: RequestHandler {
    let mover: QuestionnaireSessionMigrator

    func handle(_ request: UndoMigration, context: RequestContext) async throws -> SessionView {
        let person = try context.person().userID
        return try await mover.changing(person, context) { verdicts, watch, transaction in
            let (service, migrations) = (mover.service, mover.migrations)
            let hand = try await service.take(
                request.sessionId, of: person, for: request.questionnaire, in: transaction)
            var session = hand.session
            guard session.status == .inProgress,
                let last = try await migrations.undoable(session.id, of: person, in: transaction)
            else { throw BusError(.migrationFinal, "There is no migration that could be taken back.") }
            let answers = last.record.restored(over: session.answers, now: session.now)
            (session.version, session.hash, session.answers) = (last.version, last.hash, answers)
            let (sheet, profile) = try await service.hand(session, of: person).sheet.judged(since: hand.sheet, verdicts)
            try service.mustBeJudged(profile)
            session.answers = sheet.answers
            service.sessions.replace(
                hand.session.answers, by: session.answers, in: sheet.definition, of: person, session: session.id,
                in: transaction)
            migrations.pin(session.id, of: person, to: last.version, last.hash, in: transaction)
            migrations.close(last, session.id, of: person, in: transaction)
            try await service.note(
                profile, verdicts, on: hand, by: context.actor, watch: watch, in: transaction)
            let result = try await service.sessions.result(of: session.id, of: person, in: transaction)
            return .reply(
                try await service.view(
                    try await service.hand(session, of: person), language: request.acceptLanguage, result: result))
        }
    }
}

extension QuestionnaireSessionMigrator {
    /// Runs `body` in a transaction, once for each idempotency key. If profile has to judge answers first, it is asked,
    /// and `body` runs again.
    fileprivate func changing<Reply: BusReply>(
        _ person: Identifier, _ context: RequestContext,
        _ body: @Loop (ProfileVerdicts, DeliveryWatch, Transaction) async throws -> Outcome<Reply>
    ) async throws -> Reply {
        try await service.judging(person, context) { verdicts in
            try await service.delivering { watch in
                try await service.once(context, keepsAll: true) { try await body(verdicts, watch, $0) }
            }
        }
    }
}

/// Moves many sessions, each in its own transaction. A session that cannot be moved does not stop the others.
struct MigrateSessionsHandler: RequestHandler {
    let mover: QuestionnaireSessionMigrator
    let log: Log

    func handle(_ request: MigrateSessions, context: RequestContext) async throws -> SessionsMigrated {
        guard let newest = try await mover.service.definitions.documents.newest(of: request.questionnaire) else {
            throw BusError(.notFound, "There is no such questionnaire.")
        }
        let after = request.after.flatMap { QuestionnaireSessionCursor($0) }
        let due = try await mover.migrations.due(
            request.questionnaire, before: newest.version, after: after, limit: request.limit)
        var (tally, last) = (
            SessionsMigrated(
                toVersion: newest.version, sessions: 0, kept: 0, stale: 0, orphaned: 0, remaining: 0, notMoved: []),
            after
        )
        let ways = KnownRoutes()
        for start in stride(from: 0, to: due.count, by: Self.atOnce) {
            // Near the deadline, leaves the rest to the next call, so that the caller gets a reply. Each call moves
            // some sessions.
            guard start == 0 || context.remaining > .seconds(1) else { break }
            let wave = due[start..<min(start + Self.atOnce, due.count)]
            let moves = wave.map { one in
                Loop.spawn {
                    do {
                        let facts = QuestionnaireSessionFacts(language: .untold)
                        let moved = try await mover.service.knowing(facts, of: one.person, context) { facts in
                            try await mover.service.judging(one.person, context) { verdicts in
                                try await move(one.session, of: one.person, request, ways, knowing: facts, verdicts)
                            }
                        }
                        return (moved: moved, code: String?.none)
                    } catch is SealError {
                        log.error(
                            "date_not_opened",
                            ["in": "questionnaire-session-migration", "session": .string(one.session.description)])
                        return (nil, "date_not_opened")
                    } catch let error as BusError {
                        // Profile did not answer.
                        return (nil, error.code)
                    }
                }
            }
            for (one, (moved, code)) in zip(wave, try await Self.all(moves)) {
                if let moved { tally.add(moved) }
                if let code { tally.notMoved?.append(SessionNotMoved(sessionID: one.session, code: code)) }
            }
            last = wave.last
        }
        tally.remaining = try await mover.migrations.countDue(
            request.questionnaire, before: newest.version, after: last)
        tally.next = tally.remaining > 0 ? last?.text : nil
        return tally
    }

    /// The most sessions that move at the same time. Their commits share disk writes. Most connections stay free for
    /// people.
    private static let atOnce = 6

    /// Waits for all tasks, even if one of them fails.
    private static func all<Value: Sendable>(_ tasks: [Task<Value, any Error>]) async throws -> [Value] {
        var results: [Result<Value, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return try results.map { try $0.get() }
    }

    /// - Returns: `nil` if the session was closed, erased or moved to the newest version in the meantime.
    @Loop private func move(
        _ session: Identifier, of person: Identifier, _ request: MigrateSessions, _ ways: KnownRoutes,
        knowing facts: QuestionnaireSessionFacts, _ verdicts: ProfileVerdicts
    ) async throws -> SessionMigrated? {
        try await mover.service.sessions.database.transaction { transaction in
            guard
                let found = try await mover.service.sessions.locked(
                    session, of: person, for: request.questionnaire, in: transaction), found.status == .inProgress
            else { return nil }
            if ways.byVersion[found.version] == nil {
                ways.byVersion[found.version] = .some(
                    try await mover.route(from: found.version, of: request.questionnaire))
            }
            guard let route = ways.byVersion[found.version] ?? nil else { return nil }
            let hand = LoadedQuestionnaireSession(
                found, of: person, try await mover.service.definitions.definition(found.hash))
            return try await mover.move(
                hand, along: route, isDryRun: request.dryRun, knowing: facts, verdicts, in: transaction)
        }
    }

    /// The routes by version, each read once per request. A version that is published meanwhile is used by the next
    /// request.
    @Loop private final class KnownRoutes {
        var byVersion: [Int64: QuestionnaireSessionMigrator.Route?] = [:]
    }
}

extension SessionsMigrated {
    fileprivate mutating func add(_ moved: SessionMigrated) {
        sessions += 1
        kept += Int64(moved.kept.count)
        stale += Int64(moved.stale.count)
        orphaned += Int64(moved.orphaned.count)
    }
}
