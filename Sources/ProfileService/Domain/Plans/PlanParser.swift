import BusProtocol
import Cryptography
import Documents
import JSONText
import Synchronization

/// Reads a plan and checks it against the library of fields.
///
/// It refuses unknown members instead of ignoring them.
struct PlanParser: ProblemCollector {
    private let library: FieldLibrary
    private let file: PlanFile
    private var problems: [DocumentProblem] = []

    /// At most 16 plans that were read last, by the hashes of their document and library. A start reads each plan of a
    /// file twice: before it is stored, and out of the database.
    private static let recent = Mutex<[[UInt8]: Plan]>([:])

    /// - Throws: all problems of a document that has the right shape.
    static func parse(_ document: PlanDocument, _ library: FieldLibrary) throws(DocumentError) -> Plan {
        let hashes = document.hash + library.hash
        if let plan = recent.withLock({ $0[hashes] }) { return plan }
        var parser = PlanParser(library: library, file: document.file)
        parser.check()
        guard parser.problems.isEmpty else { throw DocumentError(problems: parser.problems) }
        let plan = try parser.plan()
        recent.withLock {
            if $0.count == 16 { $0 = [:] }
            $0[hashes] = plan
        }
        return plan
    }

    /// All fields of the library, each of them optional.
    static func everyField(of library: FieldLibrary) throws(DocumentError) -> FieldCatalogue {
        let screen = PlanFile.Screen(
            key: "fields", titleKey: "fields", fields: library.keys.map { PlanFile.Field(field: $0) })
        let file = PlanFile(
            key: "fields", version: library.version, apps: [], locales: library.languages,
            defaultLocale: library.languages[0], strings: [:],
            signIn: PlanFile.SignIn(titleKey: "account", methods: [], phone: "none"),
            steps: [PlanFile.Step(key: "profile", need: .optional, screens: [screen])])
        return try PlanParser(library: library, file: file).catalogue()
    }

    private init(library: FieldLibrary, file: PlanFile) { (self.library, self.file) = (library, file) }

    // MARK: Checks

    mutating func refuse(_ problem: DocumentProblem) { problems.append(problem) }

    private mutating func check() {
        checkKeys()
        checkSteps()
        checkDates()
        checkMoves()
        checkSignIn()
        checkCapabilities()
        checkWishes()
        checkTexts()
    }

    private var screens: [(pointer: String, screen: PlanFile.Screen, step: String)] {
        file.steps.enumerated().flatMap { place, step in
            (step.screens ?? []).enumerated().map { ("/steps/\(place)/screens/\($0)", $1, step.key) }
        }
    }

    private var fields: [(pointer: String, field: PlanFile.Field)] {
        screens.flatMap { pointer, screen, _ in
            screen.fields.enumerated().map { ("\(pointer)/fields/\($0)", $1) }
        }
    }

    /// Every key is used once. Steps and fields share one set of keys, since capabilities name both. Screens have their
    /// own set, and so do apps and entries.
    private mutating func checkKeys() {
        var seen = Set<String>()
        let named =
            file.steps.enumerated().map { ("/steps/\($0)/key", $1.key) }
            + fields.map { ($0.pointer + "/field", $0.field.field) }
        for (pointer, key) in named where !seen.insert(key).inserted {
            refuse("duplicate_key", pointer, "The key \(key) is used twice.")
        }
        seen = ["account"]
        for (pointer, screen, _) in screens where !seen.insert(screen.key).inserted {
            refuse("duplicate_key", "\(pointer)/key", "The key \(screen.key) is used twice.")
        }
        for (name, keys) in [("apps", file.apps), ("entries", file.entries ?? []), ("locales", file.locales)] {
            seen = []
            for (place, key) in keys.enumerated() where !seen.insert(key).inserted {
                refuse("duplicate_key", "/\(name)/\(place)", "\(key) is listed twice.")
            }
        }
    }

