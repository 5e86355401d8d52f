import BusProtocol
import EventLoop

/// Sessions as this replica last read or left them, each person's newest of a questionnaire, so that PostgreSQL sends the
/// answers again only where they changed. Two generations bound it: when the young one is full, the old one is forgotten.
///
/// Nothing is shown or judged by what is kept alone: PostgreSQL is asked each time, and by the session's revision it says
/// whether what is kept is still so. What a transaction has read that may yet be rolled back is never kept: its revision comes
/// again, with other answers.
@Loop final class SessionMemory {
    private struct Key: Hashable {
        let person: Identifier
        let questionnaire: String
    }

    /// Sessions of a generation.
    private static let most = 256
    /// Bytes of a generation, about. A session that is kept again counts again: it is full sooner then, never later.
    private static let mostBytes = 32 << 20

    private var young: [Key: LoadedSession] = [:]
    private var old: [Key: LoadedSession] = [:]
    /// Bytes of the young generation, about.
    private var size = 0

    nonisolated init() {}

    func recall(_ questionnaire: String, of person: Identifier) -> LoadedSession? {
        let key = Key(person: person, questionnaire: questionnaire)
        return young[key] ?? old[key]
    }

    /// - Parameter hand: as it is in the database, committed.
    func remember(_ hand: LoadedSession, for questionnaire: String) {
        var hand = hand
        // What was asked for by one request is of no use to the next.
        hand.session.mutations = []
        let key = Key(person: hand.person, questionnaire: questionnaire)
        if size >= Self.mostBytes || young.count >= Self.most && young[key] == nil { age() }
        young[key] = hand
        size += hand.session.size
    }

    /// Forgets what nobody has looked at since the time before.
    func age() { (old, young, size) = (young, [:], 0) }
}
