import BusProtocol

extension ProfileField {
    /// `nil` if the members of the field do not fit together.
    convenience init?(_ view: ProfileFieldView) {
        guard let category = Category(rawValue: view.category), let kind = Kind(view),
            view.required == (category == .required), view.encouraged == (category == .encouraged),
            view.skippable == (category != .required), !view.sensitive || view.allowsPreferNotToSay,
            ["public", "private"].contains(view.visibility)
        else { return nil }
        self.init(
            key: view.key, step: view.step, kind: kind, category: category, isDeclinable: view.allowsPreferNotToSay,
            isPublic: view.visibility == "public")
    }
}

extension ProfileField.Kind {
    fileprivate init?(_ view: ProfileFieldView) {
        switch (view.type, view.format) {
        case ("text", "person_name"?):
            guard let length = Self.length(view) else { return nil }
            self = .name(length)
        case ("text", "single_line"?):
            guard let length = Self.length(view) else { return nil }
            self = .line(length)
        case ("text", "free_text"?):
            guard let length = Self.length(view) else { return nil }
            self = .text(length)
        case ("integer", nil):
            guard let min = view.min, let max = view.max, min <= max else { return nil }
            self = .integer(min...max)
        case ("single_choice", nil):
            guard let options = Self.keys(view) else { return nil }
            self = .choice(options)
        case ("multi_choice", nil):
            guard let options = Self.keys(view) else { return nil }
            let exclusive = view.options?.first { $0.exclusive == true }?.key
            self = .choices(options, exclusive: exclusive, most: Int(view.maxSelections ?? Int64(options.count)))
        case ("date", nil): self = .date
        case ("boolean", nil): self = .boolean
        case ("url", nil): self = .url
        case ("coordinates", nil): self = .coordinates
        default: return nil
        }
    }

    private static func length(_ view: ProfileFieldView) -> ClosedRange<Int>? {
        guard let min = view.minLength, let max = view.maxLength, min <= max else { return nil }
        return Int(min)...Int(max)
    }

    /// The keys of the options; `nil` if a key is used twice, or if more than one option is exclusive.
    private static func keys(_ view: ProfileFieldView) -> [String]? {
        guard let options = view.options, Set(options.map(\.key)).count == options.count,
            options.count(where: { $0.exclusive == true }) <= (view.type == "multi_choice" ? 1 : 0)
        else { return nil }
        return options.map(\.key)
    }
}
