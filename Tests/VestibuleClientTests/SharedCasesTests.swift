import Foundation
import Testing

@testable import VestibuleClient

/// What all clients decide alike: `clients/cases.json`, which the web client runs, too.
@Suite("cases that all clients share") struct SharedCasesTests {
    private typealias JSON = VestibuleClient.JSONValue

    private struct Cases: Decodable {
        struct Decision: Decodable {
            let decision: String
            let cases: [Case]
        }
        struct Case: Decodable {
            let says: String
            let input: JSON
            let output: JSON
        }
        let limits: [String: Int]
        let decisions: [Decision]
    }

    private let cases: Cases

    init() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appendingPathComponent("clients/cases.json"), encoding: .utf8)
        // Short names stand for the IDs of mutations (m1) and of subjects (s1).
        let named = text.replacing(/"([ms])([0-9]+)"/) { match in
            let number = String(repeating: "0", count: 12 - match.2.count) + match.2
            return "\"\(match.1 == "m" ? "A" : "B")0000000-0000-4000-8000-\(number)\""
        }
        // This client writes milliseconds.
        let timed = named.replacing(/(:[0-9]{2})Z"/) { "\($0.1).000Z\"" }
        cases = try WireJSON.decoder().decode(Cases.self, from: Data(timed.utf8))
    }

    @Test func bothClientsKeepTheSameBounds() {
        let policy = RetryPolicy()
        #expect(
            cases.limits == [
                "attempts": policy.attempts, "waitMs": milliseconds(policy.limit),
                "firstWaitMs": milliseconds(policy.firstWait), "longestWaitMs": milliseconds(policy.longestWait),
                "renewBeforeMs": milliseconds(SessionRules.renewBefore), "batchWrites": AnswerQueueContent.batch,
                "batchBytes": AnswerQueueContent.batchBytes,
                "queueFirstWaitMs": milliseconds(RetryPolicy.queueFirstWait),
                "queueLongestWaitMs": milliseconds(RetryPolicy.queueLongestWait),
            ])
    }

    @Test func bothClientsDecideAlike() throws {
        for decision in cases.decisions {
            for each in decision.cases {
                let output = try decide(decision.decision, Input(each.input))
                #expect(output == each.output, "\(decision.decision): \(each.says)")
            }
        }
    }

    // MARK: Decisions by their names

    private func decide(_ name: String, _ input: Input) throws -> JSON {
        switch name {
        case "afterRenewal":
            let outcome = try input.outcome()
            return outcome.status == 200
                ? "signedIn" : SessionRules.ending(of: outcome) == nil ? "kept" : "signedOut"
        case "afterUnauthorized":
            let refusal = SessionRules.refusal(
                input.code, isCurrent: input.has("isCurrent"), isRenewed: input.has("isRenewed"))
            return .string(refusal.rawValue)
        case "tokenState":
            return .string(
                SessionRules.state(ofTokenUntil: try input.date("endsAtMs"), at: try input.date("nowMs")).rawValue)
        case "beforeRenewal":
            let kept = input["kept"].flatMap { $0.object.map { Input(.object($0)) } }
            let found = SessionRules.found(
                held: try input.integer("held"), kept: try kept?.integer("generation") ?? 0,
                until: try kept?.date("endsAtMs"), at: try input.date("nowMs"))
            return .string(found.rawValue)
        case "repetition": return try repetition(input)
        case "secondsLeft":
            return .integer(
                CodeTimer.left(
                    of: try input.integer("seconds"), since: try input.date("sinceMs"), at: try input.date("nowMs")))
        case "queueWaitMs":
            return .integer(
                milliseconds(
                    RetryPolicy.queueWait(
                        failures: try input.integer("failures"),
                        retryAfterSeconds: try input.ifAny("retryAfterSeconds"), random: try input.number("random")))
            )
        default: return try queue(name, input)
        }
    }

    private func repetition(_ input: Input) throws -> JSON {
        let method = try #require(input["method"]?.string.flatMap(CallMethod.init))
        let call = Call<NoContent>(
            method, "/",
            headers: [
                "Idempotency-Key": input.has("isKeyed") ? "key" : nil,
                "If-Match": input.has("hasIfMatch") ? "tag" : nil,
            ])
        var outcome = try input.part("outcome").outcome()
        outcome.isOnline = input["isOnline"] != false
        let wait = RetryPolicy().wait(
            after: outcome, attempt: try input.integer("attempt"), waited: Double(try input.integer("waitedMs")) / 1000,
            isSafe: call.isSafeToRepeat, random: try input.number("random"))
        return wait.map { ["repeat": true, "waitMs": .integer(milliseconds($0))] } ?? ["repeat": false]
    }

    private func queue(_ name: String, _ input: Input) throws -> JSON {
        var queue = try input.queue()
        switch name {
        case "nextBatch": return .array(queue.next().map { .string($0.mutationId.uuidString) })
        case "withWrite": queue.add(try input.read("write"))
        case "afterBatch":
            let outcome = try input.part("outcome")
            let sent: [UUID] = try input.read("sent")
            if outcome["status"] == 200 {
                queue.take(try outcome.ifAny("results") ?? [])
            } else if let error = try outcome.error() {
                queue.take(error, of: queue.waiting.filter { sent.contains($0.mutationId) })
            }
        case "afterChoice":
            let (id, choice): (UUID, Input) = (try input.read("mutationId"), try input.part("choice"))
            guard let conflict = queue.conflicts.first(where: { $0.mine.mutationId == id }) else { break }
            if choice["keep"] == "mine" {
                queue.keepMine(conflict, mutation: try choice.read("mutationId"))
            } else {
                queue.keepTheirs(conflict)
            }
        default: Issue.record("this client does not decide \(name)")
        }
        return try queue.asCase()
    }

    private func milliseconds(_ seconds: TimeInterval) -> Int { Int((seconds * 1000).rounded()) }
}

