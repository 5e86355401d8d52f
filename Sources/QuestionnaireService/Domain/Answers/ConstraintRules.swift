import BusProtocol
import JSONText

/// Whether anybody could answer a question at all, and whether it says nothing that does not concern its kind.
struct ConstraintRules {
    let question: Question

    /// Sentences, each with the member of the question that it is about.
    var problems: [(message: String, member: String)] {
        var found = strangers
        let limits = question.constraints
        func refuse(_ message: String, _ member: String) { found.append((message, member)) }
        if question.kind.hasOptions == question.options.isEmpty {
            refuse(question.kind.hasOptions ? "Options are missing." : "This type has no options.", "options")
        }
        if !question.kind.presentations.contains(question.presentation) {
            let known = question.kind.presentations.joined(separator: ", ")
            refuse("The presentation must be one of \(known).", "presentation")
        }
        if let min = limits.min, let max = limits.max, min > max { refuse("min is above max.", "constraints/min") }
        if let least = limits.minLength, let most = limits.maxLength, least > most {
            refuse("minLength is above maxLength.", "constraints/minLength")
        }
        if let earliest = limits.earliest, let latest = limits.latest, earliest > latest {
            refuse("earliest is after latest.", "constraints/earliest")
        }
        if let least = limits.minAge, let most = limits.maxAge, least > most {
            refuse("minAge is above maxAge.", "constraints/minAge")
        }
        switch question.kind {
        case .multiChoice, .tags: found += countProblems
        case .slider: found += sliderProblems
        case .ranking:
            if question.options.count < 2 { refuse("A ranking needs two options.", "options") }
            if let topK = limits.topK, topK > question.options.count {
                refuse("topK is more than there are options.", "constraints/topK")
            }
        case .info:
            if question.required || question.requiredIf != nil || question.skippable || question.declinable {
                refuse("A screen that only informs asks for nothing.", "required")
            }
        default: break
        }
        return found + suggestionProblems
    }

    /// Constraints of another kind of question.
    private var strangers: [(message: String, member: String)] {
        let limits = question.constraints
        let given: [(name: String, isGiven: Bool)] = [
            ("min", limits.min != nil), ("max", limits.max != nil), ("step", limits.step != nil),
            ("topK", limits.topK != nil), ("minLength", limits.minLength != nil),
            ("maxLength", limits.maxLength != nil), ("minLabelKey", limits.minLabel != nil),
            ("maxLabelKey", limits.maxLabel != nil), ("earliest", limits.earliest != nil),
            ("latest", limits.latest != nil), ("minAge", limits.minAge != nil), ("maxAge", limits.maxAge != nil),
            ("pattern", limits.pattern != nil), ("other", limits.otherCount > 0),
        ]
        let known: Set<String> =
            switch question.kind {
            case .singleChoice: ["other"]
            case .multiChoice, .tags: ["min", "max", "other"]
            case .slider: ["min", "max", "step", "minLabelKey", "maxLabelKey"]
            case .ranking: ["topK"]
            case .text: ["minLength", "maxLength", "pattern"]
            case .date: ["earliest", "latest", "minAge", "maxAge"]
            case .number: ["min", "max"]
            case .height, .boolean, .info: []
            }
        return given.filter { $0.isGiven && !known.contains($0.name) }.map {
            ("\($0.name) says nothing about this type.", "constraints/\($0.name)")
        }
    }

    private var countProblems: [(message: String, member: String)] {
        let limits = question.constraints
        for (bound, name) in [(limits.min, "min"), (limits.max, "max")] {
            if let bound, bound.whole.map({ $0 < 1 }) ?? true {
                return [("A number of choices is a whole number from 1.", "constraints/\(name)")]
            }
        }
        // An exclusive option stands alone, so it cannot help to reach a minimum of two.
        let combinable = question.options.count { !$0.exclusive } + limits.otherCount
        let least = question.countLimits.least
        guard least > 1 else { return [] }
        if combinable < least { return [("Fewer options than min can be chosen together.", "constraints/min")] }
        return question.options.contains(where: \.exclusive)
            ? [("An exclusive option can never be chosen where min is more than 1.", "constraints/min")] : []
    }

    private var sliderProblems: [(message: String, member: String)] {
        let limits = question.constraints
        guard let min = limits.min, let max = limits.max else { return [("A slider has min and max.", "constraints")] }
        guard min < max else { return [("A slider goes from min up to max.", "constraints/max")] }
        if let step = limits.step, step.count <= 0 || (max.count - min.count) % step.count != 0 {
            return [("max is not on the grid that min and step make.", "constraints/step")]
        }
        return []
    }

    /// A default must be an answer; it is held in the form that an answer has.
    private var suggestionProblems: [(message: String, member: String)] {
        guard let suggestion = question.suggestion else { return [] }
        // A definition that was published stays valid, so what is judged by the day has no default.
        guard question.constraints.minAge == nil, question.constraints.maxAge == nil else {
            return [("A default cannot be held against an age.", "default")]
        }
        do throws(AnswerProblem) {
            let anyDay = CivilDate(daysSinceEpoch: 0)
            let canonical = try AnswerValidator(question: question, today: anyDay).canonical(suggestion)
            return canonical == suggestion ? [] : [("The default is not in its canonical form.", "default")]
        } catch {
            return [("The default is no valid answer: \(error.message)", "default")]
        }
    }
}
