import Database
import EventLoop

/// Work that is done in rounds until the service stops. A round that fails is logged and repeated after a second.
@Loop final class PeriodicTask: ServicePart {
    private let name: String
    private let period: Duration?
    private let log: Log
    private let round: @Loop () async throws -> Void
    private var pause: LoopPromise<Void>?

    /// - Parameter period: between the end of a round and the next one; `nil`: one round that succeeds is all.
    init(_ name: String, every period: Duration?, log: Log, _ round: @escaping @Loop () async throws -> Void) {
        (self.name, self.period, self.log, self.round) = (name, period, log, round)
    }

    func run() async {
        while !Task.isCancelled {
            var pause = period
            do {
                try await round()
            } catch {
                guard !Task.isCancelled else { return }
                // The database itself says that it is away.
                if error as? DatabaseError != .unavailable {
                    log.warning("background_failed", ["name": .string(name), "error": .string(Log.name(of: error))])
                }
                pause = .seconds(1)
            }
            guard let pause, !Task.isCancelled else { return }
            await wait(for: pause)
        }
    }

    /// Begins the next round now, where the task waits for it.
    func hurry() { pause?.resolve(.success(())) }

    func stop() async { hurry() }

    private func wait(for duration: Duration) async {
        let pause = LoopPromise<Void>()
        self.pause = pause
        let timer = LoopTimer(after: duration) { pause.resolve(.success(())) }
        try? await pause.get()
        timer.cancel()
    }
}