    private mutating func checkSteps() {
        for (place, step) in file.steps.enumerated() {
            let kinds = [
                step.screens != nil, step.questionnaire != nil, step.task != nil, step.terms != nil,
                step.operator != nil,
            ].count { $0 }
            if kinds != 1 {
                refuse(
                    "malformed", "/steps/\(place)",
                    "A step has screens, a questionnaire, a task, terms or a task of the operator.")
            }
            checkTerms(of: step, at: place)
            if let task = step.operator, file.steps[..<place].contains(where: { $0.operator == task }) {
                refuse("duplicate_key", "/steps/\(place)/operator", "The task \(task) is a step already.")
            }
            problems += condition(of: step, at: place).problems
            if let task = step.task, file.steps[..<place].contains(where: { $0.task == task }) {
                refuse("duplicate_key", "/steps/\(place)/task", "The task \(task) is a step already.")
            }
        }
        if !file.steps.contains(where: { $0.need == .required && $0.visibleIf == nil }) {
            refuse(
                "nothing_required", "/steps",
                "At least one step must be required of everybody, or somebody has no onboarding.")
        }
        if fields.isEmpty { refuse("no_fields", "/steps", "At least one step must have fields.") }
        if fields.count > 64 { refuse("too_many_fields", "/steps", "A plan has at most 64 fields.") }
        for (pointer, field) in fields { check(field, at: pointer) }
    }

    /// Only required steps and fields may have a date.
    private mutating func checkDates() {
        for dated in file.dates where dated.need != .required {
            refuse("contradiction", dated.pointer, "Only a required step or field has a date.")
        }
        if file.dates.count > 64 { refuse("too_many_dates", "/steps", "A plan has at most 64 dates.") }
    }

    private mutating func checkMoves() {
        let from = file.moves?.from ?? []
        for (place, version) in from.enumerated() {
            if from[..<place].contains(version) {
                refuse("duplicate_key", "/moves/from/\(place)", "Version \(version) is listed twice.")
            }
            if version >= file.version {
                refuse("unknown_version", "/moves/from/\(place)", "People move from an older version only.")
            }
        }
    }

    /// A text is in one step only, and its address uses https.
    private mutating func checkTerms(of step: PlanFile.Step, at place: Int) {
        let earlier = file.steps[..<place].flatMap { $0.terms ?? [] }.map(\.document)
        for (index, text) in (step.terms ?? []).enumerated() {
            let pointer = "/steps/\(place)/terms/\(index)"
            let before = earlier + (step.terms ?? [])[..<index].map(\.document)
            if before.contains(text.document) {
                refuse("duplicate_key", "\(pointer)/document", "The text \(text.document) is asked for already.")
            }
            if !text.url.hasPrefix("https://") || text.url.contains(where: { $0.isWhitespace }) {
                refuse("malformed", "\(pointer)/url", "The address must begin with https:// and have no spaces.")
            }
        }
    }

    /// The condition of a step. It may name every field that no step from this one on asks for.
    private func condition(
        of step: PlanFile.Step, at place: Int
    ) -> (condition: PlanCondition?, problems: [DocumentProblem]) {
        guard let json = step.visibleIf else { return (nil, []) }
        let later = file.steps[place...].flatMap { ($0.screens ?? []).flatMap(\.fields).map(\.field) }
        var reader = PlanConditionReader(library, later: Set(later))
        let condition = reader.condition(json, at: "/steps/\(place)/visibleIf")
        return (condition, reader.problems)
    }

