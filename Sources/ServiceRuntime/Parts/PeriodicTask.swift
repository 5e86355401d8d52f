import Database
import EventLoop

/// A task that repeats in rounds until the service stops. It logs a failed round and repeats it after a second.
@Loop final class PeriodicTask: ServicePart {
    private let name: String
    private let period: Duration?
    private let log: Log
    private let round: @Loop () async throws -> Void
    private let end: @Loop () async -> Void
    private var pause: LoopPromise<Void>?

    /// - Parameter period: the time from the end of a round to the next one. If it is `nil`, the task ends after its
    ///   first successful round.
    /// - Parameter end: called when the service stops.
    init(
        _ name: String, every period: Duration?, log: Log, _ round: @escaping @Loop () async throws -> Void,
        end: @escaping @Loop () async -> Void = {}
    ) {
        (self.name, self.period, self.log, self.round, self.end) = (name, period, log, round, end)
    }

    func run() async {
        while !Task.isCancelled {
            var pause = period
            do {
                try await round()
            } catch {
                guard !Task.isCancelled else { return }
                // The loss of the database is in the log already.
                if error as? DatabaseError != .unavailable {
                    log.warning("background_failed", ["name": .string(name), "error": .string(Log.name(of: error))])
                }
                pause = .seconds(1)
            }
            guard let pause, !Task.isCancelled else { return }
            await wait(for: pause)
        }
    }

    /// Starts the next round now, if the task is waiting for it.
    func hurry() { pause?.resolve(.success(())) }

    func stop() async {
        hurry()
        await end()
    }

    private func wait(for duration: Duration) async {
        let pause = LoopPromise<Void>()
        self.pause = pause
        let timer = LoopTimer(about: duration) { pause.resolve(.success(())) }
        try? await pause.get()
        timer.cancel()
    }
}
