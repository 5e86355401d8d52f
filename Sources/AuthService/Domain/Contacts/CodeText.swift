import Languages
import ProcessRuntime

/// The text that brings a code.
///
/// Where the app has a host, its last line binds the code to it: `@example.com #123456`. A browser or phone then offers
/// the code on pages of this host only.
///
/// Source: "Origin-bound one-time codes delivered via SMS", WICG draft.
struct CodeText: Sendable {
    let appName: String
    /// The host of the app's pages, `APP_HOST`; `nil` if there is none.
    let appHost: String?
    /// The life of a code in seconds.
    let lifetime: Int64

    /// The most characters of an SMS in one part, each of seven bits (3GPP TS 23.038).
    static let longestSMS = 160

    /// - Throws: ``ConfigurationError`` if an SMS with the last line would need several parts.
    init(appName: String, appHost: String?, lifetime: Int64) throws(ConfigurationError) {
        (self.appName, self.lifetime) = (appName, lifetime)
        self.appHost = appHost?.lowercased()
        guard let host = self.appHost else { return }
        guard EmailAddress("a@\(host)") != nil else {
            throw ConfigurationError("APP_HOST must be a host name in ASCII, such as example.com, without a port")
        }
        for language in Language.all {
            // The longest act, without the sentences that can be left out.
            let act = Sentence("to complete the recovery of \(Sentence("the account ending \("0000")"))")
            let needed = Self.septets(of: text("000000", act.text(in: language), [], language))
            guard let needed, needed <= Self.longestSMS else {
                throw ConfigurationError(
                    "APP_NAME and APP_HOST must fit into an SMS together: characters of the GSM alphabet, \(Self.room) in all"
                )
            }
        }
    }

    /// The characters that `APP_NAME` and `APP_HOST` may have together.
    static let room = longestSMS - 83

    /// With a host, or where the name allows it, it has at most 160 characters of seven bits. Sentences that do not fit
    /// are left out.
    func sms(_ code: String, _ act: ChallengeAct, in language: Language = .english) -> String {
        // The ellipsis of a masked address is not in the alphabet. With it, a part would hold 70 characters.
        let words = act.words.text(in: language).replacing("…", with: "...")
        let texts = [[life, warning], [warning], []].map { text(code, words, $0, language) }
        let fitting = texts.first { Self.septets(of: $0).map { $0 <= Self.longestSMS } ?? false }
        return fitting ?? texts[appHost == nil ? 0 : 2]
    }

    func email(
        _ code: String, _ act: ChallengeAct, in language: Language = .english
    ) -> (subject: String, body: String) {
        // The code is not in the subject: relays log subjects, and locked screens show them.
        let subject: Sentence = "Your \(appName) code \(act.words)"
        return (
            subject.text(in: language), text(code, act.words.text(in: language), [life, warning], language)
        )
    }

    private let warning: Sentence = "Never share it."

    private var life: Sentence {
        // Rounded down, so that the text never promises more time than the code has.
        let minutes = lifetime / 60
        let span: Sentence =
            minutes == 0 ? "\(lifetime) seconds" : minutes == 1 ? Sentence("a minute") : "\(minutes) minutes"
        return "It is valid for \(span)."
    }

    private func text(_ code: String, _ words: String, _ sentences: [Sentence], _ language: Language) -> String {
        let first: Sentence = "\(code) is your \(appName) code \(words)."
        let text = ([first] + sentences).map { $0.text(in: language) }.joined(separator: " ")
        return text + (appHost.map { "\n@\($0) #\(code)" } ?? "")
    }

    /// The length of a text in the default alphabet of GSM; `nil` if it has other characters.
    static func septets(of text: String) -> Int? {
        var count = 0
        for character in text.unicodeScalars {
            if basic.contains(character) {
                count += 1
            } else if extended.contains(character) {
                count += 2
            } else {
                return nil
            }
        }
        return count
    }

    private static let basic = Set(
        """
        @£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿\
        abcdefghijklmnopqrstuvwxyzäöñüà
        """.unicodeScalars)
    /// Each takes two places.
    private static let extended = Set("\u{c}^{}\\[~]|€".unicodeScalars)
}
