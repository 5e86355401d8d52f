import BusProtocol
import BusRuntime
import Database
import EventLoop
import JSONText
import Languages
import ServiceRuntime

/// A profile with the plan that the person follows in one app.
struct PlannedProfile: Sendable {
    let record: ProfileRecord
    let plan: Plan
}

/// The rules by which a person's change is judged, apart from those of the fields.
struct AnswerRules: Sendable {
    /// The plan of the app, or all that the person follows if the app is unknown. Their age rules count for a new date of
    /// birth.
    let plans: [Plan]
    /// The age rules of every app. They count for a corrected one.
    let ages: [Plan.AgeRule]

    func correction(on today: CivilDate) -> DateOfBirthCorrection {
        DateOfBirthCorrection(ages: ages, today: today, now: .now())
    }
}

/// The dependencies and rules that the handlers of profile share.
struct ProfileContext: Sendable {
    let database: Database
    let inbox: Inbox
    let audit: AuditTrail
    let bus: Bus
    let log: Log
    let store: ProfileStore
    let libraries: PublishedLibraries
    let plans: PublishedPlans
    let events: EventStore
    let appName: String

    /// The date in the person's time zone. If that is unknown, it is the date in UTC.
    func today(of record: ProfileRecord) -> CivilDate {
        day(of: record, at: .now())
    }

    /// The date in the person's time zone at a time.
    private func day(of record: ProfileRecord, at time: Timestamp) -> CivilDate {
        record.timeZone?.date(at: time) ?? time.date
    }

    /// The profile. It is created if there is none.
    ///
    /// - Throws: ``BusError`` `unauthorized` if the person was deleted.
    @Loop func ensured(_ person: Identifier) async throws -> ProfileRecord {
        if let known = try await present(person) { return known }
        try await database.transaction { create(person, in: $0) }
        // No profile is created for a person who was deleted.
        guard let made = try await present(person) else { throw Self.deleted }
        return made
    }

    /// The profile; `nil` if there is none.
    @Loop func present(_ person: Identifier) async throws -> ProfileRecord? {
        // Each level of functions that wait costs an allocation in every read.
        guard let row = try await store.profiles.row(of: person) else { return nil }
        switch try store.stored(row) {
        case .withCopies(let record): return record
        case .withoutCopies:
            // If nothing can be written now, the next read tries again.
            Loop.spawn { try? await store.copy(person) }
            return try await store.readingCopies(of: person)
        }
    }

    /// The fields that other people may see, and the date of birth, from which the age is calculated. Private fields
    /// are not read, so that nothing in the answer can depend on them. It is `nil` if there is no profile.
    @Loop func publicPart(of person: Identifier) async throws -> ProfileRecord? {
        try await store.part(of: person, showing: libraries.known.catalogue.publicKeys)
    }

    /// The profile, locked until the transaction ends. It is created if there is none.
    ///
    /// - Throws: ``DatabaseError/aborted`` if the person was deleted.
    @Loop func locked(_ person: Identifier, in transaction: Transaction) async throws -> ProfileRecord {
        if let known = try await store.known(person, in: transaction) { return known }
        create(person, in: transaction)
        guard let made = try await store.known(person, in: transaction) else { throw DatabaseError.aborted }
        return made
    }

    /// Creates the profile if there is none, unless the person was deleted.
    @Loop func create(_ person: Identifier, in transaction: Transaction) {
        store.create(person, judgedBy: libraries.known.library.version, in: transaction)
    }

    private static let deleted = BusError(.unauthorized, "Please sign in.")

    /// The profile of the person behind a request, with the plan of the app that the person signed in to.
    @Loop func planned(_ context: RequestContext) async throws -> PlannedProfile {
        let actor = try context.person()
        var record = try await ensured(actor.userID)
        let app = actor.app ?? PublishedPlans.defaultApp
        let followed = record.plans[app]
        let plan = try await plan(of: record, in: actor.app)
        if followed != plan.reference {
            if followed != nil { record = try await ensured(actor.userID) }
            record.plans[app] = plan.reference
        }
        return PlannedProfile(record: record, plan: plan)
    }

    /// The plan that a person follows in an app. A person without one follows the newest version from now on.
    ///
    /// - Parameters:
    ///   - app: `nil` for the default app.
    ///   - entry: how the person came to the app, stored for a person who begins now.
    /// - Throws: ``BusError`` `app_unknown`, or `unauthorized` if the person was deleted.
    @Loop func plan(of record: ProfileRecord, in app: String?, entry: String? = nil) async throws -> Plan {
        let name = app ?? PublishedPlans.defaultApp
        if let followed = record.plans[name] {
            // Most requests find nothing to do here. Calling an `async` function in vain would cost more than this
            // check.
            var plan = try await plans.plan(followed)
            if PlanProgress.move(record, from: plan) != nil {
                plan = try await moved(record, from: plan, in: name) ?? plan
            }
            if let birthday = unnotedBirthday(of: record, plan) { try await note(birthday, of: record, plan) }
            return plan
        }
        let newest = try await plans.current(for: app)
        // Answers from another app may have done some steps already.
        let progress = PlanProgress(of: record, in: newest, today: today(of: record))
        let known = entry.flatMap { newest.entries.contains($0) ? $0 : nil }
        let followed = try await store.follow(progress, of: record.personID, in: name, entry: known)
        guard let followed else { throw Self.deleted }
        return try await plans.plan(followed)
    }

