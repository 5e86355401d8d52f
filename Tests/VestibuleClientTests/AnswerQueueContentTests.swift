import Foundation
import Testing

@testable import VestibuleClient

@Suite("what happens to answers in the queue") struct AnswerQueueContentTests {
    private var queue = AnswerQueueContent()

    private func answer(_ question: String, _ value: VestibuleClient.JSONValue, seen: Int? = 0) -> QueuedAnswer {
        QueuedAnswer(question: question, mutationId: UUID(), state: .answered, baseRevision: seen, value: value)
    }

    private func results(_ text: String) throws -> [QueuedResult] {
        try WireJSON.decoder().decode([QueuedResult].self, from: Data("[\(text)]".utf8))
    }

    private func saved(_ answer: QueuedAnswer, revision: Int) throws -> [QueuedResult] {
        try results(
            #"{"question": "\#(answer.question)", "mutationId": "\#(answer.mutationId)", "saved": true, "revision": \#(revision)}"#
        )
    }

    private func refused(_ answer: QueuedAnswer, _ code: String, current: String = "null") throws -> [QueuedResult] {
        try results(
            #"""
            {"question": "\#(answer.question)", "mutationId": "\#(answer.mutationId)", "saved": false,
            "error": {"code": "\#(code)", "detail": "No.", "errors": [], "current": \#(current)}}
            """#)
    }

    private static let theirs = #"{"device": "Tablet", "revision": 2, "state": "answered", "value": "oily"}"#

    @Test("answers are sent in their order, at most 100 at once")
    mutating func order() {
        let answers = (0..<150).map { answer("q\($0)", 1) }
        for each in answers { queue.add(each) }
        #expect(queue.waiting == answers && queue.next() == Array(answers.prefix(100)))
    }

    @Test("a second answer waits for the revision of the first")
    mutating func second() throws {
        let (first, other, second) = (answer("a", 1), answer("b", 1), answer("a", 2))
        for each in [first, other, second] { queue.add(each) }
        #expect(queue.next() == [first, other])
        queue.take(try saved(first, revision: 1) + saved(other, revision: 1))
        #expect(queue.next().map(\.mutationId) == [second.mutationId] && queue.next().map(\.baseRevision) == [1])
    }

    @Test("a later answer has the newest saved revision")
    mutating func third() throws {
        let answers = (1...3).map { answer("a", .integer($0)) }
        for each in answers { queue.add(each) }
        queue.take(try saved(answers[0], revision: 1))
        queue.take(try refused(answers[1], "validation_failed"))
        #expect(queue.next().map(\.value) == [3] && queue.next().map(\.baseRevision) == [1])
    }

    @Test("an app does not conflict with its own answers")
    mutating func ownRevision() throws {
        let first = answer("a", 1)
        queue.add(first)
        queue.take(try saved(first, revision: 1))
        queue.add(answer("a", 2, seen: 0))
        #expect(queue.waiting.map(\.baseRevision) == [1])
    }

    @Test("the same question about two subjects is two answers")
    mutating func subjects() {
        for _ in 0..<2 {
            queue.add(
                QueuedAnswer(question: "name", mutationId: UUID(), state: .answered, baseRevision: 0, subject: UUID()))
        }
        #expect(queue.next().count == 2)
    }

    @Test("a conflict resolved as mine overwrites the other answer")
    mutating func keepMine() throws {
        let mine = answer("a", "dry")
        queue.add(mine)
        queue.take(try refused(mine, "answer_conflict", current: Self.theirs))
        #expect(queue.waiting.isEmpty && queue.conflicts.map(\.mine) == [mine])
        #expect(queue.conflicts.first?.theirs.value == "oily" && queue.conflicts.first?.theirs.device == "Tablet")
        let (mutation, conflict) = (UUID(), try #require(queue.conflicts.first))
        for _ in 0..<2 { queue.keepMine(conflict, mutation: mutation) }
        #expect(queue.conflicts.isEmpty && queue.waiting.map(\.mutationId) == [mutation])
        #expect(queue.waiting.map(\.baseRevision) == [2] && queue.waiting.map(\.value) == ["dry"])
    }

    @Test("a conflict resolved as theirs is the base of the next answer")
    mutating func keepTheirs() throws {
        let mine = answer("a", "dry")
        queue.add(mine)
        queue.take(try refused(mine, "answer_conflict", current: Self.theirs))
        queue.keepTheirs(try #require(queue.conflicts.first))
        #expect(queue.conflicts.isEmpty && queue.waiting.isEmpty)
        queue.add(answer("a", "normal", seen: 0))
        #expect(queue.waiting.map(\.baseRevision) == [2])
    }

    @Test("another answer without seeing theirs keeps the conflict")
    mutating func unseen() throws {
        let (mine, again) = (answer("a", "dry"), answer("a", "normal"))
        queue.add(mine)
        queue.take(try refused(mine, "answer_conflict", current: Self.theirs))
        queue.add(again)
        #expect(queue.waiting.isEmpty && queue.conflicts.map(\.mine) == [again])
    }

    @Test("another answer after seeing theirs resolves the conflict")
    mutating func seen() throws {
        let (mine, again) = (answer("a", "dry"), answer("a", "normal", seen: 2))
        queue.add(mine)
        queue.take(try refused(mine, "answer_conflict", current: Self.theirs))
        queue.add(again)
        #expect(queue.conflicts.isEmpty && queue.waiting == [again])
    }

    @Test("a conflict of a replaced answer shows the newer one")
    mutating func newerInConflict() throws {
        let (first, second) = (answer("a", "dry"), answer("a", "normal"))
        queue.add(first)
        queue.add(second)
        queue.take(try refused(first, "answer_conflict", current: Self.theirs))
        #expect(queue.waiting.isEmpty && queue.conflicts.map(\.mine) == [second])
    }

    @Test("a refused answer is shown until the next one")
    mutating func refusal() throws {
        let (first, second) = (answer("a", 1), answer("a", 2))
        queue.add(first)
        queue.take(try refused(first, "validation_failed"))
        #expect(queue.waiting.isEmpty && queue.refused.map(\.answer) == [first])
        queue.add(second)
        #expect(queue.refused.isEmpty && queue.waiting == [second])
    }

    @Test("a refused answer is dropped for a newer one")
    mutating func olderRefused() throws {
        let (first, second) = (answer("a", 1), answer("a", 2))
        for each in [first, second] { queue.add(each) }
        queue.take(try refused(first, "validation_failed"))
        #expect(queue.waiting == [second])
        queue.take(try saved(second, revision: 1))
        #expect(queue.refused.isEmpty)
    }

    @Test("a refused request is halved until its wrong write is found")
    mutating func halved() throws {
        let answers = (0..<3).map { answer("q\($0)", 1) }
        for each in answers { queue.add(each) }
        let problem = try WireJSON.decoder().decode(
            Problem.self, from: TransportAnswer.problem(422, "validation_failed").body)
        queue.take(.problem(problem), of: answers)
        #expect(queue.next() == [answers[0]])
        queue.take(.problem(problem), of: [answers[0]])
        #expect(queue.refused.map(\.answer) == [answers[0]])
        queue.take(try saved(answers[1], revision: 1))
        #expect(queue.limit == 2)
    }

    @Test("writes that are too large together go one after the other")
    mutating func large() {
        let answers = (0..<3).map { answer("q\($0)", .string(String(repeating: "x", count: 40_000))) }
        for each in answers { queue.add(each) }
        #expect(queue.next() == [answers[0]])
    }

    @Test("a closed version holds the queue", arguments: ["version_closed", "session_stopped", "not_found"])
    mutating func blocked(code: String) throws {
        let first = answer("a", 1)
        queue.add(first)
        let problem = try WireJSON.decoder().decode(Problem.self, from: TransportAnswer.problem(409, code).body)
        queue.take(.problem(problem), of: [first])
        #expect(queue.blocked?.rawValue == code && queue.next().isEmpty && queue.waiting == [first])
    }

    @Test("a stored queue reads back unchanged")
    mutating func stored() throws {
        let (first, second) = (answer("a", ["x", 1, 1.5]), answer("b", true))
        for each in [first, second] { queue.add(each) }
        queue.take(try saved(second, revision: 3))
        queue.take(try refused(first, "answer_conflict", current: Self.theirs))
        let item = try WireJSON.encoder().encode(queue)
        #expect(try WireJSON.decoder().decode(AnswerQueueContent.self, from: item) == queue)
    }
}
