import BusProtocol
import Database
import EventLoop
import TestSupport
import Testing

@testable import ServiceRuntime

@Suite("parts of a service") struct ServicePartTests {
    /// Notes when it starts and stops.
    @Loop private final class Recorder: ServicePart {
        let name: String
        let book: Book
        init(_ name: String, in book: Book) { (self.name, self.book) = (name, book) }
        func run() async { book.entries.append("\(name) runs") }
        func stop() async { book.entries.append("\(name) stops") }
    }

    @Loop private final class Book {
        var entries: [String] = []
    }

    private struct Broken: Error {}

    private static func log(_ book: LogBook) -> Log {
        Log(service: .auth, instance: .ordered(), sink: { book.append($0) })
    }

    @Test func partsStartInOrderAndStopInReverse() async throws {
        try await Loop.spawn { try await Self.startAndStop() }.value
    }

    @Loop private static func startAndStop() async throws {
        let (book, group) = (Book(), ServiceGroup())
        for name in ["a", "b"] { group.start(Recorder(name, in: book)) }
        #expect(try await eventually { book.entries.count == 2 })
        await group.stop()
        group.start(Recorder("late", in: book))
        #expect(book.entries == ["a runs", "b runs", "b stops", "a stops"])
    }

    @Test func aRoundThatFailsIsLoggedAndRepeated() async throws {
        try await Loop.spawn { try await Self.fail() }.value
    }

    @Loop private static func fail() async throws {
        let (lines, book, group) = (LogBook(), Book(), ServiceGroup())
        let task = PeriodicTask("work", every: nil, log: log(lines)) {
            book.entries.append("round")
            switch book.entries.count {
            case 1: throw Broken()
            case 2: throw DatabaseError.unavailable
            default: break
            }
        }
        group.start(task)
        for rounds in 1...3 {
            #expect(try await eventually { book.entries.count == rounds })
            task.hurry()
        }
        await group.stop()
        #expect(book.entries.count == 3, "one round that succeeds is all")
        #expect(lines.text.contains(#""error":"Broken""#) && lines.text.split(separator: "\n").count == 1)
    }

    @Test func aTaskThatWaitsForItsNextRoundStopsAtOnce() async throws {
        try await Loop.spawn { try await Self.stopWhileItWaits() }.value
    }

    @Loop private static func stopWhileItWaits() async throws {
        let (book, group) = (Book(), ServiceGroup())
        group.start(PeriodicTask("work", every: .seconds(3600), log: log(LogBook())) { book.entries.append("round") })
        #expect(try await eventually { !book.entries.isEmpty })
        await group.stop()
        try await Loop.sleep(for: .milliseconds(20))
        #expect(book.entries == ["round"])
    }
}
