import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages

struct UpdateMeHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: UpdateMe, context: RequestContext) async throws -> Me {
        let planned = try await profile.planned(context)
        let (person, plan) = (planned.record.personID, planned.plan)
        let plans = try await profile.plans(of: planned.record)
        let ages = try await profile.ages(of: plans)
        let language = Language.named(context.language)
        let message = context.messageID
        if let view = try await changed(by: request, message, planned, plans, ages, in: language) { return view }
        return try await profile.database.transaction { transaction in
            let record = try await profile.locked(person, in: transaction)
            // If an answer is lost, the bus sends the request again. The repetition must not overwrite later changes of
            // others.
            switch try await profile.store.repetition(of: message, person, in: transaction) {
            case .new: break
            case .done: return profile.view(record, plan, in: language)
            case .forgotten: throw BusError(.deadlineExceeded, "The request took too long.", executed: .unknown)
            }
            let change = try change(request, to: record, plan, ages)
            guard !change.isEmpty else { return profile.view(record, plan, in: language) }
            try await profile.noteDateOfBirth(change, of: record, in: transaction)
            let changed = record.changed(by: change)
            profile.noteProgress(from: record, to: changed, try await profile.plans(of: record), in: transaction)
            return profile.view(
                try await profile.store.apply(
                    change, to: record, isComplete: plan.completion.isComplete(changed), by: message, commits: true,
                    in: transaction), plan, in: language)
        }
    }

    /// Most changes concern one device of one person, cause no onboarding event and end no step. They are read without a lock and
    /// written by one statement, if the profile is unchanged by then.
    ///
    /// - Returns: `nil` if the change needs a transaction.
    @Loop private func changed(
        by request: UpdateMe, _ message: Identifier, _ planned: PlannedProfile, _ plans: [Plan], _ ages: [Plan.AgeRule],
        in language: Language
    ) async throws -> Me? {
        let (record, plan) = (planned.record, planned.plan)
        // An earlier attempt of this request may have caused the refusal, so the transaction decides.
        guard let change = try? change(request, to: record, plan, ages) else { return nil }
        guard !change.isEmpty else { return profile.view(record, plan, in: language) }
        let changed = record.changed(by: change)
        guard change.dateOfBirth == nil, profile.news(from: record, to: changed, plans).isEmpty,
            profile.progress(from: record, to: changed, plans).isEmpty
        else { return nil }
        return try await profile.store.apply(
            change, toUnchanged: record, isComplete: plan.completion.isComplete(changed), by: message
        ).map { profile.view($0, plan, in: language) }
    }

    /// - Throws: ``BusError`` `precondition_failed`, `validation_failed`, `date_of_birth_locked` or `underage`.
    private func change(
        _ request: UpdateMe, to record: ProfileRecord, _ plan: Plan, _ ages: [Plan.AgeRule]
    ) throws(BusError) -> ProfileChange {
        // If the profile has a photo, only the revision in its tag counts.
        if let tags = request.ifMatch, !EntityTag(revision: record.revision).isNamed(by: tags) {
            throw BusError(
                .preconditionFailed, "Your profile was changed on another device. Please look at it again.")
        }
        let today = profile.today(of: record)
        let change = ProfileChange(
            request.fields, to: record, plan.answerable, today: today,
            correction: DateOfBirthCorrection(ages: ages, today: today, now: .now()))
        if let refusal = profile.refusal(of: change, to: record, plan) { throw refusal }
        return change
    }
}
