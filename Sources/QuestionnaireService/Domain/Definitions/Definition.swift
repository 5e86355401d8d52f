import BusProtocol
import Documents
import JSONText

/// A parsed and checked version of a questionnaire. It never changes: a session is pinned to it by version and hash.
struct Definition: VersionedDocument {
    let key: String
    let version: Int64
    let hash: [UInt8]
    let canonicalText: [UInt8]
    /// The language of the texts in ``questions``.
    let language: String
    /// The texts by language, including the default language.
    let translations: [String: Translation]
    let dimensions: [Dimension]
    let sections: [Section]
    /// The questions of all sections, in document order.
    let questions: [Question]
    /// The conditions of all sections, questions and options.
    let conditions: [Condition]
    /// The names of the facts that conditions use.
    let facts: Set<String>
    /// The names of the facts of profile that a session keeps. These are those in ``facts``. If the definition asks for
    /// dates, the time zone that decides their days is one, too.
    let pinned: Set<String>
    /// The policy for people with a session in another version, or in this one after it is retired.
    let policy: UpgradePolicy
    /// Whether some answers also fill fields of the profile.
    let hasExtracts: Bool
    /// The keys of questions that this version marks as sensitive.
    let sensitive: Set<String>

    /// ``questions`` as references, since every sheet holds all of them.
    let shared: [SharedQuestion]
    /// For each question, the index of its section.
    let sectionOf: [Int]

    private let indices: [String: Int]

    /// A group of questions.
    struct Section: Sendable {
        let key: String
        /// Their indices in ``Definition/questions``.
        let questions: Range<Int>
        /// The section is hidden, with everything in it, while this does not hold.
        var visibleIf: Condition?
        /// Set if the section is repeated for each of several subjects, such as each child of a family.
        var repetition: Repetition?

        struct Repetition: Sendable, Hashable {
            /// The name for one of the subjects, such as `child`.
            let subject: String
            let range: ClosedRange<Int>
            /// The question whose answer names the subject.
            let label: String?
        }
    }

    /// The texts in one language.
    struct Translation: Sendable {
        let title: String
        /// The titles by section.
        let sectionTitles: [String: String]
        /// The questions in the order of ``Definition/questions``, without their conditions.
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
        pinned = questions.contains { $0.kind == .date } ? facts.union([QuestionnaireSessionFacts.timeZone]) : facts
        self.policy = policy
        hasExtracts = questions.contains { $0.profileField != nil }
        sensitive = Set(questions.filter(\.isSensitive).map(\.key))
        sectionOf = sections.enumerated().flatMap { index, section in section.questions.map { _ in index } }
        indices = Dictionary(questions.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether different people may be asked different questions.
    var hasConditions: Bool { !conditions.isEmpty }

    /// The index of a question in ``questions``.
    func place(of key: String) -> Int? { indices[key] }
}

/// A dimension of the score, calculated from answers.
struct Dimension: Sendable, Hashable {
    enum Method: String, Sendable, CaseIterable {
        /// The mean of the chosen options' weights, each 0 to 1, over the answered questions.
        case weightedMean = "weighted_mean"
        /// The chosen tags themselves, each 0 or 1.
        case tagVector = "tag_vector"
    }

    let key: String
    let method: Method
    /// The scores that are shown for a mean of 0 and for a mean of 1.
    let low: Int64
    let high: Int64
    /// The fewest answered questions for a score.
    let minAnswered: Int
}

/// The types of questions. The raw values are the names on the wire.
enum QuestionKind: String, Sendable, CaseIterable {
    case singleChoice = "single_choice"
    case multiChoice = "multi_choice"
    case slider, ranking, tags, text, date, number, height, boolean, info

    /// Whether the answer is chosen from options.
    var hasOptions: Bool {
        switch self {
        case .singleChoice, .multiChoice, .ranking, .tags: true
        default: false
        }
    }

    /// The ways in which a client may show it. The first is the default.
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

/// A question of a definition, with its texts in the definition's language.
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
    /// Whether the suggestion counts as the answer of a person who gives none.
    var suggestionCounts = false
    let presentation: String
    let constraints: Constraints
    var options: [Option]
    /// The question's weight in each dimension that it counts towards.
    let weights: [String: Thousandths]
    /// The values for the importance of another person's answer, rising. If it is empty, the question asks for no
    /// preference.
    var importances: [Int64] = []
    /// The field of the profile that an answer also fills.
    var profileField: String?
    /// Whether its answers are about health, so that they are sealed.
    var isSensitive = false
    /// The question is hidden while this does not hold.
    var visibleIf: Condition?
    /// The question is required while this holds, even if ``required`` is `false`.
    var requiredIf: Condition?

    /// Whether the question counts towards the progress. An info screen does not, since it takes no answer.
    var isCounted: Bool { kind != .info }

    /// The conditions of the question and its options, with `nil` for each that is not set.
    var conditions: [Condition?] { [visibleIf, requiredIf] + options.map(\.visibleIf) }

    /// Whether different people may be offered different options.
    var hasConditionalOptions: Bool { options.contains { $0.visibleIf != nil } }

    struct Option: Sendable, Hashable {
        let key: String
        let label: String
        /// Whether the option cannot be chosen together with another.
        let exclusive: Bool
        /// The weight in each dimension, from 0 to 1.
        let score: [String: Thousandths]
        /// The option is not offered while this does not hold.
        var visibleIf: Condition?
    }
}

/// A question as a shared reference, which saves copying it.
final class SharedQuestion: Sendable {
    let question: Question

    init(_ question: Question) { self.question = question }
}

/// The bounds of an answer. The question's type decides which members apply.
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

/// The patterns for texts. The list is fixed, so that a definition cannot contain a regular expression.
enum TextPattern: String, Sendable, CaseIterable {
    /// Letters and marks of any script, spaces, apostrophes, hyphens, full stops.
    case personName = "person_name"
    /// Anything printable without a line break.
    case singleLine = "single_line"
    /// ASCII digits.
    case digits
}
