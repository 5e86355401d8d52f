import Documents
import Testing

@Suite("forms of keys") struct KeyFormTests {
    @Test(
        arguments: [
            ("twoWords", [.camel]), ("two-words", [.kebab]), ("two_words", [.snake]),
            ("word2", [.camel, .kebab, .snake]),
            ("", []), ("Word", []), ("2words", []), ("two--words", []), ("-two", []), ("two_", []), ("två", []),
            ("two words", []), ("twoWords-", []),
        ] as [(String, [KeyForm])])
    func fits(key: String, forms: [KeyForm]) {
        #expect([.camel, .kebab, .snake].filter { $0.fits(key) } == forms)
    }
}
