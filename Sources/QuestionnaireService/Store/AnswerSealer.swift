import BusProtocol
import Cryptography
import Foundation
import JSONText

/// Seals dates in answers, and all answers to sensitive questions, before they are stored.
///
/// A date may be the birthday of the person or of a child. The service recognises a date by its form `YYYY-MM-DD` in
/// any question, since another version may ask it differently. The stored form of both is `{"sealed": base64}`, which
/// no client's answer can have. The sealed bytes are the date, or the answer as JSON, which never has the form of a
/// date.
struct AnswerSealer: Sendable {
    private static let member = "sealed"
    /// The bytes of a digest that is not sealed.
    static let digestLength = 32

    private let sealer: Sealer
    private let digestSealer: Sealer
    /// Whether values are sealed when written. Sealed values are opened in any case.
    let isSealing: Bool
    /// Whether answers to sensitive questions are sealed when written, too.
    let isSealingHealth: Bool

    /// - Parameters:
    ///   - isSealing: `false` while replicas are running that cannot open sealed dates.
    ///   - isSealingHealth: `false` while replicas are running that cannot open other sealed answers.
    init(_ ring: KeyRing, isSealing: Bool = true, isSealingHealth: Bool = true) {
        (sealer, digestSealer) = (Sealer(ring, purpose: "answer-date"), Sealer(ring, purpose: "answer-digest"))
        (self.isSealing, self.isSealingHealth) = (isSealing, isSealingHealth)
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

    /// The stored form of an answer's value.
    ///
    /// - Parameter isSensitive: whether the question is sensitive. The answers to others are sealed if they are dates.
    func sealed(_ value: JSONValue, of person: Identifier, isSensitive: Bool) -> JSONValue {
        guard isSealed(value, isSensitive: isSensitive) else { return value }
        let plain = Self.isDate(value) ? Array((value.stringValue ?? "").utf8) : CanonicalJSON.bytes(of: value)
        let bytes = sealer.seal(plain, associated: person.array)
        return [Self.member: .string(Data(bytes).base64EncodedString())]
    }

    private func isSealed(_ value: JSONValue?, isSensitive: Bool) -> Bool {
        isSealing && Self.isDate(value) || isSealingHealth && isSensitive
    }

    /// Opens everything sealed in a stored value.
    ///
    /// - Throws: ``SealError``.
    func opened(_ json: JSONValue, of person: Identifier) throws -> JSONValue {
        switch json {
        case .array(let entries): .array(try entries.map { try opened($0, of: person) })
        case .object(let members):
            if members.count == 1, let text = members[Self.member]?.stringValue {
                try value(try open(text, of: person))
            } else {
                .object(try members.mapValues { try opened($0, of: person) })
            }
        default: json
        }
    }

    private func value(_ plain: [UInt8]) throws -> JSONValue {
        let text = JSONValue.string(String(decoding: plain, as: UTF8.self))
        return Self.isDate(text) ? text : try JSONValue.parse(plain)
    }

    /// The stored form of a write's digest. It is sealed with the value, because an attacker could try all dates or
    /// options until one matches.
    ///
    /// - Parameter value: the value that was written.
    func sealed(_ digest: [UInt8], with value: JSONValue?, of person: Identifier, isSensitive: Bool) -> [UInt8] {
        isSealed(value, isSensitive: isSensitive) ? sealed(digest, of: person) : digest
    }

    func sealed(_ digest: [UInt8], of person: Identifier) -> [UInt8] {
        digestSealer.seal(digest, associated: person.array)
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
