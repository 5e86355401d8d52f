import BusProtocol
import Database
import EventLoop

/// Notes on the decisions that staff and operators made about a person.
@Loop enum StaffNoteStore {
    /// - Parameters:
    ///   - sealed: the sealed note.
    ///   - staff: the pseudonym of the member of staff, or the operator's name.
    static func insert(
        _ sealed: [UInt8], of person: Identifier, act: String, by staff: String, in transaction: Transaction
    ) {
        transaction.send(
            insert, [.uuid(.ordered()), .uuid(person), .text(act), .text(staff), .bytes(sealed)])
    }

    private static let insert: Statement = """
        INSERT INTO staff_notes (id, person_id, act, staff, note_sealed) VALUES ($1, $2, $3, $4, $5)
        """
}
