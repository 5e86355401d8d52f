import EventLoop

/// A part of a running service that lives as long as the service does.
@Loop protocol ServicePart: AnyObject, Sendable {
    /// Does the part's work. Returns when its task is cancelled, or earlier where nothing is left to do.
    func run() async
    /// Finishes what is in hand. The task of ``run()`` is cancelled by then.
    func stop() async
}

/// The running parts of a service: started in order and stopped in reverse, so that each can use those before it.
@Loop final class ServiceGroup {
    private var running: [(part: any ServicePart, task: Task<Void, any Error>)] = []
    private var isStopped = false

    /// Starts one more part. Once the group is stopped it starts nothing.
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
