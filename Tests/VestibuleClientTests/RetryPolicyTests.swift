import Foundation
import Testing

@testable import VestibuleClient

@Suite("when the client repeats a call") struct RetryPolicyTests {
    private func problem(_ status: Int, _ code: String, retryAfter: Int? = nil) throws -> VestibuleError {
        let answer = TransportAnswer.problem(status, code, retryAfter: retryAfter)
        return .problem(try WireJSON.decoder().decode(Problem.self, from: answer.body))
    }

    private func wait(
        _ error: VestibuleError, attempt: Int = 1, elapsed: TimeInterval = 0, isSafe: Bool = true, random: Double = 0
    ) -> TimeInterval? {
        RetryPolicy().wait(after: error, attempt: attempt, elapsed: elapsed, isSafe: isSafe, random: random)
    }

    @Test("waits grow, spread, and end after five attempts or a minute")
    func growth() {
        let cut = VestibuleError.noAnswer(URLError(.timedOut))
        #expect((1...5).map { wait(cut, attempt: $0) } == [0.25, 0.5, 1, 2, nil])
        #expect(wait(cut, attempt: 1, random: 1) == 0.5)
        #expect(wait(cut, attempt: 4, elapsed: 58) == 2 && wait(cut, attempt: 4, elapsed: 58.1) == nil)
    }

    @Test("what the server asks for is waited for, unless it is longer than a person waits")
    func asked() throws {
        #expect(wait(try problem(429, "rate_limited", retryAfter: 3), random: 0.5) == 3.25)
        #expect(wait(try problem(503, "overloaded", retryAfter: 10)) == 10)
        #expect(wait(try problem(429, "otp_locked", retryAfter: 900)) == nil)
    }

    @Test(
        "statuses that pass are repeated",
        arguments: [
            (408, "request_timeout", true), (429, "rate_limited", true), (500, "internal_error", true),
            (503, "service_unavailable", true), (504, "deadline_exceeded", true), (409, "request_in_progress", true),
            (409, "idempotency_answer_gone", false), (401, "token_expired", false), (422, "validation_failed", false),
            (505, "version_not_supported", false), (404, "not_found", false),
        ])
    func statuses(status: Int, code: String, isRepeated: Bool) throws {
        #expect((wait(try problem(status, code)) != nil) == isRepeated)
    }

    @Test("a call that may not be done twice is repeated only where it was not begun")
    func unsafe() throws {
        #expect(wait(.noAnswer(URLError(.timedOut)), isSafe: false) == nil)
        #expect(wait(try problem(504, "deadline_exceeded"), isSafe: false) == nil)
        #expect(wait(.unreadable(status: 502, URLError(.timedOut)), isSafe: false) == nil)
        #expect(wait(try problem(503, "overloaded"), isSafe: false) != nil)
        #expect(wait(try problem(429, "rate_limited"), isSafe: false) != nil)
        #expect(wait(.unreadable(status: 502, URLError(.timedOut))) != nil)
        #expect(wait(.unreadable(status: 200, URLError(.timedOut))) == nil)
        for error in [VestibuleError.notModified, .signedOut, .store(URLError(.timedOut))] {
            #expect(wait(error) == nil)
        }
    }

    @Test("a POST needs a key for that, and a PATCH no version")
    func safety() {
        #expect(Call<NoContent>(.get, "/a").isSafeToRepeat && Call<NoContent>(.put, "/a").isSafeToRepeat)
        #expect(!Call<NoContent>(.post, "/a").isSafeToRepeat && Call<NoContent>(.post, "/a").withKey().isSafeToRepeat)
        let own = Call<NoContent>(.post, "/a", headers: ["idempotency-key": "own"])
        #expect(own.withKey().headers == ["idempotency-key": "own"])
        #expect(Call<NoContent>(.patch, "/a", headers: ["if-match": nil]).isSafeToRepeat)
        #expect(!Call<NoContent>(.patch, "/a", headers: ["if-match": "\"r1\""]).isSafeToRepeat)
    }
}
