import BusProtocol
import Documents
import JSONText

extension DefinitionDifference {
    /// Whether a question is required: never, under a condition, or always.
    enum Demand: Int, Comparable {
        case never, sometimes, always
        static func < (a: Demand, b: Demand) -> Bool { a.rawValue < b.rawValue }
    }

    static func demand(of question: DefinitionFile.Question) -> Demand {
        question.required == true ? .always : question.requiredIf == nil ? .never : .sometimes
    }

    /// Compares a question in both versions.
    mutating func compare(_ old: Placed, _ new: Placed) {
        let (before, after, pointer) = (old.question, new.question, new.pointer)
        let key = after.key
        if text(before.textKey, of: self.old) != text(after.textKey, of: self.new) {
            note(.questionText, "\(pointer)/textKey", [key])
        }
        if text(before.helpKey, of: self.old) != text(after.helpKey, of: self.new) {
            note(.helpText, "\(pointer)/helpKey", [key])
        }
        let isMoved = old.section.key != new.section.key && old.section.visibleIf != new.section.visibleIf
        if before.visibleIf != after.visibleIf || isMoved { note(.visibilityChanged, "\(pointer)/visibleIf", [key]) }
        if (before.meaningRev ?? 1) < (after.meaningRev ?? 1) { note(.meaningRaised, "\(pointer)/meaningRev", [key]) }
        if before.score ?? [:] != after.score ?? [:] { note(.scoringChanged, "\(pointer)/score", [key]) }
        if before.preference != after.preference { note(.scoringChanged, "\(pointer)/preference", [key]) }
        compareUnlisted(before, after, pointer)
        compareDuties(before, after, pointer)
        guard before.type == after.type else {
            return note(.typeChanged, "\(pointer)/type", [key], isMapped: migrations.converted.contains(key))
        }
        if (before.presentation, before.slug, before.default) != (after.presentation, after.slug, after.default) {
            note(.presentation, pointer, [key])
        }
        compareOptions(before, after, pointer)
        guard let kind = QuestionKind(rawValue: after.type) else { return }
        compareConstraints(ConstraintChange(kind, before, after), pointer, key)
    }

    private mutating func compareUnlisted(
        _ before: DefinitionFile.Question, _ after: DefinitionFile.Question, _ pointer: String
    ) {
        if before.defaultCounts ?? false != after.defaultCounts ?? false || before.extract != after.extract
            || before.meaningRev ?? 1 > after.meaningRev ?? 1 || before.sensitive != after.sensitive
        {
            note(.unlisted, pointer, [after.key])
        }
    }

    private mutating func compareDuties(
        _ before: DefinitionFile.Question, _ after: DefinitionFile.Question, _ pointer: String
    ) {
        let (was, becomes) = (Self.demand(of: before), Self.demand(of: after))
        let isTighter =
            was < becomes || was == .sometimes && becomes == .sometimes && before.requiredIf != after.requiredIf
        if isTighter { note(.optionalToRequired, "\(pointer)/required", [after.key]) }
        if was > becomes { note(.requiredToOptional, "\(pointer)/required", [after.key]) }
        switch (before.skippable ?? false, after.skippable ?? false) {
        case (false, true): note(.skippableOn, "\(pointer)/skippable", [after.key])
        // A question that became required can no longer be skipped. The comparison has noted that already.
        case (true, false) where !isTighter: note(.unlisted, "\(pointer)/skippable", [after.key])
        default: break
        }
        switch (before.declinable ?? false, after.declinable ?? false) {
        case (false, true): note(.declinableOn, "\(pointer)/declinable", [after.key])
        case (true, false): note(.unlisted, "\(pointer)/declinable", [after.key])
        default: break
        }
    }

    // MARK: Options

    private mutating func compareOptions(
        _ before: DefinitionFile.Question, _ after: DefinitionFile.Question, _ pointer: String
    ) {
        let (was, becomes) = (before.options ?? [], after.options ?? [])
        let map = migrations.options[after.key] ?? [:]
        let keys = becomes.map(\.key)
        for (index, option) in was.enumerated() where !keys.contains(option.key) {
            let isMapped = map[option.key].map(keys.contains) ?? false
            note(.optionRemoved, "\(pointer)/options/\(index)", [after.key, option.key], isMapped: isMapped)
        }
        for (index, option) in becomes.enumerated() {
            compare(was.first { $0.key == option.key }, option, of: after, "\(pointer)/options/\(index)")
        }
        let places = keys.compactMap { key in was.firstIndex { $0.key == key } }
        if places != places.sorted() { note(.optionOrder, "\(pointer)/options", [after.key]) }
        // A ranking of all options is incomplete once there are more options.
        let isLonger =
            after.type == QuestionKind.ranking.rawValue && after.constraints?.topK == nil && places.count < keys.count
        if isLonger { note(.rangeNarrowed, "\(pointer)/options", [after.key]) }
    }

