import Foundation
import Testing

@testable import LanguageChecker

@Suite("the check of the languages") struct LanguageCheckerTests {
    private static let source = #"""
        // "This is a comment."
        let a = BusError(.gone, "This is \(name) of \(list(of: "A second text.")).")
        let b = Sentence("to sign in"), c = seconds.counted("second"), d = "key", e = "lower case text"
        let f = ErrorCode("forbidden", .denied, http: 403, "Forbidden"), g = "SELECT One FROM two", h = "“\(x)” is new"
        """#

    @Test func itFindsTheTextsThatPeopleRead() {
        var finder = TextFinder(Self.source)
        #expect(
            finder.texts() == [
                "A second text.", "This is {1} of {2}.", "to sign in", "1 second", "{1} seconds", "Forbidden",
                "“{1}” is new",
            ])
    }

    private func problem(_ english: String, _ texts: [String: String], spared: String = "", before: String = "") throws
        -> String?
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "languages-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (code, language) = (folder.appending(path: "Code.swift"), folder.appending(path: "sv.json"))
        let list = folder.appending(path: "english-only.txt")
        try "\(before)let a = \"\(english)\"\n".write(to: code, atomically: true, encoding: .utf8)
        try JSONEncoder().encode(texts).write(to: language)
        try spared.write(to: list, atomically: true, encoding: .utf8)
        do {
            try LanguageChecker.check(
                [folder.appending(path: "out.swift"), folder, list, language, code].map(\.path))
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func aMissingTextIsRefused() throws {
        #expect(try problem("There is no cat.", [:]) == "Code.swift: sv.json lacks “There is no cat.”")
        #expect(try problem("There is no cat.", ["There is no cat.": "Det finns ingen katt."]) == nil)
        #expect(try problem("There is no cat.", [:], spared: "Code.swift\n") == nil)
        #expect(try problem("There is no cat.", [:], spared: "There is no cat.\n") == nil)
        #expect(try problem("There is no cat.", [:], spared: "*de.swift\n") == nil)
        #expect(try problem("There is no cat.", [:], before: "// English only: vets read it.\n") == nil)
    }

    @Test func anUnusedTextIsRefused() throws {
        #expect(try problem("key", ["There is no cat.": "Det finns ingen katt."])?.contains("nothing says") == true)
        #expect(try problem("key", [:], spared: "Gone.swift\n")?.contains("nothing is") == true)
    }

    @Test func aTranslationHasTheSameValues() throws {
        let refused = try problem("There are \\(n) cats.", ["There are {1} cats.": "Det finns katter."])
        #expect(refused?.contains("the values of") == true)
        #expect(try problem("From \\(a) to \\(b).", ["From {1} to {2}.": "Till {2} från {1}."]) == nil)
    }
}
