import BusProtocol
import Foundation

/// An email address that a code can be sent to, in normalised form: NFC, with a domain in lower case.
///
/// The local part keeps its case, also for the look-up. RFC 5321 (section 2.4) leaves it to the receiving host whether
/// `Anna` and `anna` are one mailbox. Treating them as one could open a person's account to somebody else. For the same
/// reason dots and `+` suffixes stay. A person who signs in with another case gets a new account, never somebody
/// else's.
struct EmailAddress: Sendable, Equatable {
    /// In bytes, of the whole address (RFC 5321, section 4.5.3.1.3, without the angle brackets).
    static let longest = 254
    private static let longestLocalPart = 64
    private static let longestLabel = 63

    let text: String
    let domain: String

    /// - Parameter text: a local part without quotes and an ASCII domain of two labels or more. Space around it is
    ///   ignored. An international domain is written in its ASCII form (A-labels, `xn--…`), since two Unicode spellings
    ///   can look alike. Comments, quoted local parts and address literals are refused.
    init?(_ text: String) {
        let whole = text.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        guard whole.utf8.count <= Self.longest, let at = whole.lastIndex(of: "@") else { return nil }
        let (local, domain) = (whole[..<at], whole[whole.index(after: at)...])
        guard Self.isLocalPart(local), Self.isDomain(domain) else { return nil }
        self.domain = domain.lowercased()
        self.text = "\(local)@\(self.domain)"
    }

    /// As its owner recognises it: `a…@e…`.
    var masked: String { MaskedEmail(text)?.text ?? "…@\(domain.prefix(1))…" }

    /// The mailbox that the host probably delivers to, by which codes are counted. It ignores case, a `+` suffix and
    /// Unicode's compatible spellings, and at Gmail also dots. Two people may have the same mailbox. So it neither
    /// finds an account nor bars anybody, unless ``isOneMailbox``.
    var mailbox: String {
        let local = text.dropLast(domain.count + 1).prefix { $0 != "+" }.filter { $0 != "." || !isOneMailbox }
        let host = isOneMailbox ? "gmail.com" : domain
        return "\(String(local).precomposedStringWithCompatibilityMapping.lowercased())@\(host)"
    }

    /// Whether ``mailbox`` is one person's for certain. Gmail ignores case, dots and suffixes, and its two domains are one
    /// (https://support.google.com/mail/answer/7436150 and https://support.google.com/mail/answer/10313). Other hosts may
    /// tell `a.b` from `ab`.
    var isOneMailbox: Bool { domain == "gmail.com" || domain == "googlemail.com" }

    /// Whether a relay needs the extension SMTPUTF8 (RFC 6531) for the address.
    var isInternational: Bool { !text.utf8.allSatisfy { $0 < 0x80 } }

    /// A dot-atom (RFC 5322, section 3.2.3; RFC 6531 for other scripts).
    private static func isLocalPart(_ text: Substring) -> Bool {
        guard (1...longestLocalPart).contains(text.utf8.count) else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.unicodeScalars.allSatisfy(isAtomText)
        }
    }

    private static func isAtomText(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return isLetterOrDigit(scalar) || "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar) }
        // Invisible characters, separators and unassigned code points would make two addresses look alike.
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    private static func isDomain(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // A last label without a letter is an IPv4 address, or none.
        guard labels.count >= 2, labels.allSatisfy(isLabel) else { return false }
        return labels.last?.contains(where: \.isLetter) == true
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...longestLabel).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.unicodeScalars.allSatisfy { isLetterOrDigit($0) || $0 == "-" }
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}

extension EmailAddress {
    /// - Throws: ``BusError`` `validation_failed` with the field.
    init(_ text: String, field: String) throws(BusError) {
        guard let address = EmailAddress(text) else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [.init(field: field, code: "malformed", message: "Please enter a valid email address.")])
        }
        self = address
    }
}