    /// The newest version, once the person follows it; `nil` if the person stays with the former one.
    @Loop private func moved(_ record: ProfileRecord, from plan: Plan, in app: String) async throws -> Plan? {
        try await database.transaction { transaction in
            let record = try await locked(record.personID, in: transaction)
            guard record.plans[app] == plan.reference, let newest = PlanProgress.move(record, from: plan) else {
                return nil
            }
            noteProgress(from: record, to: record, [plan], in: transaction)
            let today = today(of: record)
            let before = OnboardingEvent.reached(by: record, plan, today: today)
            let news = OnboardingEvent.reached(by: record, newest, today: today).filter { !before.contains($0) }
            events.note(news, of: record.personID, in: transaction)
            PlanProgressStore.move(
                record.personID, to: PlanProgress(of: record, in: newest, today: today), in: app,
                isComplete: Onboarding.current(of: record, newest) == nil, in: transaction)
            return newest
        }
    }

    /// The birthday by which the person's onboarding became complete, if that is not stored yet.
    private func unnotedBirthday(of record: ProfileRecord, _ plan: Plan) -> CivilDate? {
        guard !record.completedPlans.contains(plan.reference),
            let birthday = record.dateOfBirth.flatMap({ plan.eligibleOn(born: $0) }), birthday > record.createdAt.date,
            PlanProgress(of: record, in: plan, today: today(of: record)).isComplete
        else { return nil }
        return birthday
    }

    /// Stores that the person's onboarding is complete because the person is old enough now. No change of the profile
    /// triggers that.
    @Loop private func note(_ birthday: CivilDate, of record: ProfileRecord, _ plan: Plan) async throws {
        try await database.transaction { transaction in
            let record = try await locked(record.personID, in: transaction)
            let dayBefore = CivilDate(daysSinceEpoch: birthday.daysSinceEpoch - 1)
            noteProgress(from: record, on: dayBefore, to: record, [plan], in: transaction)
        }
    }

    /// The plans that a person follows, in any app; the default plan if there is none yet.
    @Loop func plans(of record: ProfileRecord?) async throws -> [Plan] {
        guard let followed = record?.plans, !followed.isEmpty else { return [try await plans.current(for: nil)] }
        var all: [Plan] = []
        // The default app has the empty name, so its plan comes first.
        for (_, reference) in followed.sorted(by: { $0.key < $1.key }) { all.append(try await plans.plan(reference)) }
        return all
    }

    /// The rules by which a change in an app is judged.
    ///
    /// - Parameters:
    ///   - app: `nil` for the default app. For an app without a plan, the rules are those of the default plan.
    ///   - isUnknown: the rules are those of all plans that the person follows.
    @Loop func answerRules(
        of record: ProfileRecord?, in app: String?, isUnknown: Bool
    ) async throws -> AnswerRules {
        let all = try await self.plans(of: record)
        let counting: [Plan]
        if isUnknown {
            counting = all
        } else if let followed = record?.plans[app ?? PublishedPlans.defaultApp] {
            counting = [try await plans.plan(followed)]
        } else if let newest = try? await plans.current(for: app) {
            counting = [newest]
        } else {
            counting = [try await plans.current(for: nil)]
        }
        return AnswerRules(plans: counting, ages: try await ages(of: all))
    }

    /// The age rules of every app and of the plans that the person follows. A person may enter any app later.
    @Loop func ages(of plans: [Plan]) async throws -> [Plan.AgeRule] {
        try await self.plans.ages() + plans.compactMap(\.age)
    }

    /// Why the person may not make a change; `nil` if the person may.
    ///
    /// - Returns: ``BusError`` `validation_failed`, `date_of_birth_locked` or `underage`.
    func refusal(of change: ProfileChange, to record: ProfileRecord, _ plan: Plan) -> BusError? {
        guard change.problems.isEmpty else {
            return BusError(.validationFailed, "Some fields need another look.", errors: change.problems)
        }
        if change.isDateOfBirthLocked {
            return BusError(.dateOfBirthLocked, "The date of birth cannot be changed. Please contact support.")
        }
        guard isRefusedAsUnderage(change, of: record, plan),
            let eligibleOn = change.dateOfBirth.flatMap({ plan.eligibleOn(born: $0) })
        else { return nil }
        return BusError(.underage, underage(plan).english, details: ["eligibleOn": .string(eligibleOn.description)])
    }

