import BusProtocol
import Foundation

/// A plain text email in the form of RFC 5322 and MIME.
///
/// No header can carry another one: addresses have no control characters, and a text with any is encoded as a whole.
struct MailMessage: Sendable {
    /// The same at every attempt. It makes the Message-ID.
    let id: Identifier
    let sender: EmailAddress
    let senderName: String
    let recipient: EmailAddress
    let subject: String
    let body: String
    let date: Date

    private static let longestLine = 76

    /// The message after the command DATA: header, body and the final dot, with dot-stuffing (RFC 5321, section 4.5.2).
    var data: [UInt8] {
        let lines = header + [""] + Self.quotedPrintable(body)
        return Array((lines.map { $0.hasPrefix(".") ? ".\($0)" : $0 } + ["."]).map { "\($0)\r\n" }.joined().utf8)
    }

    private var header: [String] {
        [
            "From: \(Self.phrase(senderName)) <\(sender.text)>", "To: <\(recipient.text)>",
            "Subject: \(Self.isPrintable(subject) ? subject : Self.encodedWords(subject))",
            "Date: \(Self.stamp(date))", "Message-ID: <\(id)@\(sender.domain)>", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
            // Holiday notices do not answer it (RFC 3834).
            "Auto-Submitted: auto-generated",
        ]
    }

    private static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7e).contains($0) } }

    /// A display name: words of letters and digits as they are, all else encoded.
    private static func phrase(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || $0 == " ")
        }
        return isPlain ? name : encodedWords(name)
    }

    /// Words of RFC 2047, each at most 75 characters long and of whole characters.
    private static func encodedWords(_ text: String) -> String {
        var chunks = [""]
        for scalar in text.unicodeScalars {
            if chunks[chunks.count - 1].utf8.count + String(scalar).utf8.count > 45 { chunks.append("") }
            chunks[chunks.count - 1].unicodeScalars.append(scalar)
        }
        return chunks.map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }

    /// Source: RFC 2045, section 6.7.
    static func quotedPrintable(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            var lines = [""]
            let bytes = Array(line.utf8)
            for (place, byte) in bytes.enumerated() {
                let isSpaceInside = byte == 0x20 && place < bytes.count - 1
                let isPlain = isSpaceInside || (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "=")
                let token = isPlain ? String(UnicodeScalar(byte)) : "=" + hex(byte)
                // An equals sign at the end of a line says that the next one continues it.
                if lines[lines.count - 1].utf8.count + token.utf8.count > longestLine - 1 {
                    lines[lines.count - 1] += "="
                    lines.append("")
                }
                lines[lines.count - 1] += token
            }
            return lines
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0\(digits)" : digits
    }

    private static func stamp(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss +0000"
        return format.string(from: date)
    }
}
