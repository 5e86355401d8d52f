import BusProtocol
import JSONText

/// One version of a questionnaire, read and checked. It never changes: a session is pinned to it by version and hash.
struct Definition: Sendable {
    let key: String
    let version: Int64
    /// SHA-256 of ``canonicalText``: 32 bytes.
    let hash: [UInt8]
    /// RFC 8785 form, without the members that tell of the life cycle (`status`, `contentHash`).
    let canonicalText: [UInt8]
    /// The language of the texts in ``questions``.
    let language: String
    /// By language; the default one is among them.
    let translations: [String: Translation]
    let dimensions: [Dimension]
    let sections: [Section]
    /// In document order, across the sections.
    let questions: [Question]
    /// Of the sections, the questions and their options.
    let conditions: [Condition]
    /// Names of what conditions look at beside answers.
    let facts: Set<String>
    /// Names of what a session is pinned to of profile: those of ``facts``, and where dates are asked for, the time zone by
    /// whose days they are judged.
    let pinned: Set<String>
    /// What becomes of who is under way in another version, or in this one once it is retired.
    let policy: UpgradePolicy

    /// ``questions``, each behind one reference: what is asked of a person has each of them.
    let shared: [SharedQuestion]
    /// By question: the place of its section among ``sections``.
    let sectionOf: [Int]

    private let indices: [String: Int]

    /// Questions that belong together.
    struct Section: Sendable {
        let key: String
        /// Their places among ``Definition/questions``.
        let questions: Range<Int>
        /// Hidden while this does not hold, with everything in it.
        var visibleIf: Condition?
        /// Asked again for each of several subjects, each child of a family, say.
        var repetition: Repetition?

        struct Repetition: Sendable, Hashable {
            /// What each of them is.
            let subject: String
            let range: ClosedRange<Int>
            /// The question whose answer names the subject.
            let label: String?
        }
    }

    /// The texts in one language.
    struct Translation: Sendable {
        let title: String
        /// By section.
        let sectionTitles: [String: String]
        /// As ``Definition/questions``, without their conditions.
        let questions: [Question]
    }

    init(
        key: String, version: Int64, hash: [UInt8], canonicalText: [UInt8], language: String,
        translations: [String: Translation], dimensions: [Dimension], sections: [Section], questions: [Question],
        policy: UpgradePolicy = UpgradePolicy()
    ) {
        self.key = key
        self.version = version
        self.hash = hash
        self.canonicalText = canonicalText
        self.language = language
        self.translations = translations
        self.dimensions = dimensions
        self.sections = sections
        self.questions = questions
        shared = questions.map(SharedQuestion.init)
        conditions = (sections.map(\.visibleIf) + questions.flatMap(\.conditions)).compactMap(\.self)
        facts = Set(
            conditions.flatMap(\.allTests).compactMap { if case .fact(let test) = $0 { test.fact } else { nil } })
        pinned = questions.contains { $0.kind == .date } ? facts.union([SessionFacts.timeZone]) : facts
        self.policy = policy
        sectionOf = sections.enumerated().flatMap { index, section in section.questions.map { _ in index } }
        indices = Dictionary(questions.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether not everybody is asked the same.
    var hasConditions: Bool { !conditions.isEmpty }
    /// Whether some answers stand for fields of the profile, too.
    var hasExtracts: Bool { questions.contains { $0.profileField != nil } }

    /// The place of a question among ``questions``.
    func place(of key: String) -> Int? { indices[key] }
}

/// Something that answers are summed up into.
struct Dimension: Sendable, Hashable {
    enum Method: String, Sendable, CaseIterable {
        /// Mean of the chosen options' weights, each 0 to 1, over the questions that were answered.
        case weightedMean = "weighted_mean"
        /// The chosen tags themselves, each 0 or 1.
        case tagVector = "tag_vector"
    }

    let key: String
    let method: Method
    /// What a mean of 0 and a mean of 1 are shown as.
    let low: Int64
    let high: Int64
    /// Fewer answered questions than these, and there is no score.
    let minAnswered: Int
}

/// The eleven kinds of question; a raw value is the wire's name.
enum QuestionKind: String, Sendable, CaseIterable {
    case singleChoice = "single_choice"
    case multiChoice = "multi_choice"
    case slider, ranking, tags, text, date, number, height, boolean, info

    /// Whether one chooses among options.
    var hasOptions: Bool {
        switch self {
        case .singleChoice, .multiChoice, .ranking, .tags: true
        default: false
        }
    }

    /// How a client may show it; the first is meant where a definition says nothing.
    var presentations: [String] {
        switch self {
        case .singleChoice: ["radio", "select", "chips"]
        case .multiChoice, .tags: ["chips", "select"]
        case .slider: ["slider"]
        case .ranking: ["list"]
        case .text: ["field", "area"]
        case .date: ["date"]
        case .number: ["field"]
        case .height: ["height"]
        case .boolean: ["switch"]
        case .info: ["screen"]
        }
    }
}

/// One question of a definition, its texts in the definition's language.
struct Question: Sendable {
    let key: String
    let slug: String?
    let section: String
    let kind: QuestionKind
    let text: String
    let help: String?
    var required: Bool
    let skippable: Bool
    let declinable: Bool
    let suggestion: JSONValue?
    /// The suggestion stands for the answer of who gives none: it is counted, and nothing is missing without one.
    var suggestionCounts = false
    let presentation: String
    let constraints: Constraints
    var options: [Option]
    /// The question's weight in each dimension that it counts towards.
    let weights: [String: Thousandths]
    /// How much it may matter what another person answers, rising; none: one is not asked.
    var importances: [Int64] = []
    /// The field of the profile that an answer stands for, too.
    var profileField: String?
    /// Hidden while this does not hold.
    var visibleIf: Condition?
    /// Required while this holds, also where ``required`` does not say so.
    var requiredIf: Condition?

    /// A screen that only informs takes no answer and is not counted.
    var isCounted: Bool { kind != .info }

    /// Its own and its options'; `nil` where there is none.
    var conditions: [Condition?] { [visibleIf, requiredIf] + options.map(\.visibleIf) }

    /// Whether not everybody is offered the same options.
    var hasConditionalOptions: Bool { options.contains { $0.visibleIf != nil } }

    struct Option: Sendable, Hashable {
        let key: String
        let label: String
        /// Cannot be chosen together with another.
        let exclusive: Bool
        /// Per dimension, 0 to 1, in thousandths.
        let score: [String: Thousandths]
        /// Not offered while this does not hold.
        var visibleIf: Condition?
    }
}

/// A question that many places look at and none changes.
final class SharedQuestion: Sendable {
    let question: Question

    init(_ question: Question) { self.question = question }
}

/// What an answer must keep to; which members matter depends on the question's kind.
struct Constraints: Sendable, Hashable {
    var min: Thousandths?
    var max: Thousandths?
    var step: Thousandths?
    var topK: Int?
    var minLength: Int?
    var maxLength: Int?
    var minLabel: String?
    var maxLabel: String?
    var earliest: CivilDate?
    var latest: CivilDate?
    var minAge: Int?
    var maxAge: Int?
    var pattern: TextPattern?
    var otherCount = 0
    var otherLength = 0
}

/// The forms that a text can be held to. A fixed list: a definition cannot bring an expression of its own.
enum TextPattern: String, Sendable, CaseIterable {
    /// Letters and marks of any script, spaces, apostrophes, hyphens, full stops.
    case personName = "person_name"
    /// Anything printable without a line break.
    case singleLine = "single_line"
    /// ASCII digits.
    case digits
}
