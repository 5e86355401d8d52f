import BusProtocol
import EventLoop
import Foundation
import ProviderHTTP
import TestSupport
import Testing

@testable import AuthService

@Suite("the relay for emails") struct SMTPProviderTests {
    private static let email = OutgoingMessage(
        id: .ordered(), to: "anna@example.com", subject: "Your code", body: "042917 är din kod.\n@example.com #042917")

    private static func provider(port: Int, login: SMTPDialogue.Login? = nil) throws -> SMTPProvider {
        SMTPProvider(
            host: "localhost", port: port, sender: try #require(EmailAddress("no-reply@vestibule.example")),
            senderName: "Vestibule", login: login)
    }

    @Test func anEmailArrivesAsItWasWritten() async throws {
        let server = try SMTPServer()
        let provider = try Self.provider(port: server.port, login: .init(user: "u", password: "p"))
        try await provider.send(Self.email, within: .seconds(5))
        #expect(try await eventually { server.deliveries.count == 1 })
        let delivery = try #require(server.deliveries.first)
        #expect(
            delivery.commands == [
                "EHLO vestibule.example", "AUTH PLAIN AHUAcA==", "MAIL FROM:<no-reply@vestibule.example>",
                "RCPT TO:<anna@example.com>", "DATA", "QUIT",
            ])
        let message = try #require(delivery.message)
        #expect(message.contains("Message-ID: <\(Self.email.id)@vestibule.example>\n"))
        #expect(message.hasSuffix("\n\n042917 =C3=A4r din kod.\n@example.com #042917"))
        server.stop()
    }

    @Test(
        "each refusal of a relay has its error",
        arguments: [
            (["CONNECT": "554 no"], MessageError.notTaken(host: "localhost", ProviderFailure("smtp_554"))),
            (["MAIL": "451 later"], .notTaken(host: "localhost", ProviderFailure("smtp_451"))),
            (["RCPT": "550 5.1.1 nobody"], .unusableContact),
            (["DATA": "452 full"], .notTaken(host: "localhost", ProviderFailure("smtp_452"))),
            ([".": "552 too large"], .notTaken(host: "localhost", ProviderFailure("smtp_552"))),
            (["EHLO": ""], .notTaken(host: "localhost", .noAnswer)),
        ])
    func refusals(replies: [String: String], error: MessageError) async throws {
        let server = try SMTPServer(replies: replies)
        let provider = try Self.provider(port: server.port)
        let limit = replies["EHLO"] == nil ? Duration.seconds(5) : .milliseconds(50)
        await #expect(throws: error) { try await provider.send(Self.email, within: limit) }
        server.stop()
    }

    @Test func aRelayThatDoesNotListenIsDown() async throws {
        let server = try SMTPServer()
        server.stop()
        let provider = try Self.provider(port: server.port)
        #expect(
            try await eventually {
                let error = await #expect(throws: MessageError.self) {
                    try await provider.send(Self.email, within: .seconds(5))
                }
                return error == .notTaken(host: "localhost", .connectionRefused)
            })
        let nowhere = SMTPProvider(
            host: "relay.invalid", port: 25, sender: provider.sender, senderName: "V", login: nil)
        await #expect(throws: MessageError.notTaken(host: "relay.invalid", ProviderFailure("host_not_found"))) {
            try await nowhere.send(Self.email, within: .seconds(5))
        }
    }

    /// A socket does not take a megabyte at once. The loop must not block meanwhile.
    @Test func aLongMessageLeavesInPieces() async throws {
        let server = try SMTPServer()
        var email = Self.email
        email.body = String(repeating: "åäö\n", count: 60_000)
        try await Self.provider(port: server.port).send(email, within: .seconds(5))
        #expect(server.messages.first?.hasSuffix("=C3=A5=C3=A4=C3=B6\n") == true)
        server.stop()
    }

    /// Otherwise anybody could keep all others out by an address that the relay refuses.
    @Test func aRefusedRecipientDoesNotMakeTheRelayLookDown() async throws {
        let server = try SMTPServer(replies: ["RCPT": "450 4.2.0 later"])
        let variables = [
            "EMAIL_PROVIDER": "smtp", "EMAIL_SMTP_RELAY": "127.0.0.1:\(server.port)",
            "EMAIL_SMTP_FROM": "no-reply@vestibule.example", "APP_HOST": "vestibule.example",
        ]
        try await AuthStage.run(environment: variables) { auth in
            _ = try await auth.ask(SendEmailCode(email: "nobody@example.com"))
            let isRefusedOften = try await eventually {
                auth.stage.log.text.components(separatedBy: "recipient_450").count > ProviderHealth.failuresToBeDown + 1
            }
            #expect(isRefusedOften)
            server.reply(to: "RCPT", nil)
            let sent = try await auth.ask(SendEmailCode(email: "anna@example.com")).challengeId
            #expect(
                try await eventually { try await auth.ask(GetCodeDelivery(challengeId: sent)).delivery == "sent" })
        }
        server.stop()
    }

    @Test(arguments: [400, 410, 422])
    func anAddressThatTheWebhookRefusesDoesNotMakeItLookDown(_ status: Int) async throws {
        let server = try await ProviderServer(.answers(status: status, body: ""))
        let variables = await [
            "EMAIL_PROVIDER": "webhook", "EMAIL_WEBHOOK_URL": server.url,
            "EMAIL_WEBHOOK_KEY": String(repeating: "k", count: 32),
        ]
        try await AuthStage.run(environment: variables) { auth in
            _ = try await auth.ask(SendEmailCode(email: "nobody@example.com"))
            let isRefusedOften = try await eventually {
                auth.stage.log.text.components(separatedBy: "http_\(status)").count
                    > ProviderHealth.failuresToBeDown + 1
            }
            #expect(isRefusedOften)
            _ = try await auth.ask(SendEmailCode(email: "anna@example.com"))
        }
        await server.stop()
    }

    @Test func aCodeSentThroughTheRelayIsReportedAsSent() async throws {
        let server = try SMTPServer(replies: ["RCPT": "450 4.2.0 later"])
        let variables = [
            "EMAIL_PROVIDER": "smtp", "EMAIL_SMTP_RELAY": "127.0.0.1:\(server.port)",
            "EMAIL_SMTP_FROM": "no-reply@vestibule.example", "APP_HOST": "vestibule.example",
        ]
        try await AuthStage.run(environment: variables) { auth in
            let sent = try await auth.ask(SendEmailCode(email: "anna@example.com")).challengeId
            #expect(try await eventually { auth.stage.log.text.contains("recipient_450") })
            server.reply(to: "RCPT", nil)
            #expect(
                try await eventually { try await auth.ask(GetCodeDelivery(challengeId: sent)).delivery == "sent" })
            let message = try #require(server.messages.first)
            // Relays log the Message-ID, and only the caller who asked for the code knows its challenge.
            #expect(message.contains("\nMessage-ID: <") && !message.contains(sent.description))
            let last = try #require(message.split(separator: "\n").last)
            let code = try #require(last.split(separator: "#").last.map(String.init))
            #expect(last == "@vestibule.example #\(code)")
            let session = try await auth.session(
                VerifyEmailCode(challengeId: sent, code: code, device: AuthStage.device, app: SignInRulesOfTests.free))
            #expect(session.isNewUser)
            #expect(!auth.stage.log.text.contains("anna") && !auth.stage.log.text.contains(code))
            // The mailbox does not exist. So the code fails at once, and another may be requested.
            server.reply(to: "RCPT", "550 5.1.1 unknown")
            let lost = try await auth.ask(SendEmailCode(email: "nobody@example.com")).challengeId
            #expect(
                try await eventually { try await auth.ask(GetCodeDelivery(challengeId: lost)).delivery == "failed" })
            #expect(auth.stage.log.text.contains("email_given_up"))
        }
        server.stop()
    }
}
