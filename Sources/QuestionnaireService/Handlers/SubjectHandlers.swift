import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Adds a subject, renames it, or brings back a removed one.
struct PutSubjectHandler: RequestHandler {
    let service: SessionService

    func handle(_ request: PutSubject, context: RequestContext) async throws -> SubjectsChanged {
        let person = try context.person().userID
        return try await service.sessions.database.transaction { transaction in
            let hand = try await service.take(
                request.sessionId, of: person, for: request.questionnaire, in: transaction)
            try hand.mustTakeWrites()
            let all = try await service.sessions.subjects(of: person, session: hand.session.id, in: transaction)
            let plan = try SubjectPlan.make(request, all: all, on: hand.sheet, now: hand.session.now)
            service.sessions.put(
                plan.subject, of: person, session: hand.session.id, at: hand.session.now, in: transaction)
            service.sessions.write(
                plan.answers, to: plan.sheet.definition, of: person, session: hand.session.id, in: transaction)
            let step = SessionStep(
                status: hand.session.status, wasCompleted: hand.session.snapshots > 0,
                changesAnswers: plan.changesSession, completes: false, missing: [])
            try await service.conclude(plan.sheet, step, on: hand, in: transaction)
            return SubjectsChanged(plan.sheet)
        }
    }
}

/// Removes a subject. The answers about it are kept.
struct RemoveSubjectHandler: RequestHandler {
    let service: SessionService

    func handle(_ request: RemoveSubject, context: RequestContext) async throws -> SubjectsChanged {
        let person = try context.person().userID
        return try await service.sessions.database.transaction { transaction in
            let hand = try await service.take(
                request.sessionId, of: person, for: request.questionnaire, in: transaction)
            try hand.mustTakeWrites()
            let all = try await service.sessions.subjects(of: person, session: hand.session.id, in: transaction)
            guard all.contains(where: { $0.id == request.subject }) else {
                throw BusError(.notFound, "There is nobody of that id in this session.")
            }
            let rest = hand.sheet.subjects.filter { $0.id != request.subject }
            let sheet = hand.sheet.with(rest)
            service.sessions.remove(
                request.subject, of: person, session: hand.session.id, at: hand.session.now, in: transaction)
            let step = SessionStep(
                status: hand.session.status, wasCompleted: hand.session.snapshots > 0,
                changesAnswers: rest.count < hand.sheet.subjects.count, completes: false, missing: [])
            try await service.conclude(sheet, step, on: hand, in: transaction)
            return SubjectsChanged(sheet)
        }
    }
}

extension SubjectsChanged {
    fileprivate init(_ sheet: AnswerSheet) {
        let next = sheet.next
        self.init(
            subjects: sheet.subjectViews, progress: sheet.progress, next: next.map(NextQuestion.init),
            closing: sheet.closing(where: next).orNil)
    }
}
