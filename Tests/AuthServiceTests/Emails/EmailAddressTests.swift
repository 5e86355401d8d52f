import Testing

@testable import AuthService

@Suite("email addresses") struct EmailAddressTests {
    @Test(
        "well-formed addresses are accepted",
        arguments: [
            ("anna@example.com", "anna@example.com"), (" anna@Example.COM\n", "anna@example.com"),
            ("Anna@example.com", "Anna@example.com"), ("a.b+c@example.com", "a.b+c@example.com"),
            ("o'neil=x@xn--bcher-kva.example", "o'neil=x@xn--bcher-kva.example"),
            // A letter and an accent are the letter with the accent.
            ("A\u{30a}sa@example.com", "Åsa@example.com"), ("анна@example.com", "анна@example.com"),
            ("a@1.se", "a@1.se"),
        ])
    func accepted(written: String, kept: String) throws {
        let address = try #require(EmailAddress(written))
        #expect(Array(address.text.utf8) == Array(kept.utf8))
    }

    @Test func differentLocalPartsAreDifferentAddresses() {
        let spellings = [
            "anna@example.com", "Anna@example.com", "an.na@example.com", "anna+x@example.com", "аnna@example.com",
        ]
        #expect(Set(spellings.compactMap { EmailAddress($0)?.text }).count == spellings.count)
    }

    @Test(
        "spellings of one mailbox are counted as one",
        arguments: [
            "Anna@example.com", "anna+x@example.com", "ANNA+a+b@Example.com",
            // Letters as wide as a Chinese sign.
            "\u{ff41}nna@example.com",
        ])
    func mailbox(spelling: String) { #expect(EmailAddress(spelling)?.mailbox == "anna@example.com") }

    @Test(
        "Gmail ignores dots, and no other host is known to",
        arguments: [
            ("a.n.na@gmail.com", true), ("Anna+x@googlemail.com", true), ("an.na@example.com", false),
            ("anna@gmail.com.example.org", false), ("anna+x@example.com", false),
        ])
    func isOneMailbox(spelling: String, isOne: Bool) {
        #expect(EmailAddress(spelling)?.isOneMailbox == isOne)
        #expect((EmailAddress(spelling)?.mailbox == "anna@gmail.com") == isOne)
    }

    @Test func otherMailboxesAreCountedApart() {
        let others = [
            "annа@example.com", "ann@example.com", "an.na@example.com", "anna@example.org", "+anna@example.com",
        ]
        #expect(Set((others + ["anna@example.com"]).compactMap { EmailAddress($0)?.mailbox }).count == 6)
    }

    @Test(
        "malformed addresses are refused",
        arguments: [
            "", "@", "anna", "anna@", "@example.com", "anna@example", "anna@.com", "anna@example..com",
            "anna@example.com.",
            "anna@-a.com", "anna@a-.com", "anna@exa_mple.com", "anna@bücher.example", "anna@example.com\u{3002}",
            "anna@192.0.2.1", "anna@[192.0.2.1]", "an na@example.com", ".anna@example.com", "anna.@example.com",
            "an..na@example.com", "\"anna\"@example.com", "anna(x)@example.com", "<anna@example.com>",
            "anna@example.com,b@example.com", "anna@b@example.com", "an\u{200b}na@example.com",
            "an\u{202e}na@example.com",
            "anna\r\nBcc: b@example.com", "anna\u{0}@example.com", "anna@example.com\r\nRCPT TO:<b@example.com>",
            "an\\na@example.com", "anna;b@example.com",
        ])
    func refused(text: String) { #expect(EmailAddress(text) == nil) }

    @Test func nothingIsLongerThanTheStandardAllows() {
        func address(local: Int, domain: Int) -> String {
            let labels = String(repeating: String(repeating: "d", count: 62) + ".", count: 4)
            return "\(String(repeating: "l", count: local))@\(labels.suffix(domain - 3))com"
        }
        #expect(EmailAddress(address(local: 64, domain: 189)) != nil)
        #expect(EmailAddress(address(local: 64, domain: 190)) == nil)
        #expect(EmailAddress(address(local: 65, domain: 20)) == nil)
        // Bytes count, not characters.
        #expect(EmailAddress(String(repeating: "å", count: 33) + "@example.com") == nil)
        #expect(EmailAddress("a@" + String(repeating: "d", count: 64) + ".com") == nil)
    }

    @Test func aMaskedAddressShowsNoMoreThanTheFirstLetters() {
        #expect(EmailAddress("anna@example.com")?.masked == "a…@e…")
        #expect(EmailAddress("_x@example.com")?.masked == "…@e…")
        #expect(EmailAddress("Åsa@example.com")?.masked == "…@e…")
    }
}