    /// A plan selects and tightens a field. It never loosens or retypes one.
    private mutating func check(_ field: PlanFile.Field, at pointer: String) {
        guard let known = library.field(field.field, in: file.defaultLocale) else {
            return refuse("unknown_field", "\(pointer)/field", "The library has no field \(field.field).")
        }
        for (name, member, isLower) in PlanFile.Field.bounds {
            guard let bound = field[keyPath: member] else { continue }
            let most =
                known[name]
                ?? (name == "maxSelections" ? known["options"].map { .integer(Int64($0.arrayValue?.count ?? 0)) } : nil)
            guard let limit = most?.integerValue else {
                refuse("not_tightened", "\(pointer)/\(name)", "The field \(field.field) has no \(name).")
                continue
            }
            if isLower ? bound < limit : bound > limit {
                refuse(
                    "not_tightened", "\(pointer)/\(name)",
                    "The library's \(name) is \(limit): a plan may only tighten it.")
            }
        }
        for (least, most) in [("min", "max"), ("minLength", "maxLength")] {
            let bounds = [least, most].map { name in
                PlanFile.Field.bounds.first { $0.name == name }.flatMap { field[keyPath: $0.member] }
                    ?? known[name]?.integerValue
            }
            if let low = bounds[0], let high = bounds[1], low > high {
                refuse("impossible", "\(pointer)/\(least)", "No value has at least \(low) and at most \(high).")
            }
        }
        guard let options = field.options else { return }
        let all = (known["options"]?.arrayValue ?? []).compactMap { $0["key"]?.stringValue }
        for (place, option) in options.enumerated() {
            if !all.contains(option) {
                refuse(
                    "unknown_option", "\(pointer)/options/\(place)", "The field \(field.field) has no option \(option)."
                )
            } else if options[..<place].contains(option) {
                refuse("duplicate_key", "\(pointer)/options/\(place)", "The option \(option) is listed twice.")
            }
        }
    }

    private mutating func checkSignIn() {
        let (methods, phone) = (file.signIn.methods, file.signIn.phone)
        for (place, method) in methods.enumerated() where methods[..<place].contains(method) {
            refuse("duplicate_key", "/signIn/methods/\(place)", "The method \(method) is listed twice.")
        }
        if phone == "none", methods.contains("phone_code") {
            refuse("contradiction", "/signIn/phone", "A plan that signs in by phone cannot leave the phone out.")
        }
        if phone == "required", !methods.contains("phone_code") {
            refuse("contradiction", "/signIn/phone", "A plan that requires a phone needs the method phone_code.")
        }
        if file.age != nil, !fields.contains(where: { $0.field.field == "dateOfBirth" }) {
            refuse("contradiction", "/age", "A plan with an age rule needs the field dateOfBirth.")
        }
    }

    private mutating func checkCapabilities() {
        let known = Set(file.steps.map(\.key) + fields.map(\.field.field))
        for (capability, needs) in (file.capabilities ?? [:]).sorted(by: { $0.key < $1.key }) {
            var seen = Set<String>()
            for (list, keys) in [("due", needs.due ?? []), ("wanted", needs.wanted ?? [])] {
                for (place, key) in keys.enumerated() {
                    let pointer = "/capabilities/\(capability)/\(list)/\(place)"
                    if !known.contains(key) {
                        refuse("unknown_need", pointer, "The plan has no step and no field \(key).")
                    } else if !seen.insert(key).inserted {
                        refuse("duplicate_key", pointer, "\(key) is listed twice.")
                    }
                }
            }
        }
    }

    /// The comparison uses only fields that people see of each other.
    private mutating func checkWishes() {
        let wishes = file.policy?.wishes ?? []
        for (place, wish) in wishes.enumerated() {
            let pointer = "/policy/wishes/\(place)"
            if wishes[..<place].contains(where: { $0.question == wish.question }) {
                refuse("duplicate_key", "\(pointer)/question", "The question \(wish.question) is listed twice.")
            }
            guard fields.contains(where: { $0.field.field == wish.field }),
                let known = library.field(wish.field, in: file.defaultLocale)
            else {
                refuse("unknown_field", "\(pointer)/field", "The plan has no field \(wish.field).")
                continue
            }
            if known["visibility"] != "public" {
                refuse("contradiction", "\(pointer)/field", "Other people do not see the field \(wish.field).")
            }
            let isNumber = known["type"] == "integer"
            if isNumber != (wish.relative != nil) || !isNumber && known["options"] == nil {
                refuse(
                    "contradiction", pointer, "A wish is about a number with `relative`, or about a choice without it.")
            }
        }
    }

