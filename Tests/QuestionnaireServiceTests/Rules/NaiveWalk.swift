import JSONText

@testable import QuestionnaireService

/// What a person sees of a definition, and how far they are. It follows the text of the rules, and reads the
/// definition's JSON with the naive evaluator.
struct NaiveWalk {
    struct Seen {
        let key: String
        let isRequired: Bool
        let isDone: Bool
        let isStale: Bool
        let isCounted: Bool
    }

    let definition: JSONValue
    /// By `question` or `question/subject`.
    var answers: [String: NaiveQuestionnaire.Answer] = [:]
    /// The subjects of the one section that repeats, in order.
    var subjects: [String] = []
    var facts: [String: JSONValue] = [:]

    /// Everything that is asked, in order; a text stands for a subject that is still wanted.
    private enum Thing {
        case seen(Seen)
        case wanted
        case tooMany
    }

    private var things: [Thing] {
        var (found, plain): ([Thing], [String: NaiveQuestionnaire.Answer]) = ([], [:])
        var children: [[String: NaiveQuestionnaire.Answer]] = []
        func naive(_ known: [String: NaiveQuestionnaire.Answer]) -> NaiveQuestionnaire {
            NaiveQuestionnaire(definition: definition, answers: known, facts: facts, children: children)
        }
        for section in definition["sections"]?.arrayValue ?? [] {
            let isShown = naive(plain).holds(section["visibleIf"])
            let repetition = section["repeat"]
            var asked: [[String: NaiveQuestionnaire.Answer]] = []
            for subject in repetition == nil ? [nil] : subjects.map(Optional.some) {
                var known = plain
                for question in section["questions"]?.arrayValue ?? [] where isShown {
                    guard let seen = look(at: question, of: subject, by: naive(known)) else { continue }
                    found.append(.seen(seen))
                    let answer = answers[seen.key]
                    if !seen.isStale, let answer, answer.state != "unanswered" {
                        known[question["key"]!.stringValue!] = answer
                    }
                }
                if repetition == nil { plain = known } else { asked.append(known) }
            }
            children += asked
            guard let repetition, isShown else { continue }
            let (least, most) = (repetition["min"]!.integerValue!, repetition["max"]!.integerValue!)
            found += (subjects.count..<max(subjects.count, Int(least))).map { _ in .wanted }
            if subjects.count > Int(most) { found.append(.tooMany) }
        }
        return found
    }

    private func look(
        at question: JSONValue, of subject: String?, by naive: NaiveQuestionnaire
    ) -> Seen? {
        guard naive.holds(question["visibleIf"]) else { return nil }
        let key = question["key"]!.stringValue! + (subject.map { "/\($0)" } ?? "")
        let (answer, isRequired) = (answers[key], naive.isRequired(question))
        let chosen = answer?.value.map { $0.arrayValue ?? [$0] } ?? []
        let isStale =
            question["options"] != nil
            && chosen.contains { !naive.options(of: question).contains($0.stringValue ?? "") }
        let isDone: Bool =
            switch answer?.state {
            case _ where isStale: false
            case "answered": true
            case "declined": question["declinable"] == true || !isRequired
            case "skipped", "acknowledged": !isRequired
            default: false
            }
        return Seen(
            key: key, isRequired: isRequired, isDone: isDone, isStale: isStale,
            isCounted: question["type"] != "info")
    }

    var seen: [Seen] { things.compactMap { if case .seen(let seen) = $0 { seen } else { nil } } }

    /// X, Y, and how many required ones are missing.
    var progress: [Int] {
        let (counted, wanted) = (seen.filter(\.isCounted), wanted)
        return [
            counted.count(where: \.isDone), counted.count + wanted,
            counted.count { $0.isRequired && !$0.isDone } + wanted,
        ]
    }

    private var wanted: Int { things.count { if case .wanted = $0 { true } else { false } } }

    /// The place with the reason; `nil`: there is nothing left.
    var next: String? {
        for thing in things {
            switch thing {
            case .seen(let seen) where seen.isCounted && !seen.isDone:
                return seen.key + (seen.isStale ? " stale" : " unanswered")
            case .wanted: return "subject_wanted"
            default: break
            }
        }
        return nil
    }

    /// Places with reasons.
    var missing: Set<String> {
        var found = Set<String>()
        for thing in things {
            switch thing {
            case .seen(let seen) where seen.isStale: found.insert("\(seen.key) stale")
            case .seen(let seen) where seen.isCounted && seen.isRequired && !seen.isDone:
                found.insert("\(seen.key) unanswered")
            case .wanted: found.insert("too_few_subjects")
            case .tooMany: found.insert("too_many_subjects")
            default: break
            }
        }
        return found
    }
}
