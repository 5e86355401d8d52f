import EventLoop

/// A part of a running service. It lives as long as the service.
@Loop protocol ServicePart: AnyObject, Sendable {
    /// Does the part's work. It returns when its task is cancelled, or earlier if no work is left.
    func run() async
    /// Finishes the current work. The task of ``run()`` was cancelled before.
    func stop() async
}

/// The running parts of a service. They start in order and stop in reverse, so each can use the earlier ones.
@Loop final class ServiceGroup {
    private var running: [(part: any ServicePart, task: Task<Void, any Error>)] = []
    private var isStopped = false

    /// Starts another part, unless the group was stopped.
    func start(_ part: any ServicePart) {
        guard !isStopped else { return }
        running.append((part, Loop.spawn { await part.run() }))
    }

    /// Stops the parts, the newest first.
    func stop() async {
        isStopped = true
        while let (part, task) = running.popLast() {
            task.cancel()
            await part.stop()
        }
    }
}