    func view(_ record: ProfileRecord, _ plan: Plan, in language: Language) -> Me {
        let today = today(of: record)
        let position = Onboarding.Position(of: record, plan, today: today)
        var profile = [String: JSONValue](minimumCapacity: plan.answerable.fields.count)
        for field in plan.answerable.fields {
            switch field.isCity ? record.fields[field] : record.state(of: field) {
            case .answered(let value), .stale(let value): profile[field.key] = value
            case .declined: profile[field.key] = .string(FieldCatalogue.declined)
            case .skipped, nil: break
            }
        }
        return Me(
            id: record.personID, profile: profile,
            age: record.dateOfBirth.flatMap { Age.years(born: $0, on: today) }.map { Int64($0) },
            onboardingStatus: position.onboardingStatus, next: position.current.map(NextStep.init),
            onboardingStep: position.step.rawValue, matchingMode: position.matchingMode,
            skippedFields: record.keys(of: plan.answerable, where: \.isSkipped),
            preferNotToShareFields: record.keys(of: plan.answerable) { $0 == .declined },
            completion: plan.completion.percentage(of: record),
            ageGate: ageGate(until: position.eligibleOn, plan, in: language),
            timeZone: record.timeZone?.name, createdAt: record.createdAt, updatedAt: record.updatedAt,
            revision: record.revision)
    }

    /// The onboarding events that the person reaches by this change, in any of these plans.
    ///
    /// - Parameter day: when the former profile was last evaluated; `nil` for the day of its last change. Events that a
    ///   birthday since then brought are new.
    func news(
        from old: ProfileRecord, on day: CivilDate? = nil, to new: ProfileRecord, _ plans: [Plan]
    ) -> [OnboardingEvent] {
        var news: [OnboardingEvent] = []
        let day = day ?? self.day(of: old, at: old.updatedAt)
        for plan in plans {
            let before = OnboardingEvent.reached(by: old, plan, today: day)
            news += OnboardingEvent.reached(by: new, plan, today: today(of: new)).filter {
                !before.contains($0) && !news.contains($0)
            }
        }
        return news
    }

    /// The new progress by this change in each of these plans. Plans without new progress are left out.
    ///
    /// - Parameter day: as in ``news(from:on:to:_:)``.
    func progress(
        from old: ProfileRecord, on day: CivilDate? = nil, to new: ProfileRecord, _ plans: [Plan]
    ) -> [PlanProgress] {
        let day = day ?? self.day(of: old, at: old.updatedAt)
        return plans.map { plan in
            PlanProgress(of: new, in: plan, today: today(of: new)).news(
                since: PlanProgress(of: old, in: plan, today: day))
        }.filter { !$0.isEmpty }
    }

    /// Stores the onboarding events that the person reaches by this change, and the steps that it ends.
    ///
    /// - Parameter day: as in ``news(from:on:to:_:)``.
    @Loop func noteProgress(
        from old: ProfileRecord, on day: CivilDate? = nil, to new: ProfileRecord, _ plans: [Plan],
        in transaction: Transaction
    ) {
        events.note(news(from: old, on: day, to: new, plans), of: new.personID, in: transaction)
        for news in progress(from: old, on: day, to: new, plans) {
            PlanProgressStore.note(news, of: new.personID, in: transaction)
        }
    }

    /// If the change sets a date of birth, adds an entry to the audit trail. That date decides access, and it is locked
    /// a day later. The entry does not contain the date, which is only stored sealed.
    @Loop func noteDateOfBirth(
        _ change: ProfileChange, of record: ProfileRecord, in transaction: Transaction
    ) async throws {
        guard change.dateOfBirth != nil else { return }
        let chain = try await audit.ensure(record.personID, in: transaction)
        let act =
            record.dateOfBirth == nil
            ? AuditAct("date_of_birth_set") : AuditAct("date_of_birth_corrected", ["by": "person"])
        audit.note(act, on: chain, in: transaction)
    }

    /// Whether a plan's age rule refuses the new date of birth.
    func isRefusedAsUnderage(_ change: ProfileChange, of record: ProfileRecord, _ plan: Plan) -> Bool {
        guard plan.age?.refuses ?? false, let eligibleOn = change.dateOfBirth.flatMap({ plan.eligibleOn(born: $0) })
        else { return false }
        return eligibleOn > today(of: record.changed(by: change))
    }

    /// The notice for a person who is too young. It is the same in every answer.
    func ageGate(until eligibleOn: CivilDate?, _ plan: Plan, in language: Language) -> AgeGate? {
        eligibleOn.map { AgeGate(allowed: false, message: underage(plan).text(in: language), eligibleOn: $0) }
    }

    func underage(_ plan: Plan) -> Sentence { "You must be \(plan.age?.minimum ?? 0) to use \(appName)" }
}
