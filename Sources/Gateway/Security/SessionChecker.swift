import BusProtocol
import BusRuntime
import EventLoop

/// Asks auth about single sessions while ``RevocationFollower`` is stale.
///
/// It sends one call at a time for a session, keeps the reply for a second, and has at most 64 calls in flight.
@Loop final class SessionChecker {
    static let largestLoad = 64
    private static let memory = Duration.seconds(1)

    private struct Answer {
        var isActive: Bool
        var at: UInt64
    }

    private let bus: Bus
    private var answers: [Identifier: Answer] = [:]
    private var asking: [Identifier: LoopPromise<Bool>] = [:]

    init(bus: Bus) { self.bus = bus }

    /// - Throws: ``BusError``: `overloaded` beyond 64 calls in flight, else the error of the call.
    func isActive(_ session: Identifier) async throws -> Bool {
        let now = MonotonicClock.now()
        if let answer = answers[session], now < answer.at + Self.memory.nanoseconds { return answer.isActive }
        if let promise = asking[session] { return try await promise.get() }
        guard asking.count < Self.largestLoad else {
            throw BusError(.overloaded, "Too many requests right now. Please try again.", retryAfter: .seconds(1))
        }
        return try await ask(session)
    }

    private func ask(_ session: Identifier) async throws -> Bool {
        let promise = LoopPromise<Bool>()
        asking[session] = promise
        let result: Result<Bool, any Error>
        do {
            let reply = try await bus.call(CheckSession(sessionID: session), CallOptions(timeout: .seconds(1)))
            remember(Answer(isActive: reply.isActive, at: MonotonicClock.now()), of: session)
            result = .success(reply.isActive)
        } catch {
            result = .failure(error)
        }
        asking[session] = nil
        promise.resolve(result)
        return try result.get()
    }

    private func remember(_ answer: Answer, of session: Identifier) {
        if answers.count >= 4096 {
            answers = answers.filter { answer.at < $0.value.at + Self.memory.nanoseconds }
        }
        answers[session] = answer
    }
}
