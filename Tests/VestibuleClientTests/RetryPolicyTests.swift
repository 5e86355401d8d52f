import Foundation
import Testing

@testable import VestibuleClient

@Suite("when the client repeats a call") struct RetryPolicyTests {
    private func wait(
        _ outcome: CallOutcome, attempt: Int = 1, waited: TimeInterval = 0, isSafe: Bool = true, random: Double = 0
    ) -> TimeInterval? {
        RetryPolicy().wait(after: outcome, attempt: attempt, waited: waited, isSafe: isSafe, random: random)
    }

    private let cut = CallOutcome()

    @Test("waits grow, spread, and end after four attempts or 15 seconds")
    func growth() {
        #expect((1...4).map { wait(cut, attempt: $0) } == [0.2, 0.4, 0.8, nil])
        #expect(wait(cut, random: 1) == 0.4)
        #expect(wait(cut, attempt: 3, waited: 14.2) == 0.8 && wait(cut, attempt: 3, waited: 14.3) == nil)
    }

    @Test("a Retry-After is obeyed unless it is too long")
    func asked() {
        #expect(wait(CallOutcome(status: 429, retryAfterSeconds: 3), random: 0.5) == 3.1)
        #expect(wait(CallOutcome(status: 503, retryAfterSeconds: 15)) == 15)
        #expect(wait(CallOutcome(status: 429, code: .otpLocked, retryAfterSeconds: 900)) == nil)
    }

    @Test(
        "transient statuses are retried",
        arguments: [
            (408, "request_timeout", true), (429, "rate_limited", true), (500, "internal_error", true),
            (503, "service_unavailable", true), (504, "deadline_exceeded", true), (409, "request_in_progress", true),
            (409, "idempotency_answer_gone", false), (401, "token_expired", false), (422, "validation_failed", false),
            (505, "version_not_supported", false), (404, "not_found", false),
        ])
    func statuses(status: Int, code: String, isRepeated: Bool) {
        #expect((wait(CallOutcome(status: status, code: ProblemCode(rawValue: code))) != nil) == isRepeated)
    }

    @Test("an unsafe call is retried only if it was not begun")
    func unsafe() {
        #expect(wait(cut, isSafe: false) == nil && wait(CallOutcome(status: 504), isSafe: false) == nil)
        #expect(wait(CallOutcome(status: 429), isSafe: false) != nil)
    }

    @Test("an error without an answer is not retried")
    func noRequest() {
        for error in [VestibuleError.notModified, .signedOut, .store(URLError(.timedOut))] {
            #expect(error.outcome == nil)
        }
        #expect(VestibuleError.unreadable(status: 502, URLError(.timedOut)).outcome == CallOutcome(status: 502))
    }

    @Test("a POST is safe with a key, and a PATCH without a version")
    func safety() {
        #expect(Call<NoContent>(.get, "/a").isSafeToRepeat && Call<NoContent>(.put, "/a").isSafeToRepeat)
        #expect(!Call<NoContent>(.post, "/a").isSafeToRepeat && Call<NoContent>(.post, "/a").withKey().isSafeToRepeat)
        let own = Call<NoContent>(.post, "/a", headers: ["idempotency-key": "own"])
        #expect(own.withKey().headers == ["idempotency-key": "own"])
        #expect(Call<NoContent>(.patch, "/a", headers: ["if-match": nil]).isSafeToRepeat)
        #expect(!Call<NoContent>(.patch, "/a", headers: ["if-match": "\"r1\""]).isSafeToRepeat)
    }
}
