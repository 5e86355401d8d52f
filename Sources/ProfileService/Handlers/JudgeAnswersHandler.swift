import BusProtocol
import BusRuntime
import EventLoop

/// Judges answers to a questionnaire that fill fields of the profile, before they are saved.
struct JudgeAnswersHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: JudgeAnswers, context: RequestContext) async throws -> AnswersJudged {
        // The time is taken before the profile is read. So a later change of the profile is newer than the answers.
        let judgedAt = try await profile.store.now()
        let record =
            try await profile.present(request.personID)
            ?? ProfileRecord(personID: request.personID, createdAt: judgedAt, updatedAt: judgedAt)
        let rules = try await profile.answerRules(of: record, in: request.app, isUnknown: request.appUnknown == true)
        let catalogue = try await profile.libraries.current(having: request.answers.map(\.field)).catalogue
        let today = profile.today(of: record)
        let refused = request.answers.enumerated().compactMap { index, answer -> RefusedAnswer? in
            // Questionnaire saves an answer to a field that this release does not have. The profile leaves it out.
            guard let field = catalogue.field(answer.field) else { return nil }
            // The answer names the picture that the person uploaded. It fills no field: verification decides which
            // photo represents the person.
            if field.isPhoto, answer.value.stringValue.flatMap({ Identifier($0) }) != nil { return nil }
            let change = ProfileChange(
                [answer.field: answer.value], to: record, catalogue, today: today,
                correction: rules.correction(on: today))
            let refusals = rules.plans.lazy.compactMap { profile.refusal(of: change, to: record, $0) }
            return refusals.first.map { RefusedAnswer($0, at: index) }
        }
        return AnswersJudged(refused: refused, judgedAt: judgedAt)
    }
}

extension RefusedAnswer {
    fileprivate init(_ error: BusError, at index: Int) {
        let problem = error.errors?.first
        self.init(
            index: Int64(index), code: error.code, detail: problem?.message ?? error.detail, reason: problem?.code,
            eligibleOn: error.details?["eligibleOn"]?.stringValue.flatMap { CivilDate($0) })
    }
}
