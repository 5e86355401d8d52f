import Foundation
import Testing

@testable import VestibuleClient

@Suite("queue of answers") struct AnswerQueueTests {
    private let store = LockableStore()
    private let questionnaireSession = UUID()

    private func queue(
        _ answers: @escaping @Sendable (TransportRequest, Int) async throws -> TransportAnswer
    ) throws -> (AnswerQueue, ScriptedWire) {
        let wire = ScriptedWire(answers)
        let address = try #require(URL(string: "https://api.example.org"))
        return (
            AnswerQueue(
                questionnaire: "yoked", session: questionnaireSession,
                api: APIClient(address, accessToken: "at", transport: wire), store: store, clock: TestClock().clock),
            wire
        )
    }

    /// Saves each write of a request.
    @Sendable private static func saving(_ request: TransportRequest, _: Int) -> TransportAnswer {
        let results = writes(request).map {
            #"{"question": "\#($0.0)", "mutationId": "\#($0.1)", "saved": true, "revision": 1}"#
        }
        return .json(
            200,
            """
            {"results": [\(results.joined(separator: ", "))], "shown": [], "hidden": [], "stale": [], "next": null,
            "progress": {"answered": 1, "total": 2, "requiredRemaining": 0, "percentage": 50}}
            """)
    }

    private static func writes(_ request: TransportRequest) -> [(String, String)] {
        (request.member("answers")?.array ?? []).map {
            ($0.object?["question"]?.string ?? "", $0.object?["mutationId"]?.string ?? "")
        }
    }

    @Test("an answer is saved before it is sent, and repeated if cut")
    func cut() async throws {
        let store = store
        let (queue, wire) = try queue { request, number in
            for (_, mutation) in Self.writes(request) {
                let items = try store.read("answers-\(queueName(request))").map { String(decoding: $0, as: UTF8.self) }
                #expect(items?.contains(mutation) == true)
            }
            if number == 0 { throw URLError(.networkConnectionLost) }
            return Self.saving(request, number)
        }
        try await queue.add(AnswerPlace("a"), value: "x", seen: 0)
        await #expect(throws: VestibuleError.self) { try await queue.send() }
        #expect(try await queue.content().waiting.count == 1)
        #expect(try await queue.send()?.progress.answered == 1)
        let sent = await wire.requests.map { $0.member("answers") }
        #expect(sent.count == 2 && sent[0] == sent[1])
        #expect(try await queue.content().waiting.isEmpty)
    }

    @Test("a restarted app sends its waiting answers unchanged")
    func restart() async throws {
        let (first, before) = try queue { _, _ in throw URLError(.networkConnectionLost) }
        for question in ["a", "b"] { try await first.add(AnswerPlace(question), value: 1.25, seen: 0, device: "Phone") }
        _ = try? await first.send()
        let (second, after) = try queue(Self.saving)
        try await second.add(AnswerPlace("a"), value: 2, seen: 0)
        try await second.send()
        let sent = await before.requests + after.requests
        #expect(sent.map { Self.writes($0).map(\.0) } == [["a", "b"], ["a", "b"], ["a"]])
        #expect(sent[0].member("answers") == sent[1].member("answers"))
        #expect(sent[2].member("answers")?.array?.first?.object?["baseRevision"] == 1)
    }

    @Test("concurrent sends share the same requests")
    func oneInFlight() async throws {
        let (queue, wire) = try queue(Self.saving)
        for number in 0..<150 { try await queue.add(AnswerPlace("q\(number)"), value: 1, seen: 0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { try await queue.send() } }
            try await group.waitForAll()
        }
        #expect(await wire.requests.map { Self.writes($0).count } == [100, 50])
    }

    @Test("an answer that cannot be saved is not in the queue")
    func lockedStore() async throws {
        let (queue, wire) = try queue(Self.saving)
        store.set(writes: false)
        await #expect(throws: VestibuleError.self) { try await queue.add(AnswerPlace("a"), value: 1, seen: 0) }
        #expect(try await queue.content().waiting.isEmpty)
        #expect(try await queue.send() == nil)
        #expect(await wire.requests.isEmpty)
    }

    @Test("an unreadable queue is an error and not an empty one")
    func damaged() async throws {
        try store.write(Data("{".utf8), as: "answers-\(questionnaireSession)")
        let (queue, _) = try queue(Self.saving)
        await #expect(throws: VestibuleError.self) { try await queue.add(AnswerPlace("a"), value: 1, seen: 0) }
        try await queue.discard()
        try await queue.add(AnswerPlace("a"), value: 1, seen: 0)
    }

