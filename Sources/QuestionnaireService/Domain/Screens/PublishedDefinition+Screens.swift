import BusProtocol
import Cryptography

extension PublishedDefinition {
    /// The session of the sheet's person as screens to draw, in one language.
    ///
    /// - Parameters:
    ///   - revision: of the session.
    ///   - language: one of the definition's languages.
    func screens(for sheet: AnswerSheet, revision: Int64, in language: String) -> SessionScreens {
        let writer = ScreenWriter(sheet, in: language)
        let reference = reference(in: language)
        return SessionScreens(
            questionnaire: reference, locale: language, revision: revision,
            // The day counts too, since conditions look at ages.
            tag: Hex.encode(SHA256.digest(Array("\(reference.hash) \(language) \(revision) \(sheet.today)".utf8))),
            screens: writer.screens, answers: sheet.views, subjects: sheet.subjectViews, progress: sheet.progress,
            next: sheet.next.map(NextQuestion.init), review: writer.review)
    }
}

/// Makes the screens of a sheet in one language.
private struct ScreenWriter {
    let sheet: AnswerSheet
    /// The questions in the order of the definition, with the texts of the language.
    let questions: [Question]
    let title: String
    let sectionTitles: [String: String]
    let words: ServiceWords?
    let text: AnswerText

    init(_ sheet: AnswerSheet, in language: String) {
        self.sheet = sheet
        let translation = sheet.definition.translations[language]
        questions = translation?.questions ?? sheet.definition.questions
        title = translation?.title ?? ""
        sectionTitles = translation?.sectionTitles ?? [:]
        words = ServiceWords.of(language)
        text = AnswerText(language: language)
    }

    var screens: [Screen] {
        var (screens, drawn): ([Screen], [ScreenQuestion]) = ([], [])
        func end(with place: Int, about subject: Identifier?, adds: String? = nil) {
            let question = questions[place]
            screens.append(
                Screen(
                    key: AnswerPlace(question.key, of: subject).key, slug: question.slug, section: question.section,
                    subject: subject, adds: adds, title: sectionTitles[question.section] ?? title, questions: drawn))
            drawn = []
        }
        var last: AnswerSheet.Item?
        for part in sheet.parts {
            for item in part.items where !item.isHidden {
                drawn.append(ScreenQuestion(resolved(item), about: item.subject, words))
                last = item
                if item.isCounted { end(with: item.place, about: item.subject) }
            }
            guard let wanted = part.wanted else { continue }
            if wanted.isLabel { drawn.append(ScreenQuestion(questions[wanted.question], about: nil, words)) }
            end(with: wanted.question, about: nil, adds: wanted.subject)
        }
        // After the last question there may be screens without a question.
        if !drawn.isEmpty, let last { end(with: last.place, about: last.subject) }
        return screens
    }

    /// The question as the conditions decide for this person.
    private func resolved(_ item: AnswerSheet.Item) -> Question {
        var question = questions[item.place]
        question.required = item.required
        if item.hasConditionalOptions {
            let offered = Set(item.options.map(\.key))
            question.options.removeAll { !offered.contains($0.key) }
        }
        return question
    }

    var review: [ReviewLine] {
        sheet.items.compactMap { item in
            guard item.isCounted, !item.isHidden else { return nil }
            let (question, state) = (questions[item.place], item.answer?.state ?? .unanswered)
            // The ID of a picture tells a person nothing.
            let given = question.isUpload ? nil : item.answer?.value
            let value = given ?? (item.isLeftToDefault ? question.suggestion : nil)
            let declined = state == .declined ? [words?.decline].compactMap(\.self) : []
            return ReviewLine(
                screen: item.key, label: question.text, state: state,
                texts: value.map { text.texts(of: $0, to: question) } ?? declined, stale: item.isStale ? true : nil)
        }
    }
}

extension ScreenQuestion {
    fileprivate init(_ question: Question, about subject: Identifier?, _ words: ServiceWords?) {
        self.init(
            key: question.key, subject: subject, type: question.kind.rawValue, control: question.control,
            label: question.text, help: question.help, required: question.required,
            skippable: question.skippable && !question.required, declinable: question.declinable,
            declineLabel: question.declinable ? words?.decline : nil, default: question.suggestion,
            constraints: QuestionConstraints(question), options: question.optionViews,
            upload: question.isUpload ? .profilePhoto : nil)
    }
}

extension Question {
    /// The control that a client draws: the question's presentation, under a name that also tells the question's type.
    var control: String {
        switch (kind, presentation) {
        case (.number, _): "number"
        case (.text, _) where isUpload: "upload"
        case (.text, "area"): "text_area"
        case (.text, _): "text"
        case (.ranking, _): "ranking"
        default: presentation
        }
    }
}
