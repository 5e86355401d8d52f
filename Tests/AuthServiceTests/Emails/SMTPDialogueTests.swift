import BusProtocol
import Foundation
import Testing

@testable import AuthService

@Suite("the client's side of SMTP") struct SMTPDialogueTests {
    private static func mail(to recipient: String = "anna@example.com", body: String = "Hej") throws -> MailMessage {
        MailMessage(
            id: .ordered(), sender: try #require(EmailAddress("no-reply@vestibule.example")), senderName: "Vestibule",
            recipient: try #require(EmailAddress(recipient)), subject: "Your code", body: body,
            date: Date(timeIntervalSince1970: 0))
    }

    /// What the client says to each reply, the message as "…".
    private static func talk(_ dialogue: SMTPDialogue, _ replies: [String]) -> [String] {
        var dialogue = dialogue
        return replies.map { reply in
            switch dialogue.take(Array(reply.utf8)) {
            case .send(let bytes):
                let text = String(decoding: bytes, as: UTF8.self)
                return text.contains("Message-ID") ? "…" : text
            case let step: return "\(step)"
            }
        }
    }

    @Test func aMessageIsAccepted() throws {
        let said = Self.talk(
            SMTPDialogue(try Self.mail(), login: nil),
            [
                "220-relay\r\n", "220 ready\r\n", "250-relay\r\n250-SIZE 100\r\n250 8BITMIME\r\n", "250 ok\r\n",
                "251 ok\r\n",
                "35", "4 go\r\n", "250 2.0.0 queued\r\n",
            ])
        #expect(
            said == [
                "wait", "EHLO vestibule.example\r\n", "MAIL FROM:<no-reply@vestibule.example>\r\n",
                "RCPT TO:<anna@example.com>\r\n", "DATA\r\n", "wait", "…", "taken",
            ])
    }

    @Test func aRelayThatWantsAUserGetsPlain() throws {
        let dialogue = SMTPDialogue(try Self.mail(), login: .init(user: "u", password: "p"))
        let said = Self.talk(dialogue, ["220 a\r\n", "250-a\r\n250 auth LOGIN PLAIN\r\n", "235 ok\r\n"])
        #expect(said[1...] == ["AUTH PLAIN AHUAcA==\r\n", "MAIL FROM:<no-reply@vestibule.example>\r\n"])
        #expect(Self.talk(dialogue, ["220 a\r\n", "250 a\r\n"]).last == "failed(\"no_auth_plain\")")
        #expect(
            Self.talk(dialogue, ["220 a\r\n", "250-a\r\n250 AUTH PLAIN\r\n", "535 no\r\n"]).last
                == "failed(\"smtp_535\")")
    }

    @Test func anInternationalAddressNeedsARelayWithSMTPUTF8() throws {
        let dialogue = SMTPDialogue(try Self.mail(to: "åsa@example.com"), login: nil)
        #expect(Self.talk(dialogue, ["220 a\r\n", "250 a\r\n"]).last == "failed(\"no_smtputf8\")")
        #expect(
            Self.talk(dialogue, ["220 a\r\n", "250-a\r\n250 SMTPUTF8\r\n", "250 ok\r\n"])[1...] == [
                "MAIL FROM:<no-reply@vestibule.example> SMTPUTF8\r\n", "RCPT TO:<åsa@example.com>\r\n",
            ])
    }

    @Test(
        "each refusal of a recipient has its error",
        arguments: [
            ("550 5.1.1 unknown", "noSuchMailbox"), ("550 unknown", "noSuchMailbox"),
            ("550 5.7.1 relaying denied", "failed(\"recipient_550\")"), ("554 no", "failed(\"recipient_554\")"),
            ("450 4.2.0 later", "failed(\"recipient_450\")"), ("421 closing", "failed(\"smtp_421\")"),
        ])
    func recipient(reply: String, step: String) throws {
        let said = Self.talk(
            SMTPDialogue(try Self.mail(), login: nil), ["220 a\r\n", "250 a\r\n", "250 ok\r\n", "\(reply)\r\n"])
        #expect(said.last == step)
    }

    @Test(
        "a relay that does not speak SMTP is left",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n", "22\r\n", "2200 a\n", "999 a\r\n", "220 a\r\n250 a\r\n",
            String(repeating: "2", count: 16_385), String(repeating: "220-a\r\n", count: 4000),
        ])
    func garbage(greeting: String) throws {
        let said = Self.talk(SMTPDialogue(try Self.mail(), login: nil), [greeting])
        #expect(["failed(\"answer_unreadable\")", "failed(\"answer_too_large\")"].contains(said[0]))
    }

    // MARK: The message

    private static func lines(_ mail: MailMessage) -> [String] {
        String(decoding: mail.data, as: UTF8.self).components(separatedBy: "\r\n")
    }

    @Test func aMessageHasItsHeader() throws {
        let mail = try Self.mail()
        #expect(
            Self.lines(mail) == [
                "From: Vestibule <no-reply@vestibule.example>", "To: <anna@example.com>", "Subject: Your code",
                "Date: Thu, 01 Jan 1970 00:00:00 +0000", "Message-ID: <\(mail.id)@vestibule.example>",
                "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: quoted-printable", "Auto-Submitted: auto-generated", "", "Hej", ".", "",
            ])
    }

    @Test(
        "no text makes a header of its own",
        arguments: [
            "Å\r\nBcc: b@example.com", "a\nBcc: b@example.com", "\r\n\r\nbody", "\" <b@example.com>,", "a\u{0}",
        ])
    func injection(text: String) throws {
        let mail = MailMessage(
            id: .ordered(), sender: try #require(EmailAddress("a@b.example")), senderName: text,
            recipient: try #require(EmailAddress("c@d.example")), subject: text, body: "x", date: Date())
        let header = Self.lines(mail).prefix { !$0.isEmpty }.filter { !$0.hasPrefix(" ") }
        let names = header.map { String($0.prefix { $0 != ":" }) }
        #expect(
            names == [
                "From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type",
                "Content-Transfer-Encoding", "Auto-Submitted",
            ])
        #expect(header[0].hasPrefix("From: =?utf-8?B?") && header[0].hasSuffix("<a@b.example>"))
        #expect(Self.lines(mail).allSatisfy { $0.count <= 78 })
    }

    @Test func aLineNeverEndsTheMessageEarly() throws {
        let lines = Self.lines(try Self.mail(body: ".\n..a\nb.\n"))
        #expect(lines.suffix(6) == ["..", "...a", "b.", "", ".", ""])
    }

    @Test func quotedPrintableKeepsEachByte() {
        #expect(MailMessage.quotedPrintable("a=b å ") == ["a=3Db =C3=A5=20"])
        let long = MailMessage.quotedPrintable(String(repeating: "å", count: 40))
        #expect(
            long.count == 4 && long.allSatisfy { $0.count <= 76 } && long.dropLast().allSatisfy { $0.hasSuffix("=") })
        #expect(
            long.map { $0.hasSuffix("=") ? String($0.dropLast()) : $0 }.joined()
                == String(repeating: "=C3=A5", count: 40))
    }
}
