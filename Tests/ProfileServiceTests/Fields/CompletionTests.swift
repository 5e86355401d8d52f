import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import ProfileService

extension ProfileRecord {
    /// The profile of a 31-year-old who answered the required fields only.
    static func complete() -> ProfileRecord {
        let then = Timestamp("2026-02-20T09:00:00Z")!
        var record = ProfileRecord(personID: .random(), createdAt: then, updatedAt: then)
        record.dateOfBirth = CivilDate("1994-02-28")
        record.fields = [
            "displayName": .answered("Zoë"), "gender": .declined, "lookingFor": .answered(["everyone"]),
        ]
        return record
    }
}

/// The truth table of skipping, declining and leaving blank, row by row.
@Suite("skipped, declined, blank") struct CompletionTests {
    private let rules = Plan.yoked.completion
    private let now = Timestamp("2026-02-20T09:00:00Z")!
    private let today = CivilDate("2026-02-20")!

    enum Given: String, CaseIterable { case unanswered, answered, skippedNow, skippedLongAgo, declined, stale }

    struct Row: Sendable {
        let field: String
        let given: Given
        let counts: Bool
        /// What `match` says of the field.
        let due: String?
        /// What the prompt is: blocking, gentle.
        let prompt: String?
        let seen: JSONValue?
        init(_ field: String, _ given: Given, _ counts: Bool, _ due: String?, _ prompt: String?, _ seen: JSONValue?) {
            (self.field, self.given, self.counts) = (field, given, counts)
            (self.due, self.prompt, self.seen) = (due, prompt, seen)
        }
    }

    private static let share: JSONValue = "Prefers not to share"
    /// `gender` is required and may be declined, `bio` is encouraged, `religion` is optional.
    private static let table = [
        Row("gender", .unanswered, false, "currently", "blocking", nil),
        Row("gender", .answered, true, nil, nil, "other"),
        Row("gender", .declined, true, nil, nil, share),
        Row("gender", .stale, false, "currently stale", "blocking", "other"),
        Row("bio", .unanswered, false, "eventually", "gentle", nil),
        Row("bio", .answered, true, nil, nil, "other"),
        Row("bio", .skippedNow, false, "eventually", nil, nil),
        Row("bio", .skippedLongAgo, false, "eventually", "gentle", nil),
        Row("bio", .declined, true, nil, nil, share),
        Row("bio", .stale, false, "eventually stale", "gentle", "other"),
        Row("religion", .unanswered, false, nil, nil, nil),
        Row("religion", .answered, true, nil, nil, "other"),
        Row("religion", .skippedNow, false, nil, nil, nil),
        Row("religion", .skippedLongAgo, false, nil, nil, nil),
        Row("religion", .declined, true, nil, nil, share),
        Row("religion", .stale, false, nil, nil, "other"),
    ]

    private func state(_ given: Given) -> FieldState? {
        switch given {
        case .unanswered: nil
        case .answered: .answered("other")
        case .skippedNow: .skipped(times: 1, last: now)
        case .skippedLongAgo: .skipped(times: 3, last: now - .seconds(168 * 3600))
        case .declined: .declined
        case .stale: .stale("other")
        }
    }