    private mutating func compare(
        _ was: DefinitionFile.Option?, _ option: DefinitionFile.Option, of question: DefinitionFile.Question,
        _ pointer: String
    ) {
        let keys = [question.key, option.key]
        guard let was else { return note(.optionAdded, pointer, keys) }
        if text(was.labelKey, of: old) != text(option.labelKey, of: new) {
            note(.optionLabel, "\(pointer)/labelKey", keys)
        }
        if was.visibleIf != option.visibleIf { note(.visibilityChanged, "\(pointer)/visibleIf", keys) }
        if was.score ?? [:] != option.score ?? [:] { note(.scoringChanged, "\(pointer)/score", keys) }
        switch (was.exclusive ?? false, option.exclusive ?? false) {
        case (false, true): note(.rangeNarrowed, "\(pointer)/exclusive", keys)
        case (true, false): note(.rangeWidened, "\(pointer)/exclusive", keys)
        default: break
        }
    }

    // MARK: Constraints

    private mutating func compareConstraints(_ change: ConstraintChange, _ pointer: String, _ key: String) {
        for kind in change.kinds { note(kind, "\(pointer)/constraints", [key]) }
    }
}

/// How a change of constraints changes the possible answers.
private struct ConstraintChange {
    private let kind: QuestionKind
    private let before: DefinitionFile.Constraints
    private let after: DefinitionFile.Constraints

    init(_ kind: QuestionKind, _ before: DefinitionFile.Question, _ after: DefinitionFile.Question) {
        self.kind = kind
        (self.before, self.after) = (before.constraints ?? .init(), after.constraints ?? .init())
    }

    /// The kinds of change, in the order of their declaration.
    var kinds: [DefinitionChange.Kind] {
        var found = Set<DefinitionChange.Kind>()
        switch kind {
        case .multiChoice, .tags: compareCounts(&found)
        case .slider, .number: compareRange(&found)
        case .text: compareTexts(&found)
        case .date: compareDates(&found)
        case .ranking: if before.topK != after.topK { found.insert(.rangeNarrowed) }
        case .singleChoice, .height, .boolean, .info: break
        }
        compare(before.other?.maxCount ?? 0, after.other?.maxCount ?? 0, .rangeWidened, .rangeNarrowed, &found)
        compare(before.other?.maxLength ?? 0, after.other?.maxLength ?? 0, .rangeWidened, .rangeNarrowed, &found)
        return DefinitionChange.Kind.allCases.filter(found.contains)
    }

    private func compare<Bound: Comparable>(
        _ was: Bound, _ becomes: Bound, _ raised: DefinitionChange.Kind, _ lowered: DefinitionChange.Kind,
        _ found: inout Set<DefinitionChange.Kind>
    ) {
        if was < becomes { found.insert(raised) }
        if was > becomes { found.insert(lowered) }
    }

    private func compareCounts(_ found: inout Set<DefinitionChange.Kind>) {
        let (least, newLeast) = (Self.number(before.min, or: 1), Self.number(after.min, or: 1))
        let (most, newMost) = (Self.number(before.max, or: .infinity), Self.number(after.max, or: .infinity))
        compare(least, newLeast, .rangeNarrowed, .minSelectionsLowered, &found)
        compare(most, newMost, .maxSelectionsRaised, .maxSelectionsLowered, &found)
    }

    private func compareRange(_ found: inout Set<DefinitionChange.Kind>) {
        compareEnds(
            Self.number(before.min, or: -.infinity), Self.number(after.min, or: -.infinity), isLow: true, &found)
        compareEnds(Self.number(before.max, or: .infinity), Self.number(after.max, or: .infinity), isLow: false, &found)
        // Grids are compared exactly, in thousandths. Without a step, every thousandth is on the grid.
        let (step, newStep) = (Self.grid(before.step), Self.grid(after.step))
        let shift =
            (before.min.flatMap(Thousandths.init)?.count ?? 0) - (after.min.flatMap(Thousandths.init)?.count ?? 0)
        let isInside = step % newStep == 0 && (kind == .number || shift % newStep == 0)
        if step != newStep { found.insert(isInside ? .rangeWidened : .rangeNarrowed) }
        if step == newStep, !isInside { found.insert(.rangeNarrowed) }
    }

    private func compareEnds<Bound: Comparable>(
        _ was: Bound, _ becomes: Bound, isLow: Bool, _ found: inout Set<DefinitionChange.Kind>
    ) {
        compare(
            was, becomes, isLow ? .rangeNarrowed : .rangeWidened, isLow ? .rangeWidened : .rangeNarrowed, &found)
    }

    private func compareTexts(_ found: inout Set<DefinitionChange.Kind>) {
        compare(before.minLength ?? 1, after.minLength ?? 1, .rangeNarrowed, .textLengthRaised, &found)
        compare(before.maxLength ?? 4096, after.maxLength ?? 4096, .textLengthRaised, .rangeNarrowed, &found)
        if before.pattern != after.pattern { found.insert(after.pattern == nil ? .rangeWidened : .rangeNarrowed) }
    }

    private func compareDates(_ found: inout Set<DefinitionChange.Kind>) {
        compareEnds(before.earliest ?? "0", after.earliest ?? "0", isLow: true, &found)
        compareEnds(before.latest ?? "A", after.latest ?? "A", isLow: false, &found)
        compareEnds(before.minAge ?? .min, after.minAge ?? .min, isLow: true, &found)
        compareEnds(before.maxAge ?? .max, after.maxAge ?? .max, isLow: false, &found)
    }

    private static func number(_ value: JSONValue?, or missing: Double) -> Double { value?.doubleValue ?? missing }
    private static func grid(_ step: JSONValue?) -> Int64 { max(1, step.flatMap(Thousandths.init)?.count ?? 1) }
}
