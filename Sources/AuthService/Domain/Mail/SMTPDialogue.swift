import Foundation

/// The client's side of one delivery by SMTP (RFC 5321): the relay's bytes in, what to do next out.
///
/// It has no socket and no clock. No outcome repeats what the relay wrote, which may name the recipient.
struct SMTPDialogue: Sendable {
    /// How the client authenticates (AUTH PLAIN, RFC 4616).
    struct Login: Sendable, Equatable {
        let user: String
        let password: String
    }

    enum Step: Sendable, Equatable {
        /// Wait for more bytes of the relay.
        case wait
        case send([UInt8])
        /// The relay has accepted the message.
        case taken
        /// The relay says that there is no such mailbox.
        case noSuchMailbox
        /// The attempt failed, for example with `smtp_450`.
        case failed(String)
    }

    /// The reply that the client waits for: to the connection, or to its last command.
    private enum Stage { case greeting, hello, login, sender, recipient, data, message, over }

    /// The most bytes of one reply. RFC 5321 gives a line 512.
    static let longestReply = 16_384

    private let mail: MailMessage
    private let login: Login?
    private var stage = Stage.greeting
    /// Bytes of the relay that make no whole line yet.
    private var rest: [UInt8] = []
    /// The lines of the present reply.
    private var lines: [String] = []
    private var replyBytes = 0

    init(_ mail: MailMessage, login: Login?) { (self.mail, self.login) = (mail, login) }

    mutating func take(_ bytes: [UInt8]) -> Step {
        rest += bytes
        while stage != .over, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: ["\r"])
            rest.removeFirst(end + 1)
            lines.append(line)
            replyBytes += end + 1
            let mark = line.dropFirst(3).first ?? " "
            guard let code = Int(line.prefix(3)), (200...599).contains(code), mark == " " || mark == "-" else {
                return finish(.failed("answer_unreadable"))
            }
            guard replyBytes <= Self.longestReply else { return finish(.failed("answer_too_large")) }
            // A dash after the code says that more lines of this reply follow.
            if mark == "-" { continue }
            let reply = lines
            (lines, replyBytes) = ([], 0)
            let step = next(code, reply)
            // A relay speaks only when it is asked. Bytes behind a reply would answer commands that were not sent. After
            // the message it may say that it closes.
            guard rest.isEmpty || stage == .over else { return finish(.failed("answer_unreadable")) }
            return step
        }
        guard replyBytes + rest.count <= Self.longestReply else { return finish(.failed("answer_too_large")) }
        return .wait
    }

    private mutating func next(_ code: Int, _ lines: [String]) -> Step {
        switch (stage, code) {
        case (.greeting, 220): return go(to: .hello, "EHLO \(mail.sender.domain)")
        case (.hello, 250): return afterHello(Self.capabilities(lines))
        case (.login, 235): return go(to: .sender, mailFrom)
        case (.sender, 250): return go(to: .recipient, "RCPT TO:<\(mail.recipient.text)>")
        case (.recipient, 250), (.recipient, 251): return go(to: .data, "DATA")
        case (.recipient, 500...599) where Self.isAboutMailbox(code, lines[0]): return finish(.noSuchMailbox)
        case (.data, 354):
            stage = .message
            return .send(mail.data)
        case (.message, 250): return finish(.taken)
        // 421 says that the relay closes the connection. It says nothing about the recipient.
        case (.recipient, 421): return finish(.failed("smtp_421"))
        case (.recipient, _): return finish(.failed("recipient_\(code)"))
        default: return finish(.failed("smtp_\(code)"))
        }
    }

    private mutating func afterHello(_ capabilities: [[String]]) -> Step {
        if mail.recipient.isInternational, !capabilities.contains(["SMTPUTF8"]) {
            return finish(.failed("no_smtputf8"))
        }
        guard let login else { return go(to: .sender, mailFrom) }
        guard capabilities.contains(where: { $0.first == "AUTH" && $0.contains("PLAIN") }) else {
            return finish(.failed("no_auth_plain"))
        }
        let proof = Data("\0\(login.user)\0\(login.password)".utf8).base64EncodedString()
        return go(to: .login, "AUTH PLAIN \(proof)")
    }

    private var mailFrom: String {
        "MAIL FROM:<\(mail.sender.text)>\(mail.recipient.isInternational ? " SMTPUTF8" : "")"
    }

    private mutating func go(to stage: Stage, _ command: String) -> Step {
        self.stage = stage
        return .send(Array("\(command)\r\n".utf8))
    }

    private mutating func finish(_ step: Step) -> Step {
        stage = .over
        return step
    }

    private static func capabilities(_ lines: [String]) -> [[String]] {
        lines.dropFirst().map { $0.dropFirst(4).uppercased().split(separator: " ").map(String.init) }
    }

    /// Whether a refusal of the recipient is about the address, and not about the relay's rules.
    ///
    /// Source: RFC 3463, whose codes X.1.X are about addresses. A relay without such codes uses 550, 551 and 553.
    private static func isAboutMailbox(_ code: Int, _ line: String) -> Bool {
        let enhanced = line.dropFirst(4).prefix { $0 != " " }.split(separator: ".").compactMap { Int($0) }
        return enhanced.count == 3 ? enhanced[0] == 5 && enhanced[1] == 1 : [550, 551, 553].contains(code)
    }
}
