import BusProtocol
import Cryptography

extension Definition {
    /// The reference by which clients know this version.
    func reference(in language: String) -> QuestionnaireReference {
        QuestionnaireReference(
            key: key, version: version, hash: Hex.encode(hash), title: translations[language]?.title ?? "")
    }
}

extension QuestionView {
    init(_ question: Question, sectionTitle: String?) {
        self.init(
            key: question.key, slug: question.slug, section: question.section, type: question.kind.rawValue,
            text: question.text, help: question.help, required: question.required, skippable: question.skippable,
            declinable: question.declinable, visible: true, presentation: question.presentation,
            default: question.suggestion, constraints: QuestionConstraints(question),
            options: question.optionViews, sectionTitle: sectionTitle,
            preference: question.importances.isEmpty ? nil : QuestionPreference(importance: question.importances))
    }
}

extension Question {
    /// Whether the person uploads a picture, whose ID is the answer. Profile refuses any other text as an answer for
    /// the photo.
    var isUpload: Bool { kind == .text && profileField == "photo" }

    /// The options as clients see them; `nil` for none, since there is no empty list on the wire.
    var optionViews: [QuestionOption]? {
        options.isEmpty ? nil : options.map { .init(key: $0.key, label: $0.label, exclusive: $0.exclusive) }
    }
}

extension QuestionConstraints {
    init(_ question: Question) {
        self.init()
        let limits = question.constraints
        (min, max, step) = (limits.min?.double, limits.max?.double, limits.step?.double)
        if [.multiChoice, .tags].contains(question.kind) {
            (minSelections, maxSelections) = (min.map { Int64($0) }, max.map { Int64($0) })
        }
        topK = limits.topK.map(Int64.init)
        (minLength, maxLength) = (limits.minLength.map(Int64.init), limits.maxLength.map(Int64.init))
        (minLabel, maxLabel) = (limits.minLabel, limits.maxLabel)
        (earliest, latest) = (limits.earliest, limits.latest)
        (minAge, maxAge) = (limits.minAge.map(Int64.init), limits.maxAge.map(Int64.init))
        (format, pattern) = (limits.pattern?.rawValue, limits.pattern?.rawValue)
        if question.isUpload { format = "media_id" }
        if limits.otherCount > 0 {
            other = OtherConstraint(maxCount: Int64(limits.otherCount), maxLength: Int64(limits.otherLength))
        }
    }
}