    /// Every text key has a text in every locale, and every text has a key.
    private mutating func checkTexts() {
        if !file.locales.contains(file.defaultLocale) {
            refuse("unknown_locale", "/defaultLocale", "The default locale is not among the locales.")
        }
        for locale in file.strings.keys.sorted() where !file.locales.contains(locale) {
            refuse("unknown_locale", "/strings/\(locale)", "The locale \(locale) is not among the locales.")
        }
        var used = [("/signIn/titleKey", file.signIn.titleKey)]
        used += screens.map { ($0.pointer + "/titleKey", $0.screen.titleKey) }
        used += fields.compactMap { pointer, field in field.labelKey.map { ("\(pointer)/labelKey", $0) } }
        for locale in file.locales {
            let texts = file.strings[locale] ?? [:]
            for (pointer, key) in used where texts[key] == nil {
                refuse("missing_text", pointer, "The text \(key) is missing in \(locale).")
            }
            for key in texts.keys.sorted() where !used.contains(where: { $0.1 == key }) {
                refuse("unused_text", "/strings/\(locale)/\(key)", "Nothing uses the text \(key).")
            }
        }
    }

    // MARK: Building

    private func plan() throws(DocumentError) -> Plan {
        let catalogue = try catalogue()
        let steps = file.steps.enumerated().map { place, step in
            let kind: Plan.Step.Kind =
                if let questionnaire = step.questionnaire {
                    .questionnaire(questionnaire)
                } else if let task = step.task.flatMap({ Plan.Task(rawValue: $0) }) {
                    .task(task)
                } else if let terms = step.terms {
                    .terms(
                        terms.map {
                            Plan.Terms(
                                key: .init(plan: file.key, document: $0.document, version: $0.version), url: $0.url)
                        })
                } else if let task = step.operator {
                    .operatorTask(task)
                } else {
                    .fields((step.screens ?? []).flatMap(\.fields).compactMap { catalogue.field($0.field) })
                }
            return Plan.Step(
                key: step.key, need: step.need, kind: kind, visibleIf: condition(of: step, at: place).condition)
        }
        let capabilities = (file.capabilities ?? [:]).compactMap { name, needs in
            Plan.Capability(rawValue: name).map { ($0, Plan.Needs(due: needs.due ?? [], wanted: needs.wanted ?? [])) }
        }
        return Plan(
            reference: PlanReference(key: file.key, version: file.version), apps: Set(file.apps),
            entries: Set(file.entries ?? []),
            signIn: Plan.SignIn(
                methods: file.signIn.methods, phone: Plan.PhonePolicy(rawValue: file.signIn.phone) ?? .required),
            age: file.age.map { Plan.AgeRule(minimum: $0.minimum, refuses: $0.under == "refuse") }, steps: steps,
            capabilities: Dictionary(uniqueKeysWithValues: capabilities),
            repromptAfter: .seconds(file.policy?.repromptAfterSeconds ?? 604_800),
            provisionalMaxOffers: file.policy?.provisionalMaxOffers, wishes: file.policy?.wishes ?? [],
            catalogue: catalogue,
            dates: Dictionary(
                file.dates.map { ($0.key, $0.dueAt) }, uniquingKeysWith: { first, _ in first }),
            movesFrom: Set(file.moves?.from ?? []))
    }

    private func catalogue() throws(DocumentError) -> FieldCatalogue {
        // The default locale comes first: it is the fallback.
        let locales = [file.defaultLocale] + file.locales.filter { $0 != file.defaultLocale }
        var views: [ProfileFields] = []
        for locale in locales { views.append(try view(in: locale)) }
        do throws(FieldCatalogueError) {
            return try FieldCatalogue(views)
        } catch {
            throw DocumentError(
                problems: error.problems.map { DocumentProblem(code: "malformed", pointer: "/steps", message: $0) })
        }
    }

    /// The question of a field; `nil` if there is none, or if the field is malformed. The field's own schema reports
    /// that.
    private static func question(of field: JSONValue, _ decline: String?) -> JSONValue? {
        guard let view = try? WireJSON.decode(ProfileFieldView.self, from: CanonicalJSON.bytes(of: field)),
            let question = ScreenQuestion(view, decline: decline)
        else { return nil }
        return try? JSONDocument(WireJSON.encode(question)).root.value
    }

