import BusProtocol

/// Counts the answers, skips and declines of each question of a version.
struct VersionTally: Sendable {
    private(set) var sessions: Int64 = 0
    private(set) var completed: Int64 = 0
    private var byQuestion: [QuestionStatistics]
    private let definition: Definition

    init(_ definition: Definition) {
        self.definition = definition
        byQuestion = definition.questions.map { QuestionStatistics(question: $0.key) }
    }

    /// Adds a session. Hidden questions do not count.
    mutating func add(_ sheet: AnswerSheet, _ status: SessionStatus) {
        sessions += 1
        if status == .completed || status == .amended { completed += 1 }
        for item in sheet.visible {
            byQuestion[item.place].shown += 1
            switch item.isStale ? nil : item.answer?.state {
            case .answered?: byQuestion[item.place].answered += 1
            case .skipped?: byQuestion[item.place].skipped += 1
            case .declined?: byQuestion[item.place].declined += 1
            case .acknowledged?: byQuestion[item.place].acknowledged += 1
            default: break
            }
        }
        if [.inProgress, .stopped].contains(status), let next = sheet.next,
            let place = definition.place(of: next.question)
        {
            byQuestion[place].dropOff += 1
        }
    }

    /// - Parameter medians: the median seconds of each question.
    func questions(medians: [String: Double]) -> [QuestionStatistics] {
        byQuestion.map { question in
            var question = question
            question.medianSeconds = medians[question.question]
            return question
        }
    }
}