    @Test("at a closed version the queue waits until the questionnaire session moved")
    func versionClosed() async throws {
        let (queue, wire) = try queue { request, number in
            if number == 0 { return .problem(409, "version_closed") }
            guard number == 1 else { return Self.saving(request, number) }
            return .json(
                200,
                #"{"fromVersion": 1, "toVersion": 2, "kept": [], "stale": [], "orphaned": [], "newQuestions": []}"#)
        }
        try await queue.add(AnswerPlace("a"), value: 1, seen: 0)
        #expect(await #expect(throws: VestibuleError.self) { try await queue.send() }?.code == .versionClosed)
        #expect(try await queue.migrate().toVersion == 2)
        #expect(try await queue.content().waiting.isEmpty)
        #expect(
            await wire.requests.map { $0.url.lastPathComponent } == ["answers:batch", "migrations", "answers:batch"])
    }

    @Test("a running queue sends new answers and retries failures")
    func running() async throws {
        let (queue, wire) = try queue { request, number in
            if number == 1 { throw URLError(.networkConnectionLost) }
            return number == 3 ? .problem(409, "session_stopped") : Self.saving(request, number)
        }
        let run = Task { try await queue.run() }
        for (number, question) in ["a", "b", "c"].enumerated() {
            var changes = await queue.contentChanges().makeAsyncIterator()
            try await queue.add(AnswerPlace(question), value: 1, seen: 0)
            if number < 2 { while await changes.next()?.revisions.count != number + 1 {} }
        }
        #expect(await #expect(throws: VestibuleError.self) { try await run.value }?.code == .sessionStopped)
        #expect(await wire.requests.map { Self.writes($0).map(\.0) } == [["a"], ["b"], ["b"], ["c"]])
    }

    @Test("after a stopped questionnaire session the queue can be given up")
    func stopped() async throws {
        let (queue, _) = try queue { _, _ in .problem(409, "session_stopped") }
        try await queue.add(AnswerPlace("a"), value: 1, seen: 0)
        #expect(await #expect(throws: VestibuleError.self) { try await queue.send() }?.code == .sessionStopped)
        #expect(try await queue.content().blocked == .sessionStopped)
        try await queue.discard()
        #expect(try await queue.content() == AnswerQueueContent())
        #expect(try store.read("answers-\(questionnaireSession)") == nil)
    }

    @Test("a write that fails every request is found and set aside")
    func poison() async throws {
        let (queue, wire) = try queue { request, number in
            Self.writes(request).contains { $0.0 == "q5" }
                ? .problem(413, "body_too_large") : Self.saving(request, number)
        }
        for number in 0..<9 { try await queue.add(AnswerPlace("q\(number)"), value: 1, seen: 0) }
        try await queue.send()
        let content = try await queue.content()
        #expect(content.waiting.isEmpty && content.refused.map(\.answer.question) == ["q5"])
        #expect(await wire.requests.count < 12)
    }

    @Test("a reply without results is an error and ends the sending")
    func noResults() async throws {
        let (queue, wire) = try queue { _, _ in
            .json(
                200,
                """
                {"results": [], "shown": [], "hidden": [], "stale": [], "next": null,
                "progress": {"answered": 1, "total": 2, "requiredRemaining": 0, "percentage": 50}}
                """)
        }
        try await queue.add(AnswerPlace("a"), value: 1, seen: 0)
        await #expect(throws: VestibuleError.self) { try await queue.send() }
        #expect(await wire.requests.count == 1)
        #expect(try await queue.content().waiting.count == 1)
    }

    @Test("changes are streamed, and a questionnaire session has one queue")
    func stream() async throws {
        let (queue, _) = try queue(Self.saving)
        var changes = await queue.contentChanges().makeAsyncIterator()
        #expect(await changes.next() == AnswerQueueContent())
        try await queue.add(AnswerPlace("a"), value: 1, seen: 0)
        #expect(await changes.next()?.waiting.count == 1)
        let client = Vestibule(try #require(URL(string: "https://api.example.org")), store: store)
        let one = await client.answers(questionnaire: "yoked", session: questionnaireSession)
        #expect(await client.answers(questionnaire: "yoked", session: questionnaireSession) === one)
        #expect(try await one.content().waiting.count == 1)
    }
}

private func queueName(_ request: TransportRequest) -> String { request.url.pathComponents[4] }
