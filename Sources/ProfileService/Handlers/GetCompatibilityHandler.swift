import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Tells a matched person how compatible they are with another matched person.
struct GetCompatibilityHandler: RequestHandler {
    let profile: ProfileContext
    /// How many people a person may compare themselves with in a day.
    let limit: Int64

    func handle(_ request: GetCompatibility, context: RequestContext) async throws -> Compatibility {
        let planned = try await profile.planned(context)
        let person = planned.record.personID
        guard try await isMatched(planned) else {
            throw BusError(.forbidden, "This is for people who are being matched.")
        }
        let app = try context.person().app ?? PublishedPlans.defaultApp
        guard request.userId != person, let other = try await profile.present(request.userId),
            let followed = other.plans[app],
            try await isMatched(PlannedProfile(record: other, plan: profile.plans.plan(followed)))
        else { throw Self.nobody }
        guard let questionnaire = planned.plan.steps.lazy.compactMap(\.questionnaire).first else {
            return Compatibility(dimensions: [], confidence: 0)
        }
        let pair = CompatibilityStore.Pair(person: person, other: request.userId, questionnaire: questionnaire)
        let now = Timestamp.now()
        let known = try await profile.database.transaction { transaction in
            try await CompatibilityStore.knowledge(of: pair, today: now.date, in: transaction)
        }
        if let own = known.own { return own.told }
        try check(known, at: now)
        let figure: CompatibilityStore.Figure
        if let others = known.others {
            figure = others
        } else {
            let traits = CompatibilityTraits.shown(planned.record, other, planned.plan)
            figure = .init(told: try await compared(pair, traits, context), madeOn: now.date)
        }
        return try await keep(figure, of: pair, at: now)
    }

    /// Keeps a figure, unless another request of either person was quicker.
    @Loop private func keep(
        _ figure: CompatibilityStore.Figure, of pair: CompatibilityStore.Pair, at now: Timestamp
    ) async throws -> Compatibility {
        try await profile.database.transaction { transaction in
            // The lock counts a person's looks one after the other. Changes of an existing profile do not wait for it.
            Erasure.wait(for: pair.person, in: transaction)
            let known = try await CompatibilityStore.knowledge(of: pair, today: now.date, in: transaction)
            if let own = known.own { return own.told }
            try check(known, at: now)
            let figure = known.others ?? figure
            guard try await CompatibilityStore.note(figure, of: pair, today: now.date, in: transaction) else {
                throw Self.nobody
            }
            return figure.told
        }
    }

    private func check(_ known: CompatibilityStore.Knowledge, at now: Timestamp) throws(BusError) {
        guard known.looksToday < limit else {
            throw BusError(
                .rateLimited, "You have compared yourself with many people today. Please come back tomorrow.",
                retryAfter: Self.untilTomorrow(now))
        }
    }

    /// Days are those of UTC.
    private static func untilTomorrow(_ now: Timestamp) -> Duration {
        .seconds(86_400 - now.microsecondsSinceEpoch / 1_000_000 % 86_400)
    }

    /// Whether the person is matched in the app of this plan, and visible to others there.
    @Loop private func isMatched(_ planned: PlannedProfile) async throws -> Bool {
        let (record, plan) = (planned.record, planned.plan)
        let today = profile.today(of: record)
        let requirements = RequirementRules.requirements(of: record, plan, today: today, now: .now())
        let followed = try await profile.plans(of: record)
        return requirements.match.disabledReason == nil
            && Onboarding.Position(of: record, plan, today: today).matchingMode != "none"
            && PublicView.person(record, plan, followed: followed, today: today) != nil
    }

    @Loop private func compared(
        _ pair: CompatibilityStore.Pair, _ traits: [WishedTraits], _ context: RequestContext
    ) async throws -> Compatibility {
        let request = CompareProfiles(
            questionnaire: pair.questionnaire, first: pair.person, second: pair.other, traits: traits)
        let options = CallOptions(timeout: context.remaining, trace: context.trace.child())
        return CompatibilityFigure.rounded(try await profile.bus.call(request, options))
    }

    private static let nobody = BusError(.notFound, "There is no such person.")
}
