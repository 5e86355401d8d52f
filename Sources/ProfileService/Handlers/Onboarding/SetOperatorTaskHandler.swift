import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Stores whether the operator has done a task with a person, with an entry in the person's audit trail.
struct SetOperatorTaskHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: SetOperatorTask, context: RequestContext) async throws -> OperatorTaskSet {
        try context.requireAdmin()
        let (person, task) = (request.personId, request.task)
        let author = context.caller == .operator ? "operator" : "admin"
        return try await profile.inbox.oncePerMessage(context) { transaction in
            let reply = OperatorTaskSet(personId: person, task: task, done: request.done)
            guard let record = try await profile.store.known(person, in: transaction) else { throw Self.unknown }
            let plans = try await profile.plans(of: record)
            guard plans.contains(where: { $0.askedSteps.contains { $0.operatorTask == task } }) else {
                throw Self.unknown
            }
            guard record.operatorTasks.contains(task) != request.done else { return reply }
            var changed = record
            if request.done { changed.operatorTasks.insert(task) } else { changed.operatorTasks.remove(task) }
            let chain = try await profile.audit.ensure(person, in: transaction)
            let act = AuditAct(
                request.done ? "operator_task_done" : "operator_task_undone", ["task": task, "by": author])
            profile.audit.note(act, on: chain, in: transaction)
            profile.store.note(operatorTask: task, isDone: request.done, of: person, in: transaction)
            profile.noteProgress(from: record, to: changed, plans, in: transaction)
            return reply
        }
    }

    private static let unknown = BusError(.notFound, "There is no such task of this person.")
}