    /// The fields and screens as clients see them.
    private func view(in locale: String) throws(DocumentError) -> ProfileFields {
        let texts = file.strings[locale] ?? [:]
        func text(_ key: String) -> JSONValue { .string(texts[key] ?? key) }
        let account = PlanFile.Screen(key: "account", titleKey: file.signIn.titleKey, fields: [])
        let decline = library.preferNotToSay(in: locale)
        var (steps, fields): ([JSONValue], [JSONValue]) = ([], [])
        let asked: [(screen: PlanFile.Screen, step: String?)] = [(account, nil)] + screens.map { ($0.screen, $0.step) }
        for (place, (screen, step)) in asked.enumerated() {
            let isRequired = screen.fields.isEmpty || screen.fields.contains { $0.need == .required }
            let own = screen.fields.map { field in
                JSONValue.object(self.members(of: field, step: place + 1, locale, label: field.labelKey.map(text)))
            }
            var shown: [String: JSONValue] = [
                "step": .integer(Int64(place + 1)), "key": .string(screen.key), "label": text(screen.titleKey),
                "fields": .array(screen.fields.map { .string($0.field) }), "required": .bool(isRequired),
                "skippable": .bool(!isRequired),
                "questions": .array(own.compactMap { Self.question(of: $0, decline["label"]?.stringValue) }),
            ]
            shown["onboardingStep"] = step.map { .string($0) }
            steps.append(.object(shown))
            fields += own
        }
        var members: [String: JSONValue] = [
            "key": .string(file.key), "version": .integer(file.version), "language": .string(locale),
            "steps": .array(steps), "fields": .array(fields), "preferNotToSay": decline,
        ]
        members["hash"] = .string(Hex.encode(SHA256.digest(CanonicalJSON.bytes(of: .object(members)))))
        do {
            let document = try JSONDocument(CanonicalJSON.bytes(of: .object(members)), limits: DocumentText.limits)
            let problems = ProfileFields.schema.problems(in: document.root)
            guard problems.isEmpty else {
                throw DocumentError(
                    problems: problems.map {
                        DocumentProblem(code: "malformed", pointer: "/steps", message: "\($0.field): \($0.message)")
                    })
            }
            return try WireJSON.decode(ProfileFields.self, from: document.root)
        } catch let error as DocumentError {
            throw error
        } catch {
            throw DocumentError("malformed", "/steps", "The fields cannot be shown to clients.")
        }
    }

    private func members(
        of field: PlanFile.Field, step: Int, _ locale: String, label: JSONValue?
    ) -> [String: JSONValue] {
        var members = library.field(field.field, in: locale) ?? [:]
        members["controls"] = members["pattern"]
        let need = field.need ?? .optional
        members["step"] = .integer(Int64(step))
        members["category"] = .string(need.rawValue)
        members["required"] = .bool(need == .required)
        members["encouraged"] = .bool(need == .encouraged)
        members["skippable"] = .bool(need != .required)
        members["capabilities"] = .array(
            Plan.Capability.allCases.filter { capability in
                let needs = file.capabilities?[capability.rawValue]
                return (needs?.due ?? []).contains(field.field) || (needs?.wanted ?? []).contains(field.field)
            }.map { .string($0.rawValue) })
        members["label"] = label ?? members["label"]
        for bound in PlanFile.Field.bounds {
            members[bound.name] = field[keyPath: bound.member].map { .integer($0) } ?? members[bound.name]
        }
        if field.field == "dateOfBirth", let age = file.age { members["minAge"] = .integer(Int64(age.minimum)) }
        if var lookup = members["lookup"]?.objectValue, let fills = lookup["fills"]?.arrayValue {
            // A search fills only fields that the plan has.
            let chosen = Set(fields.map(\.field.field))
            lookup["fills"] = .array(fills.filter { chosen.contains($0["field"]?.stringValue ?? "") })
            members["lookup"] = .object(lookup)
        }
        if let chosen = field.options, let options = members["options"]?.arrayValue {
            members["options"] = .array(options.filter { chosen.contains($0["key"]?.stringValue ?? "") })
        }
        return members
    }
}
