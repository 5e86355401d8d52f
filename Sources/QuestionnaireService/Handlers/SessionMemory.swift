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
    /// Bytes of the answers' values. A session of longer ones is read anew each time.
    private static let mostBytes = 65_536

    private var young: [Key: SessionAtHand] = [:]
    private var old: [Key: SessionAtHand] = [:]

    nonisolated init() {}

    func recall(_ questionnaire: String, of person: Identifier) -> SessionAtHand? {
        let key = Key(person: person, questionnaire: questionnaire)
        return young[key] ?? old[key]
    }

    /// - Parameter hand: as it is in the database, committed.
    func remember(_ hand: SessionAtHand, for questionnaire: String) {
        let key = Key(person: hand.person, questionnaire: questionnaire)
        guard hand.session.answersSize <= Self.mostBytes else {
            (young[key], old[key]) = (nil, nil)
            return
        }
        if young.count >= Self.most, young[key] == nil { age() }
        young[key] = hand
    }

    /// Forgets what nobody has looked at since the time before.
    func age() { (old, young) = (young, [:]) }

    /// Answers do not lie about, where no others come in their place: whoever was erased is out of memory in two minutes.
    func ageEachMinute() async throws {
        while true {
            try await Loop.sleep(for: .seconds(60))
            age()
        }
    }
}
