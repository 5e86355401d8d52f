import BusProtocol
import JSONText

/// The changes of a session when a subject is added or renamed.
struct SubjectPlan {
    let subject: Subject
    /// The answer with the label, if a question of the section asks for it.
    let answers: ResponsePlan
    /// The sheet after the change.
    let sheet: AnswerSheet
    /// Whether anything in the session changes.
    let changesSession: Bool

    /// - Parameters:
    ///   - all: the subjects of the session, including those that were removed.
    /// - Throws: ``ResponseRefusal/invalid(_:)`` for an unknown or missing kind or an invalid label. It also throws it
    ///   for too many subjects of the section, now or in the life of the session.
    static func make(
        _ request: PutSubject, all: [Subject], on sheet: AnswerSheet, now: Timestamp
    ) throws(ResponseRefusal) -> SubjectPlan {
        let known = all.first { $0.id == request.subject }
        let repetition = try repetition(request.kind ?? known?.kind, in: sheet.definition)
        if let known, known.kind != repetition.subject {
            throw refusal("kind", "not_allowed", "This id was added as another kind.")
        }
        let before = sheet.subjects.first { $0.id == request.subject }
        if before == nil, sheet.subjects.count(where: { $0.kind == repetition.subject }) >= repetition.range.upperBound
        {
            throw refusal("subject", "too_many", "There are at most \(repetition.range.upperBound) of these.")
        }
        // Removed subjects stay stored with their answers and are read with the session, so their number is limited.
        if known == nil, all.count(where: { $0.kind == repetition.subject }) >= mostEver(of: repetition) {
            throw refusal("subject", "too_many", "Too many were added and removed. Add one of them again.")
        }
        var subject =
            known ?? Subject(id: request.subject, kind: repetition.subject, position: Int64(all.count) + 1, label: nil)
        if repetition.label == nil, let label = request.label { subject.label = try text(label) }
        let subjects = (sheet.subjects.filter { $0.id != subject.id } + [subject]).sorted { $0.position < $1.position }
        let widened = sheet.with(subjects)
        let answers = try name(request, by: repetition, on: widened, now: now)
        let after = widened.with(answers.answers)
        return SubjectPlan(
            subject: subject, answers: answers, sheet: after,
            changesSession: before != subject || answers.changesAnswers)
    }

    /// The most subjects of a section in the life of a session, including removed ones.
    private static func mostEver(of repetition: Definition.Section.Repetition) -> Int {
        max(200, 5 * repetition.range.upperBound)
    }

    private static func repetition(
        _ kind: String?, in definition: Definition
    ) throws(ResponseRefusal) -> Definition.Section.Repetition {
        let all = definition.sections.compactMap(\.repetition)
        if let kind {
            guard let found = all.first(where: { $0.subject == kind }) else {
                throw refusal("kind", "not_allowed", "No section of this questionnaire is repeated for this kind.")
            }
            return found
        }
        guard all.count == 1 else {
            throw refusal(
                "kind", "required",
                all.isEmpty ? "No section of this questionnaire is repeated." : "Say what kind it is.")
        }
        return all[0]
    }

    private static func name(
        _ request: PutSubject, by repetition: Definition.Section.Repetition, on sheet: AnswerSheet, now: Timestamp
    ) throws(ResponseRefusal) -> ResponsePlan {
        guard let question = repetition.label, let label = request.label else {
            return ResponsePlan(answers: sheet.answers)
        }
        let item = ResponseItem(question: question, subject: request.subject, value: .string(label))
        let plan = ResponsePlan.each([item], on: sheet, mutations: [], now: now)
        if case .invalid(let problem)? = plan.outcomes.first { throw refusal("label", problem.code, problem.message) }
        return plan
    }

    /// Validates a label that no question asks for.
    private static func text(_ label: String) throws(ResponseRefusal) -> String {
        do throws(AnswerProblem) {
            return try AnswerValidator.text(
                .string(label), in: TextLimits(least: 1, most: 100, pattern: .singleLine))
        } catch {
            throw refusal("label", error.code, error.message)
        }
    }

    private static func refusal(_ field: String, _ code: String, _ message: String) -> ResponseRefusal {
        .invalid([.init(field: field, code: code, message: message)])
    }
}