    @Test("the truth table", arguments: table)
    func row(_ row: Row) throws {
        // Everything else is answered, so that what is left is the row's own.
        var record = ProfileRecord.complete()
        for field in FieldCatalogue.shipped.fields where field.category == .encouraged {
            record.fields[field.key] = .declined
        }
        record.fields[row.field] = nil
        let without = FieldCatalogue.shipped.fields.count { record.isSatisfied($0) }
        record.fields[row.field] = state(row.given)
        let field = try #require(FieldCatalogue.shipped.field(row.field))

        #expect(record.isSatisfied(field) == row.counts)
        #expect(
            rules.percentage(of: record)
                == Int64((without + (row.counts ? 1 : 0)) * 100 / FieldCatalogue.shipped.fields.count))
        let match = RequirementRules.requirements(of: record, .yoked(), today: today, now: now).match
        #expect(match.currentlyDue.contains(row.field) == (row.due?.hasPrefix("currently") ?? false))
        #expect(match.eventuallyDue.contains(row.field) == (row.due?.hasPrefix("eventually") ?? false))
        #expect(match.errors.map(\.code) == (row.due?.hasSuffix("stale") == true ? ["stale"] : []))
        let prompt = rules.prompt(for: record, now: now)
        #expect(prompt.map { $0.blocking ? "blocking" : "gentle" } == row.prompt)
        #expect(prompt == nil || prompt?.field == row.field)
        #expect(PublicView.person(record, .yoked, today: today)?.profile[row.field] == row.seen)
        let completion = rules.completion(of: record, now: now)
        #expect(completion.skippedFields == (record.fields[row.field]?.isSkipped == true ? [row.field] : []))
        #expect(completion.preferNotToShareFields.contains(row.field) == (row.given == .declined))
    }

    @Test func theTableHasEveryCategoryInEveryStateThatItCanHave() {
        let rows = Set(Self.table.map { "\($0.field) \($0.given)" })
        for field in ["gender", "bio", "religion"] {
            for given in Given.allCases where !(field == "gender" && given.rawValue.hasPrefix("skipped")) {
                #expect(rows.contains("\(field) \(given)"))
            }
        }
        #expect(FieldCatalogue.shipped.field("gender")?.isSkippable == false)
    }

    @Test func oneGentlePromptAtATimeAndTheFirstOneFirst() {
        var record = ProfileRecord.complete()
        for expected in ["photo", "city", "bio"] {
            let prompt = rules.prompt(for: record, now: now)
            #expect(prompt?.field == expected && prompt?.blocking == false)
            record.fields[expected] = .skipped(times: 1, last: now)
        }
        #expect(rules.prompt(for: record, now: now) == nil)
    }

    @Test func aSkippedFieldIsAskedForAgainThreeTimesAfterSevenDays() throws {
        let photo = try #require(FieldCatalogue.shipped.field("photo"))
        var record = ProfileRecord.complete()
        for key in ["city", "bio"] { record.fields[key] = .answered("x") }
        var (moment, prompts) = (now, 0)
        record.fields["photo"] = try rules.skipped(photo, in: record, clear: false, now: moment)
        for _ in 0..<60 {
            moment = moment + .seconds(86_400)
            guard rules.prompt(for: record, now: moment) != nil else {
                #expect(
                    try rules.skipped(photo, in: record, clear: false, now: moment) == nil, "no prompt, no new skip")
                continue
            }
            prompts += 1
            #expect(moment == now + .seconds(Int64(prompts * 7 * 86_400)))
            record.fields["photo"] = try rules.skipped(photo, in: record, clear: false, now: moment)
            #expect(record.fields["photo"] == .skipped(times: Int64(prompts + 1), last: moment))
        }
        #expect(prompts == 3)
    }

    @Test func anOptionalFieldIsSkippedOnce() throws {
        let zodiac = try #require(FieldCatalogue.shipped.field("zodiac"))
        var record = ProfileRecord.complete()
        record.fields["zodiac"] = .skipped(times: 1, last: now)
        #expect(try rules.skipped(zodiac, in: record, clear: true, now: now + .seconds(10_000_000)) == nil)
    }

    @Test func aSkipRemovesAnAnswerOnlyIfAskedTo() throws {
        let bio = try #require(FieldCatalogue.shipped.field("bio"))
        for state in [FieldState.answered("Hej"), .declined, .stale("Hej")] {
            var record = ProfileRecord.complete()
            record.fields["bio"] = state
            #expect(throws: BusError.self) { try rules.skipped(bio, in: record, clear: false, now: now) }
            #expect(try rules.skipped(bio, in: record, clear: true, now: now) == .skipped(times: 1, last: now))
        }
    }

    @Test func resumesAtTheFirstUnansweredAndNamesTheLastOneBesideIt() {
        var record = ProfileRecord(personID: .random(), createdAt: now, updatedAt: now)
        func resume() -> [String?] {
            let completion = rules.completion(of: record, now: now)
            return [completion.lastCompleted, completion.nextField]
        }
        #expect(resume() == [nil, "displayName"])
        record.fields["displayName"] = .answered("Zoë")
        #expect(resume() == ["displayName", "dateOfBirth"], "what is required comes before what is not")
        record.fields["bio"] = .answered("Hej")
        #expect(resume() == ["bio", "dateOfBirth"])
        record = .complete()
        #expect(resume() == ["lookingFor", "firstName"])
        record.fields["firstName"] = .skipped(times: 1, last: now)
        #expect(resume() == ["lookingFor", "lastName"])
        for field in FieldCatalogue.shipped.fields where field.key != "dateOfBirth" {
            record.fields[field.key] = .declined
        }
        #expect(resume() == ["zodiac", nil])
    }

    @Test func requiredFieldsArePromptedFirstAndOthersGently() {
        var record = ProfileRecord.complete()
        record.dateOfBirth = nil
        let missing = rules.completion(of: record, now: now)
        #expect(missing.missingRequired == ["dateOfBirth"] && missing.nextField == "dateOfBirth")
        #expect(missing.prompt == .init(field: "dateOfBirth", step: 3, blocking: true, reason: "required"))
        record.dateOfBirth = CivilDate("1994-02-28")
        let gentle = rules.completion(of: record, now: now)
        #expect(gentle.prompt == .init(field: "photo", step: 6, blocking: false, reason: "encouraged"))
        #expect(gentle.missingRequired.isEmpty && !gentle.isComplete && gentle.preferNotToShareFields == ["gender"])
    }

    @Test func aProfileIsCompleteOnceEachEncouragedFieldIsAddressed() {
        var record = ProfileRecord.complete()
        record.fields["photo"] = .skipped(times: 1, last: now)
        record.fields["bio"] = .answered("")
        #expect(!rules.isComplete(record))
        // Coordinates do for a city.
        record.fields["coordinates"] = .answered(["latitude": 59.3, "longitude": 18.1])
        #expect(rules.isComplete(record) && rules.prompt(for: record, now: now) == nil)
        #expect(rules.completion(of: record, now: now).skippedFields == ["photo"])
    }

    @Test func thePercentageCountsAnswersAndDeclinedFields() {
        var record = ProfileRecord.complete()
        #expect(rules.percentage(of: record) == 4 * 100 / 22)
        record.fields["photo"] = .skipped(times: 1, last: now)
        #expect(rules.percentage(of: record) == 4 * 100 / 22, "a skipped field does not count")
        for field in FieldCatalogue.shipped.fields where field.key != "dateOfBirth" {
            record.fields[field.key] = .declined
        }
        let all = rules.completion(of: record, now: now)
        #expect(all.percentage == 100 && all.currentStep == all.totalSteps && all.nextField == nil)
    }
}

@Suite("states of fields") struct FieldStatesTests {
    /// Against a dictionary, with keys of which many have the same length and ends.
    @Test func fieldStatesBehaveAsADictionary() {
        let keys = ["", "a", "aa", "aba", "aca", "abba", "acca", "å", "åå"]
        for _ in 0..<100 {
            var (states, expected) = (FieldStates(), [String: FieldState]())
            for _ in 0..<40 {
                let key = keys.randomElement()!
                let state = [nil, FieldState.declined, .answered(.integer(.random(in: 0...3)))].randomElement()!
                (states[key], expected[key]) = (state, state)
                for key in keys { #expect(states[key] == expected[key]) }
            }
            #expect(states.states.count == expected.count)
            let turned = expected.shuffled().reduce(into: FieldStates()) { $0[$1.key] = $1.value }
            #expect(states == turned)
            var others = expected
            others[keys.randomElement()!] = .declined
            let other = others.reduce(into: FieldStates()) { $0[$1.key] = $1.value }
            #expect((states == other) == (expected == others) && (other == states) == (expected == others))
        }
    }
}
