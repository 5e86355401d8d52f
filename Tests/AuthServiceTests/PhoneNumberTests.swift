import Testing

@testable import AuthService

@Suite("phone numbers") struct PhoneNumberTests {
    @Test(
        "common spellings are one number",
        arguments: [
            ("+14155552671", "+14155552671"), ("+1 (415) 555-2671", "+14155552671"),
            ("001.415.555.2671", "+14155552671"), ("\u{ff0b}１ ４１５ ５５５ ２６７１", "+14155552671"),
            ("+١ ٤١٥ ٥٥٥ ٢٦٧١", "+14155552671"), ("\u{202a}+1\u{a0}415\u{2011}555\u{2013}2671\u{202c}", "+14155552671"),
            ("+1/415/555/2671", "+14155552671"), ("+46 (0)70 123 45 67", "+46701234567"),
            ("+46 070-123 45 67", "+46701234567"), ("+44 (0) 20 7946 0958", "+442079460958"),
            // The zero is part of these numbers.
            ("+39 06 698 12345", "+390669812345"), ("+225 07 07 07 07 07", "+2250707070707"),
            ("+242 06 612 3456", "+242066123456"),
            ("+7 912 345-67-89", "+79123456789"), ("+86 138 0013 8000", "+8613800138000"),
            ("+880 1712 345678", "+8801712345678"), ("+354 611 1234", "+3546111234"),
        ])
    func spellings(given: String, expected: String) {
        #expect(PhoneNumber(given)?.e164 == expected)
    }

    @Test("what is read is written so that it reads the same", arguments: ["+46 (0)701234567", "+39 06 69812345"])
    func canonical(given: String) throws {
        let number = try #require(PhoneNumber(given))
        #expect(PhoneNumber(number.e164) == number)
    }

    @Test(
        "what is no number that gets SMS",
        arguments: [
            "", "+", "00", "0", "abc", "4155552671", "(415) 555-2671", "+1 415 555 2671 ext 5", "+1 415 555 2671x5",
            "+1 415 555 2671;ext=5", "+1 415 555 2671 #5", "++14155552671", "1+4155552671", "+1+4155552671",
            "+1 415 555 267", "+1 415 555 26711", "+1 115 555 2671", "+1 015 555 2671", "+999 123456789",
            "+979 123 456 789", "+883 510 000 000", "+49 001 701234567", "+352 1234567890123", "+46 70 123 45 67\n",
            "+1415555267\u{00b9}", "+Ⅳ6701234567",
        ])
    func refused(given: String) {
        #expect(PhoneNumber(given) == nil)
    }

    @Test func showsNoMoreThanTheCodeAndFourDigits() {
        #expect(PhoneNumber("+14155552671")?.masked == "+1 (***) ***-2671")
        #expect(PhoneNumber("+46701234567")?.masked == "+46 (***) ***-4567")
        #expect(PhoneNumber("+3546111234")?.masked == "+354 (***) ***-1234")
    }
}
