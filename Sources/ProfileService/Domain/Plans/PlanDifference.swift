import Documents
import JSONText

/// The differences between a version of a plan and the one before it, each with its class.
struct PlanDifference: DocumentDifference {
    private let old: PlanFile
    private let new: PlanFile
    private let library: FieldLibrary
    private(set) var changes: [PlanChange] = []

    /// - Parameter library: has the bounds and options of fields that a plan leaves open.
    init(from old: PlanFile, to new: PlanFile, _ library: FieldLibrary) {
        (self.old, self.new, self.library) = (old, new, library)
        compareAppsAndEntries()
        compareLanguages()
        compareSignIn()
        compareSteps()
        compareFields()
        compareCapabilities()
        if old.policy != new.policy { note(.policyChanged, "/policy", []) }
        // The same rule moves people again, to this version.
        if let moves = new.moves { note(.peopleMoved, "/moves", moves.from.map { String($0) }) }
    }

    private mutating func note(_ kind: PlanChangeKind, _ pointer: String, _ keys: [String]) {
        changes.append(PlanChange(kind: kind, pointer: pointer, keys: keys))
    }

    // MARK: Lists of keys

    /// Notes the keys of a list that came and went.
    private mutating func compare(
        _ before: [String], _ after: [String], at pointer: String, added: PlanChangeKind, removed: PlanChangeKind,
        in part: [String] = []
    ) {
        for (place, key) in after.enumerated() where !before.contains(key) {
            note(added, "\(pointer)/\(place)", part + [key])
        }
        for (place, key) in before.enumerated() where !after.contains(key) {
            note(removed, "\(pointer)/\(place)", part + [key])
        }
    }

    /// Whether the keys that both lists have are in another order.
    private static func isReordered(_ before: [String], _ after: [String]) -> Bool {
        before.filter(after.contains) != after.filter(before.contains)
    }

    private mutating func compareAppsAndEntries() {
        compare(
            old.apps, new.apps, at: "/apps", added: .appAdded,
            removed: new.apps.isEmpty ? .lastAppRemoved : .appRemoved)
        if Self.isReordered(old.apps, new.apps) { note(.appOrder, "/apps", []) }
        compare(
            old.entries ?? [], new.entries ?? [], at: "/entries", added: .entryAdded, removed: .entryRemoved)
    }

    private mutating func compareLanguages() {
        compare(old.locales, new.locales, at: "/locales", added: .localeAdded, removed: .unlisted)
        if old.defaultLocale != new.defaultLocale { note(.unlisted, "/defaultLocale", [new.defaultLocale]) }
        for (locale, strings) in new.strings.sorted(by: { $0.key < $1.key }) {
            for (key, text) in strings.sorted(by: { $0.key < $1.key }) {
                guard let before = old.strings[locale]?[key], before != text else { continue }
                note(
                    .stringChanged, "/strings/\(JSONPointer.escaped(locale))/\(JSONPointer.escaped(key))",
                    [key, locale])
            }
        }
    }

    /// Whether a title or label has another key and another text. An edited text under the same key is another kind of
    /// change.
    private func isRenamed(_ before: String?, _ after: String?) -> Bool {
        guard before != after else { return false }
        let texts = (
            before.map { old.strings[old.defaultLocale]?[$0] }, after.map { new.strings[new.defaultLocale]?[$0] }
        )
        return texts.0 != texts.1
    }

    // MARK: Sign-in and age

    private mutating func compareSignIn() {
        if isRenamed(old.signIn.titleKey, new.signIn.titleKey) { note(.titleChanged, "/signIn/titleKey", ["account"]) }
        compare(
            old.signIn.methods, new.signIn.methods, at: "/signIn/methods", added: .methodAdded,
            removed: .methodRemoved)
        if old.signIn.phone != new.signIn.phone {
            note(
                new.signIn.phone == "required" ? .phoneRequired : .phoneNotRequired, "/signIn/phone",
                [new.signIn.phone])
        }
        if old.age != new.age { note(.ageRule, "/age", []) }
    }

    // MARK: Steps

