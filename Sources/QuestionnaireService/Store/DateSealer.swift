import BusProtocol
import Cryptography
import Foundation
import JSONText

/// Keeps dates among answers from lying open in the database: they say when somebody was born, or their child.
///
/// A date is told by its form, `YYYY-MM-DD`, and not by its question, which another version may ask otherwise. In its place
/// stands `{"sealed": base64}`, which no answer from outside can be.
struct DateSealer: Sendable {
    private static let member = "sealed"
    /// Bytes of the digest of a write that is not sealed.
    static let digestLength = 32

    private let sealer: Sealer
    private let digestSealer: Sealer
    /// Whether what is written is sealed; what is read is opened in any case.
    let isSealing: Bool

    /// - Parameter isSealing: false while replicas are at work that do not know what is sealed.
    init(_ ring: KeyRing, isSealing: Bool = true) {
        (sealer, digestSealer) = (Sealer(ring, purpose: "answer-date"), Sealer(ring, purpose: "answer-digest"))
        self.isSealing = isSealing
    }

    /// Ten characters of digits with two hyphens, a day of the calendar or not: PostgreSQL finds the same ones.
    static func isDate(_ value: JSONValue?) -> Bool {
        guard case .string(let text)? = value, text.utf8.count == 10 else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return text.utf8.enumerated().allSatisfy { index, byte in
            index == 4 || index == 7 ? byte == UInt8(ascii: "-") : digits.contains(byte)
        }
    }

    /// An answer's value as it is written.
    func sealed(_ value: JSONValue, of person: Identifier) -> JSONValue {
        guard isSealing, Self.isDate(value), let text = value.stringValue else { return value }
        let bytes = sealer.seal(Array(text.utf8), associated: person.array)
        return [Self.member: .string(Data(bytes).base64EncodedString())]
    }

    /// What was read, with every date that is sealed in it.
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

    /// The digest of a write, by which somebody could try dates until one fits.
    ///
    /// - Parameter value: what was written.
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
