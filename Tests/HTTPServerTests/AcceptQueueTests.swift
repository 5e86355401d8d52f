import Testing

@testable import HTTPServer

@Suite("the accept queue") struct AcceptQueueTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test func aCrowdFromOneAddressDelaysOnlyItself() {
        var acceptQueue = AcceptQueue()
        #expect(
            (1...5).map { acceptQueue.enter($0, from: "a", now: 0) } == [.connects, .connects, .waits, .waits, .waits])
        #expect(acceptQueue.enter(6, from: "b", now: 0) == .connects)
        #expect(acceptQueue.next(now: 1).isEmpty, "not in the same millisecond")
        #expect(acceptQueue.next(now: Self.millisecond).map(\.descriptor) == [3, 4])
        #expect(acceptQueue.enter(7, from: "a", now: 2 * Self.millisecond) == .waits, "behind who came before")
        #expect(acceptQueue.next(now: 2 * Self.millisecond).map(\.descriptor) == [5, 7])
        #expect(acceptQueue.enter(8, from: "a", now: 3 * Self.millisecond) == .connects)
        #expect(acceptQueue.count == 0)
    }

    @Test func givesThePlaceOfTheOldestToTheNewest() {
        var acceptQueue = AcceptQueue()
        for descriptor in 0..<Int32(AcceptQueue.mostOfAnAddress + 2) {
            #expect(acceptQueue.enter(descriptor, from: "a", now: 0) == (descriptor < 2 ? .connects : .waits))
        }
        #expect(acceptQueue.enter(999, from: "a", now: 0) == .replaces(2))
        #expect(acceptQueue.count == AcceptQueue.mostOfAnAddress)
        #expect(acceptQueue.empty().map(\.descriptor) == Array(3..<Int32(AcceptQueue.mostOfAnAddress + 2)) + [999])
        #expect(acceptQueue.count == 0 && acceptQueue.next(now: Self.millisecond).isEmpty)
    }

    @Test func isFullOfAFewAddresses() {
        var acceptQueue = AcceptQueue()
        for peer in ["a", "b"] {
            #expect(!acceptQueue.isFull)
            for descriptor in 0..<Int32(AcceptQueue.mostOfAnAddress + 2) {
                _ = acceptQueue.enter(descriptor, from: peer, now: 0)
            }
        }
        #expect(acceptQueue.isFull)
    }
}
