import Testing

@testable import Languages

@Suite("languages") struct LanguageTests {
    private let swedish = Language.named("sv")

    @Test(arguments: [
        ("There is nothing here.", "Det finns inget här."),
        ("Please wait 1 second before retrying", "Vänta 1 sekund innan du försöker igen"),
        ("Please wait 42 seconds before retrying", "Vänta 42 sekunder innan du försöker igen"),
        ("Please sign in again to unlink Google.", "Logga in igen för att koppla bort Google."),
        ("Must be from 3 to 5.", "Måste vara från 3 till 5."),
        ("Must be {feet, inches} in whole numbers.", "Måste vara {feet, inches} i heltal."),
        ("{id} in the path is not valid. Must be a UUID.", "{id} i adressen är inte giltigt. Måste vara ett UUID."),
        ("Please sign in. The request has no access token.", "Logga in. Begäran saknar åtkomsttoken."),
    ])
    func aSentenceIsTranslatedWithItsValues(english: String, expected: String) {
        #expect(swedish.translation(of: english) == expected)
        #expect(Language.english.translation(of: english) == english)
    }

    @Test(
        "a sentence of a later release stays as it is",
        arguments: ["Nobody has written this yet.", "", "{1}", "Please wait  before retrying"])
    func unknown(english: String) { #expect(swedish.translation(of: english) == english) }

    @Test func aSentenceIsWrittenInEachLanguage() {
        let act = Sentence("unlink \("Google")")
        let sentence: Sentence = "Please sign in again to \(act)."
        #expect(sentence.english == "Please sign in again to unlink Google.")
        #expect(sentence.text(in: swedish) == "Logga in igen för att koppla bort Google.")
    }

    /// A person's text may have what looks like a place for a value.
    @Test func valuesAreNotReadAsPlaces() {
        let sentence: Sentence = "\("{2}") is the only way into your account. Add a phone number first."
        #expect(sentence.text(in: swedish).hasPrefix("{2} är det enda sättet"))
    }

    @Test func anUnknownLanguageIsEnglish() {
        #expect(Language.named("xx").tag == "en" && Language.named(nil).tag == "en" && swedish.tag == "sv")
    }

    /// Each translated pattern is found by its own English text, and not another one.
    @Test func everySentenceIsFoundWithItsValues() {
        for (english, text) in Language.files.first(where: { $0.tag == "sv" })?.texts ?? [:] {
            let values = ["7", "8", "9"]
            let (sent, wanted) = (Language.fill(english, with: values), Language.fill(text, with: values))
            // In a sentence with another one, both are translated; and two values side by side are one.
            guard !english.contains("}{"), !english.hasSuffix("{1}"), english.first != "{" else { continue }
            #expect(swedish.translation(of: sent) == wanted, "\(english)")
        }
    }
}
