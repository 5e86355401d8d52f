import BusProtocol
import EventLoop

/// Keeps the sessions that this replica read or wrote last, one per person and questionnaire. PostgreSQL then sends
/// answers only if they changed. Two generations limit the memory: when the young one is full, the old one is dropped.
///
/// PostgreSQL is still asked each time. The session's revision shows whether the kept answers are current. A session
/// that was read in a transaction is never kept, because after a rollback its revision is used again with other
/// answers.
@Loop final class QuestionnaireSessionMemory {
    private struct Key: Hashable {
        let person: Identifier
        let questionnaire: String
    }

    /// The most sessions in a generation.
    private static let most = 256
    /// The most bytes in a generation, approximately. A session that is kept again counts again. So a generation is
    /// full too early at worst, never too late.
    private static let mostBytes = 32 << 20

    private var young: [Key: LoadedQuestionnaireSession] = [:]
    private var old: [Key: LoadedQuestionnaireSession] = [:]
    /// The approximate bytes in the young generation.
    private var size = 0

    nonisolated init() {}

    func recall(_ questionnaire: String, of person: Identifier) -> LoadedQuestionnaireSession? {
        let key = Key(person: person, questionnaire: questionnaire)
        return young[key] ?? old[key]
    }

    /// - Parameter hand: the session as committed.
    func remember(_ hand: LoadedQuestionnaireSession, for questionnaire: String) {
        var hand = hand
        // The mutations that one request loaded are of no use to the next.
        hand.session.mutations = []
        let key = Key(person: hand.person, questionnaire: questionnaire)
        if size >= Self.mostBytes || young.count >= Self.most && young[key] == nil { age() }
        young[key] = hand
        size += hand.session.size
    }

    /// Drops the sessions that no request has used since the previous call.
    func age() { (old, young, size) = (young, [:], 0) }
}
