import BusProtocol
import BusRuntime
import EventLoop

struct GetPersonHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetPerson, context: RequestContext) async throws -> PublicPerson {
        let app = try context.person().app
        let plan = try await profile.plans.current(for: app)
        // A person is visible in the apps that they use. A person who has used no app since plans exist is in the
        // default app.
        guard let record = try await profile.publicPart(of: request.personId),
            record.plans[app ?? PublishedPlans.defaultApp] != nil || app == nil && record.plans.isEmpty,
            let person = PublicView.person(
                record, plan, followed: try await profile.plans(of: record), today: profile.today(of: record))
        else { throw BusError(.notFound, "There is no such person.") }
        return person
    }
}
