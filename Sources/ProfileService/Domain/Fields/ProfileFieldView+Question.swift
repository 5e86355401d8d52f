import BusProtocol

extension ScreenQuestion {
    /// The field in the form in which apps draw the questions of questionnaires. It has no options: the field beside it
    /// has them, so that a list of all countries is sent once.
    ///
    /// - Parameter decline: the words for declining.
    /// - Returns: `nil` if no control takes the value. Such a value is an object that a search or the device fills in.
    init?(_ field: ProfileFieldView, decline: String?) {
        guard let (type, control) = Self.kind(of: field) else { return nil }
        let declines = field.allowsPreferNotToSay
        self.init(
            key: field.key, type: type, control: control, label: field.label, required: field.required,
            skippable: field.skippable, declinable: declines, declineLabel: declines ? decline : nil,
            default: field.suggestion.map { .integer($0) }, constraints: QuestionConstraints(field), unit: field.unit,
            upload: field.key == ProfilePhoto.field ? .profilePhoto : nil)
    }

    private static func kind(of field: ProfileFieldView) -> (type: String, control: String)? {
        switch field.type {
        case "text": ("text", field.format == "free_text" ? "text_area" : "text")
        case "url" where field.key == ProfilePhoto.field: ("text", "upload")
        case "url": ("text", "text")
        case "date": ("date", "date")
        case "single_choice": ("single_choice", "select")
        case "multi_choice": ("multi_choice", "chips")
        case "integer": ("number", "number")
        case "boolean": ("boolean", "switch")
        default: nil
        }
    }
}

extension QuestionConstraints {
    fileprivate init(_ field: ProfileFieldView) {
        self.init()
        (min, max) = (field.min.map { Double($0) }, field.max.map { Double($0) })
        (minLength, maxLength) = (field.minLength, field.maxLength)
        // The date of birth of a person below `minAge` is stored too, so `minAge` is no constraint of the answer.
        (maxAge, maxSelections) = (field.maxAge, field.maxSelections)
        // Every other text takes any characters.
        format = field.format == "free_text" ? nil : field.format
    }
}