/// The members of a case's input.
private struct Input {
    private let members: [String: VestibuleClient.JSONValue]

    init(_ value: VestibuleClient.JSONValue) { members = value.object ?? [:] }

    subscript(name: String) -> VestibuleClient.JSONValue? { members[name] }
    func has(_ name: String) -> Bool { members[name] == true }
    func integer(_ name: String) throws -> Int { try read(name) }
    func number(_ name: String) throws -> Double { try read(name) }
    func date(_ name: String) throws -> Date { Date(timeIntervalSince1970: Double(try integer(name)) / 1000) }
    func part(_ name: String) throws -> Input { Input(try #require(members[name])) }
    var code: ProblemCode? { members["code"]?.string.map(ProblemCode.init) }

    func ifAny<Value: Decodable>(_ name: String) throws -> Value? { try members[name].map { try convert($0) } }
    func read<Value: Decodable>(_ name: String) throws -> Value { try convert(try #require(members[name])) }

    func outcome() throws -> CallOutcome {
        CallOutcome(status: try ifAny("status"), code: code, retryAfterSeconds: try ifAny("retryAfterSeconds"))
    }

    /// `nil` if no answer came.
    func error() throws -> VestibuleError? {
        guard let status = members["status"] else { return nil }
        guard let code else { return .unreadable(status: try integer("status"), URLError(.cannotParseResponse)) }
        return .problem(
            try convert([
                "type": "about:blank", "title": "-", "status": status, "code": .string(code.rawValue),
                "detail": members["detail"] ?? "", "traceId": "0af7651916cd43dd8448eb211c80319c",
            ]))
    }

    func queue() throws -> AnswerQueueContent {
        struct Refused: Decodable {
            let write: QueuedAnswer
            let error: QueuedError
        }
        struct Queue: Decodable {
            let writes: [QueuedAnswer]
            let conflicts: [AnswerConflict]
            let refused: [Refused]
            let limit: Int?
            let blocked: ProblemCode?
        }
        let given: Queue = try read("queue")
        var queue = AnswerQueueContent()
        (queue.waiting, queue.conflicts, queue.limit, queue.blocked) =
            (given.writes, given.conflicts, given.limit, given.blocked)
        queue.refused = given.refused.map {
            RefusedAnswer(answer: $0.write, code: $0.error.code, detail: $0.error.detail, errors: $0.error.errors ?? [])
        }
        return queue
    }
}

extension AnswerQueueContent {
    /// As the cases have a queue.
    fileprivate func asCase() throws -> VestibuleClient.JSONValue {
        var members: [String: VestibuleClient.JSONValue] = [
            "writes": .array(try waiting.map { try convert($0) }),
            "conflicts": .array(
                try conflicts.map { ["mine": try convert($0.mine), "theirs": try convert($0.theirs)] }),
            "refused": .array(
                try refused.map {
                    [
                        "write": try convert($0.answer),
                        "error": ["code": .string($0.code.rawValue), "detail": .string($0.detail)],
                    ]
                }),
        ]
        members["limit"] = limit.map { .integer($0) }
        members["blocked"] = blocked.map { .string($0.rawValue) }
        return .object(members)
    }
}

private func convert<Value: Decodable>(_ value: some Encodable) throws -> Value {
    try WireJSON.decoder().decode(Value.self, from: WireJSON.encoder().encode(value))
}
