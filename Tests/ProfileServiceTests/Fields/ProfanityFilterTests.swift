import Foundation
import JSONText
import Testing

@testable import ProfileService

@Suite("the profanity filter") struct ProfanityFilterTests {
    /// One case a line.
    private static func cases(_ name: String) throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Cases/\(name).txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func refusesEveryCaseThatIsToBeRefused() throws {
        let (filter, cases) = (try ProfanityFilter.shipped.get(), try Self.cases("refused"))
        #expect(Set(cases).count >= 300)
        #expect(cases.filter { !filter.refuses($0) } == [])
    }

    @Test func allowsEveryCaseThatIsToBeAllowed() throws {
        let (filter, cases) = (try ProfanityFilter.shipped.get(), try Self.cases("allowed"))
        #expect(Set(cases).count >= 300)
        #expect(cases.filter { filter.refuses($0) } == [])
    }

    @Test func theFilterMissesItsDocumentedCases() throws {
        let filter = try ProfanityFilter.shipped.get()
        #expect(["pen is", "s hit", "kcuf", "slut"].filter { filter.refuses($0) } == [])
    }

    @Test(
        "a long repetitive text is checked quickly", .timed,
        arguments: ["f*", "1", "a", "f u ", "fu", "d1l", "!", "vu", "uuuuc"])
    func patience(part: String) throws {
        let filter = try ProfanityFilter.shipped.get()
        let text = String(repeating: part, count: 4096 / part.count)
        let took = ContinuousClock().measure { _ = filter.refuses(text) }
        #expect(took < .seconds(20), .time("in a debug build, of a text as long as any may be"))
    }

    @Test(
        "a list that does not hold together is refused",
        arguments: ["[]", #"{"refused": ["f ck"], "allowed": []}"#, #"{"refused": ["ab"], "allowed": []}"#])
    func malformed(list: String) {
        #expect(throws: ProfanityFilter.Malformed.self) {
            try ProfanityFilter(lists: [Array(list.utf8)], lookAlikes: Array("{}".utf8))
        }
    }

    @Test func namesAndBiosAreFilteredAndPlacesAreNot() throws {
        func code(_ key: String, _ value: String) throws -> String? {
            let field = try #require(FieldCatalogue.shipped.field(key))
            do throws(FieldValidator.Refusal) {
                _ = try FieldValidator.canonical(.string(value), for: field)
                return nil
            } catch {
                return error.code
            }
        }
        for key in ["displayName", "firstName", "lastName", "bio"] {
            #expect(try code(key, "Fucker") == "profanity", "\(key)")
            #expect(try code(key, "Dick Cockburn") == nil, "\(key)")
        }
        #expect(try code("city", "Twatt") == nil)
    }
}
