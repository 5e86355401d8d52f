import Testing

@testable import HTTPServer

@Suite("the lobby") struct LobbyTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test func keepsACrowdBehindItselfAndNobodyElse() {
        var lobby = Lobby()
        #expect((1...5).map { lobby.enter($0, from: "a", now: 0) } == [.connects, .connects, .waits, .waits, .waits])
        #expect(lobby.enter(6, from: "b", now: 0) == .connects)
        #expect(lobby.next(now: 1).isEmpty, "not in the same millisecond")
        #expect(lobby.next(now: Self.millisecond).map(\.descriptor) == [3, 4])
        #expect(lobby.enter(7, from: "a", now: 2 * Self.millisecond) == .waits, "behind who came before")
        #expect(lobby.next(now: 2 * Self.millisecond).map(\.descriptor) == [5, 7])
        #expect(lobby.enter(8, from: "a", now: 3 * Self.millisecond) == .connects)
        #expect(lobby.count == 0)
    }

    @Test func givesThePlaceOfTheOldestToTheNewest() {
        var lobby = Lobby()
        for descriptor in 0..<Int32(Lobby.mostOfAnAddress + 2) {
            #expect(lobby.enter(descriptor, from: "a", now: 0) == (descriptor < 2 ? .connects : .waits))
        }
        #expect(lobby.enter(999, from: "a", now: 0) == .replaces(2))
        #expect(lobby.count == Lobby.mostOfAnAddress)
        #expect(lobby.empty().map(\.descriptor) == Array(3..<Int32(Lobby.mostOfAnAddress + 2)) + [999])
        #expect(lobby.count == 0 && lobby.next(now: Self.millisecond).isEmpty)
    }

    @Test func isFullOfAFewAddresses() {
        var lobby = Lobby()
        for peer in ["a", "b"] {
            #expect(!lobby.isFull)
            for descriptor in 0..<Int32(Lobby.mostOfAnAddress + 2) { _ = lobby.enter(descriptor, from: peer, now: 0) }
        }
        #expect(lobby.isFull)
    }
}
