import BusProtocol
import Cryptography
import Foundation
import JSONText

/// Seals dates in answers before they are stored, because they may be the birthday of the person or of a child.
///
/// A date is recognised by its form `YYYY-MM-DD`. The question does not matter, since another version may ask it
/// differently. The stored form is `{"sealed": base64}`, which no client's answer can have.
struct DateSealer: Sendable {
    private static let member = "sealed"
    /// The bytes of a digest that is not sealed.
    static let digestLength = 32

    private let sealer: Sealer
    private let digestSealer: Sealer
    /// Whether values are sealed when written. Sealed values are opened in any case.
    let isSealing: Bool

    /// - Parameter isSealing: `false` while replicas are running that cannot open sealed values.
    init(_ ring: KeyRing, isSealing: Bool = true) {
        (sealer, digestSealer) = (Sealer(ring, purpose: "answer-date"), Sealer(ring, purpose: "answer-digest"))
        self.isSealing = isSealing
    }

    /// Whether a value has the form of a date: eight digits and two hyphens. It need not be a day of the calendar,
    /// because PostgreSQL tests the same form.
    static func isDate(_ value: JSONValue?) -> Bool {
        guard case .string(let text)? = value, text.utf8.count == 10 else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return text.utf8.enumerated().allSatisfy { index, byte in
            index == 4 || index == 7 ? byte == UInt8(ascii: "-") : digits.contains(byte)
        }
    }

    /// The stored form of an answer's value. Only dates are sealed.
    func sealed(_ value: JSONValue, of person: Identifier) -> JSONValue {
        guard isSealing, Self.isDate(value), let text = value.stringValue else { return value }
        let bytes = sealer.seal(Array(text.utf8), associated: person.array)
        return [Self.member: .string(Data(bytes).base64EncodedString())]
    }

    /// Opens all sealed dates in a stored value.
    ///
    /// - Throws: ``SealError``.
    func opened(_ json: JSONValue, of person: Identifier) throws -> JSONValue {
        switch json {
        case .array(let entries): .array(try entries.map { try opened($0, of: person) })
        case .object(let members):
            if members.count == 1, let text = members[Self.member]?.stringValue {
                .string(String(decoding: try open(text, of: person), as: UTF8.self))
            } else {
                .object(try members.mapValues { try opened($0, of: person) })
            }
        default: json
        }
    }

    /// The stored form of a write's digest. The digest of a date is sealed, because somebody could try all dates until
    /// one matches.
    ///
    /// - Parameter value: the value that was written.
    func sealed(_ digest: [UInt8], with value: JSONValue?, of person: Identifier) -> [UInt8] {
        Self.isDate(value) ? sealed(digest, of: person) : digest
    }

    func sealed(_ digest: [UInt8], of person: Identifier) -> [UInt8] {
        isSealing ? digestSealer.seal(digest, associated: person.array) : digest
    }

    /// - Throws: ``SealError``.
    func opened(_ digest: [UInt8], of person: Identifier) throws -> [UInt8] {
        digest.count == Self.digestLength ? digest : try digestSealer.open(digest, associated: person.array)
    }

    private func open(_ text: String, of person: Identifier) throws -> [UInt8] {
        guard let bytes = Data(base64Encoded: text) else { throw SealError.cannotOpen }
        return try sealer.open(Array(bytes), associated: person.array)
    }
}
