import Foundation
import Testing

@testable import AuthService

/// Holds ``PhoneNumber`` against what the package `phonenumbers` says of many numbers; `scripts/numbering` wrote it down.
@Suite("phone numbers, beside libphonenumber") struct PhoneAgreementTests {
    /// A spelling, with the region and the E.164 form that are expected. Both are missing if the number gets no SMS.
    private struct Verdict {
        let spelling: Substring
        let expected: Substring

        var isMet: Bool {
            let number = PhoneNumber(String(spelling))
            return expected == (number.map { "\($0.region) \($0.e164)" } ?? "-")
        }
    }

    /// `VESTIBULE_PHONE_SAMPLE` names another file of that kind.
    private static func sample() throws -> (source: Substring, verdicts: [Verdict]) {
        let committed = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Numbers/sample.txt")
        let given = ProcessInfo.processInfo.environment["VESTIBULE_PHONE_SAMPLE"].map { URL(filePath: $0) }
        let lines = try String(contentsOf: given ?? committed, encoding: .utf8).split(separator: "\n")
        return (
            lines[0],
            lines.dropFirst().map { line in
                let columns = line.split(separator: "\t")
                return Verdict(spelling: columns[0], expected: columns[1])
            }
        )
    }

    @Test func thePackageAndWeAgree() throws {
        let (source, verdicts) = try Self.sample()
        #expect(
            source.hasPrefix("# \(NumberingPlan.current.source),"), "the sample is of another release than the table")
        let taken = verdicts.filter { $0.expected != "-" }
        let apart = verdicts.filter { !$0.isMet }
        let share = 1 - Double(apart.count) / Double(verdicts.count)
        print(
            """
            \(NumberingPlan.current.source) and PhoneNumber agree about \(verdicts.count - apart.count) of \(verdicts.count) \
            numbers (\(String(format: "%.3f", share * 100)) %), \(taken.count) of which get an SMS
            """)
        #expect(verdicts.count >= 20_000 && taken.count >= 10_000)
        #expect(share >= 0.999, "\(apart.prefix(20).map { "\($0.spelling): not \($0.expected)" })")
    }

    @Test func everyCountryIsInTheSample() throws {
        let seen = try Set(Self.sample().verdicts.map { String($0.expected.prefix(2)) }).subtracting(["-"])
        let regions = NumberingPlan.current.regions
        #expect(seen.isSubset(of: regions) && regions.count == 244)
        // Saint Martin shares its numbers with Saint Barthélemy. The package counts most of them as numbers of Saint
        // Barthélemy.
        #expect(regions.subtracting(seen).isSubset(of: ["MF"]))
    }
}
