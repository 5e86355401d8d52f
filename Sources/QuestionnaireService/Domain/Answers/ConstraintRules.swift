import BusProtocol
import JSONText

/// Checks that a question can be answered at all, and that all its constraints are for its type.
struct ConstraintRules {
    let question: Question

    /// The problems, each with the member of the question that it is about.
    var problems: [(message: String, member: String)] {
        var found = strangers
        let limits = question.constraints
        func refuse(_ message: String, _ member: String) { found.append((message, member)) }
        if question.kind.hasOptions == question.options.isEmpty {
            refuse(question.kind.hasOptions ? "Options are missing." : "This type cannot have options.", "options")
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
            if question.options.count < 2 { refuse("A ranking needs at least two options.", "options") }
            if let topK = limits.topK, topK > question.options.count {
                refuse("topK is larger than the number of options.", "constraints/topK")
            }
        case .info:
            if question.required || question.requiredIf != nil || question.skippable || question.declinable {
                refuse("An info screen cannot be required, skippable or declinable.", "required")
            }
        default: break
        }
        return found + suggestionProblems
    }

    /// The constraints that are for other types of questions.
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
            ("\($0.name) is not a constraint of this type.", "constraints/\($0.name)")
        }
    }

    private var countProblems: [(message: String, member: String)] {
        let limits = question.constraints
        for (bound, name) in [(limits.min, "min"), (limits.max, "max")] {
            if let bound, bound.whole.map({ $0 < 1 }) ?? true {
                return [("A number of choices must be a whole number from 1.", "constraints/\(name)")]
            }
        }
        // An exclusive option is chosen alone, so it does not count towards a minimum of two or more.
        let combinable = question.options.count { !$0.exclusive } + limits.otherCount
        let least = question.countLimits.least
        guard least > 1 else { return [] }
        if combinable < least {
            return [("The options that can be chosen together are fewer than min.", "constraints/min")]
        }
        return question.options.contains(where: \.exclusive)
            ? [("An exclusive option can never be chosen if min is more than 1.", "constraints/min")] : []
    }

    private var sliderProblems: [(message: String, member: String)] {
        let limits = question.constraints
        guard let min = limits.min, let max = limits.max else {
            return [("A slider needs min and max.", "constraints")]
        }
        guard min < max else { return [("min must be below max.", "constraints/max")] }
        if let step = limits.step, step.count <= 0 || (max.count - min.count) % step.count != 0 {
            return [("max must be min plus a multiple of step, and step must be above 0.", "constraints/step")]
        }
        return []
    }

    /// The problems of the default. It must be a valid answer in canonical form.
    private var suggestionProblems: [(message: String, member: String)] {
        guard let suggestion = question.suggestion else { return [] }
        // A published definition must stay valid, so a question whose limits depend on the day can have no default.
        guard question.constraints.minAge == nil, question.constraints.maxAge == nil else {
            return [("A question with minAge or maxAge cannot have a default.", "default")]
        }
        do throws(AnswerProblem) {
            let anyDay = CivilDate(daysSinceEpoch: 0)
            let canonical = try AnswerValidator(question: question, today: anyDay).canonical(suggestion)
            return canonical == suggestion ? [] : [("The default is not in its canonical form.", "default")]
        } catch {
            return [("The default is not a valid answer: \(error.message)", "default")]
        }
    }
}