    private mutating func compareSteps() {
        let known = Dictionary(old.steps.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for (place, step) in new.steps.enumerated() {
            let pointer = "/steps/\(place)"
            guard let before = known[step.key] else {
                note(step.need == .required ? .requiredStepAdded : .optionalStepAdded, pointer, [step.key])
                continue
            }
            compareNeed(before.need, step.need, at: "\(pointer)/need", [step.key])
            if before.visibleIf != step.visibleIf { note(.stepCondition, "\(pointer)/visibleIf", [step.key]) }
            if before.dueAt != step.dueAt { note(.dateChanged, "\(pointer)/dueAt", [step.key]) }
            if before.kind != step.kind {
                note(.stepKind, pointer, [step.key])
            } else if before.questionnaire != step.questionnaire {
                note(.stepQuestionnaire, "\(pointer)/questionnaire", [step.key])
            } else if before.terms != step.terms {
                func versions(_ step: PlanFile.Step) -> [[String]] {
                    (step.terms ?? []).map { [$0.document, $0.version] }
                }
                note(versions(before) == versions(step) ? .termsMoved : .termsChanged, "\(pointer)/terms", [step.key])
            }
            for (index, screen) in (step.screens ?? []).enumerated() {
                guard let same = before.screens?.first(where: { $0.key == screen.key }),
                    isRenamed(same.titleKey, screen.titleKey)
                else { continue }
                note(.titleChanged, "\(pointer)/screens/\(index)/titleKey", [screen.key])
            }
        }
        let keys = new.steps.map(\.key)
        for (place, step) in old.steps.enumerated() where !keys.contains(step.key) {
            note(.stepRemoved, "/steps/\(place)", [step.key])
        }
        if Self.isReordered(old.steps.map(\.key), keys) { note(.stepOrder, "/steps", []) }
    }

    private mutating func compareNeed(_ before: Plan.Need, _ after: Plan.Need, at pointer: String, _ keys: [String]) {
        guard before != after else { return }
        switch (before, after) {
        case (_, .required): note(.needRequired, pointer, keys)
        case (.optional, _): note(.needEncouraged, pointer, keys)
        default: note(.needLowered, pointer, keys)
        }
    }

    // MARK: Fields

    /// A field and its place in the plan.
    private struct Placed {
        let field: PlanFile.Field
        let step: PlanFile.Step
        let screen: String
        let pointer: String

        var key: String { field.field }
        var need: Plan.Need { field.need ?? .optional }
        /// A step waits only for its required fields, and the onboarding waits only for required steps.
        var isAwaited: Bool { need == .required && step.need == .required }
    }

    private static func fields(of file: PlanFile) -> [Placed] {
        file.steps.enumerated().flatMap { place, step in
            (step.screens ?? []).enumerated().flatMap { index, screen in
                screen.fields.enumerated().map {
                    Placed(
                        field: $1, step: step, screen: screen.key,
                        pointer: "/steps/\(place)/screens/\(index)/fields/\($0)")
                }
            }
        }
    }

    private mutating func compareFields() {
        let (before, after) = (Self.fields(of: old), Self.fields(of: new))
        let known = Dictionary(before.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for placed in after {
            if let same = known[placed.key] {
                compare(same, placed)
            } else {
                note(
                    placed.need == .required ? .requiredFieldAdded : .optionalFieldAdded, placed.pointer,
                    [placed.key])
            }
        }
        let keys = after.map(\.key)
        for placed in before where !keys.contains(placed.key) { note(.fieldRemoved, placed.pointer, [placed.key]) }
        func places(_ fields: [Placed], without others: [Placed]) -> [[String]] {
            let keys = others.map(\.key)
            return fields.filter { keys.contains($0.key) }.map { [$0.step.key, $0.screen, $0.key] }
        }
        if places(before, without: after) != places(after, without: before) { note(.screens, "/steps", []) }
    }

    private mutating func compare(_ before: Placed, _ after: Placed) {
        let (pointer, key) = (after.pointer, after.key)
        compareNeed(before.need, after.need, at: "\(pointer)/need", [key])
        if before.need == .required, before.step.key != after.step.key, after.isAwaited, !before.isAwaited {
            // It moved from a step that nobody had to finish.
            note(.needRequired, pointer, [key])
        }
        if before.field.dueAt != after.field.dueAt { note(.dateChanged, "\(pointer)/dueAt", [key]) }
        if isRenamed(before.field.labelKey, after.field.labelKey) { note(.labelChanged, "\(pointer)/labelKey", [key]) }
        let library = library.field(key, in: new.defaultLocale) ?? [:]
        let options = (library["options"]?.arrayValue ?? []).compactMap { $0["key"]?.stringValue }
        compareBounds(before.field, after.field, library, at: pointer)
        let (had, has) = (before.field.options ?? options, after.field.options ?? options)
        let (gone, come) = (had.filter { !has.contains($0) }, has.filter { !had.contains($0) })
        if !gone.isEmpty { note(.optionsRemoved, "\(pointer)/options", [key] + gone) }
        if !come.isEmpty { note(.optionsAdded, "\(pointer)/options", [key] + come) }
    }

    /// If the plan has no bound, the library's counts. For `maxSelections` it may be the number of options.
    private mutating func compareBounds(
        _ before: PlanFile.Field, _ after: PlanFile.Field, _ library: [String: JSONValue], at pointer: String
    ) {
        for bound in PlanFile.Field.bounds {
            func value(_ field: PlanFile.Field) -> Int64? {
                field[keyPath: bound.member] ?? library[bound.name]?.integerValue
                    ?? (bound.name == "maxSelections" ? library["options"]?.arrayValue.map { Int64($0.count) } : nil)
            }
            guard let had = value(before), let has = value(after), had != has else { continue }
            let isNarrower = bound.isLower ? has > had : has < had
            note(isNarrower ? .boundNarrowed : .boundWidened, "\(pointer)/\(bound.name)", [after.field])
        }
    }

    // MARK: Capabilities

    private mutating func compareCapabilities() {
        let (before, after) = (old.capabilities ?? [:], new.capabilities ?? [:])
        for (capability, needs) in after.sorted(by: { $0.key < $1.key }) {
            let pointer = "/capabilities/\(capability)"
            guard let had = before[capability] else {
                note(.capabilityAdded, pointer, [capability])
                continue
            }
            compare(
                had.due ?? [], needs.due ?? [], at: "\(pointer)/due", added: .capabilityNeedsMore,
                removed: .capabilityNeedsFewer, in: [capability])
            compare(
                had.wanted ?? [], needs.wanted ?? [], at: "\(pointer)/wanted", added: .capabilityWants,
                removed: .capabilityWants, in: [capability])
        }
        for capability in before.keys.sorted() where after[capability] == nil {
            note(.capabilityRemoved, "/capabilities/\(capability)", [capability])
        }
    }
}

extension PlanFile.Step {
    /// What the step asks for.
    var kind: String {
        if let `operator` { return "operator \(`operator`)" }
        return task ?? (questionnaire != nil ? "questionnaire" : terms != nil ? "terms" : "fields")
    }
}
