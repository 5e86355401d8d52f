import Languages
import ProcessRuntime
import Testing

@testable import AuthService

@Suite("the text of a code") struct CodeTextTests {
    private func text(_ name: String = "Vestibule", host: String? = nil) throws -> CodeText {
        try CodeText(appName: name, appHost: host, lifetime: 300)
    }

    @Test func itsLastLineBindsItToTheHost() throws {
        let bound = "\n@example.com #042917"
        let sms = try text(host: "Example.com").sms("042917", .signIn)
        #expect(
            sms == "042917 is your Vestibule code to sign in. It is valid for 5 minutes. Never share it.\(bound)")
        let (subject, body) = try text(host: "example.com").email("042917", .signInByEmail)
        #expect(body.hasSuffix(bound) && !subject.contains("042917"))
        #expect(try !text().sms("042917", .signIn).contains("@"))
    }

    /// A sentence goes before the code, the act or the last line do.
    @Test func anSMSIsOnePart() throws {
        let number = Contact.phone(try #require(PhoneNumber("+14155552671")))
        let address = Contact.email(try #require(EmailAddress("anna@example.com")))
        let acts: [ChallengeAct] = [
            .signIn, .recover(nil, nil, by: .phone), .recover(number, nil, by: .phone),
            .recover(number, .ordered(), by: .phone), .recover(address, .ordered(), by: .phone),
            .changePhone(.ordered()),
            .link([], .google, MaskedEmail("anna@example.com")), .undoPhoneChange,
        ]
        for (name, host) in [("Vestibule", "app.vestibule.example"), (String(repeating: "n", count: 40), "a.example")] {
            for (act, language) in acts.flatMap({ act in Language.all.map { (act, $0) } }) {
                let sms = try text(name, host: host).sms("042917", act, in: language)
                let septets = try #require(CodeText.septets(of: sms))
                #expect(septets <= 160 && sms.hasSuffix("\n@\(host) #042917"))
                let first: Sentence = "\("042917") is your \(name) code \(act.words)."
                #expect(sms.hasPrefix(first.text(in: language).replacing("…", with: "...")))
            }
        }
        let long = try text(String(repeating: "n", count: 40), host: "a.example")
        #expect(long.sms("042917", .recover(number, .ordered(), by: .phone)).contains("Never share it.\n"))
    }

    /// A text in another language must not take more room than the English one, or a name that fits today would not.
    @Test("the longest name and host of English fit in each language") func room() throws {
        let name = String(repeating: "n", count: CodeText.room - "a.example".utf8.count)
        #expect(throws: Never.self) { try text(name, host: "a.example") }
        #expect(throws: ConfigurationError.self) { try text(name + "n", host: "a.example") }
    }

    @Test func swedishSaysTheSame() throws {
        let swedish = Language.named("sv")
        #expect(
            try text(host: "example.com").sms("042917", .signIn, in: swedish)
                == "042917 är din Vestibule-kod för att logga in. Den gäller i 5 minuter. Lämna aldrig ut den.\n@example.com #042917"
        )
        let (subject, body) = try text().email("042917", .signInByEmail, in: swedish)
        #expect(subject == "Din Vestibule-kod för att logga in" && body.hasPrefix("042917 är din Vestibule-kod"))
    }

    @Test func septetsAreThoseOfGSM() {
        #expect(CodeText.septets(of: "aå@Δ\n") == 5)
        #expect(CodeText.septets(of: "{€}") == 6)
        #expect(CodeText.septets(of: "a…") == nil && CodeText.septets(of: "ł") == nil)
    }

    @Test(
        "a name and a host that make no SMS are refused at the start",
        arguments: [
            ("Łódź", "a.example"), (String(repeating: "n", count: 70), "a.example"), ("V", "https://a.example"),
            ("V", "a.example:8080"), ("V", "localhost"),
        ])
    func refused(name: String, host: String) { #expect(throws: ConfigurationError.self) { try text(name, host: host) } }

    @Test func aNameOutsideTheAlphabetIsKeptWithoutAHost() throws {
        #expect(try text("Łódź").sms("042917", .signIn).contains("Łódź"))
    }
}
