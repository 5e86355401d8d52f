import BusProtocol
import BusRuntime
import EventLoop

struct GetPersonHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: GetPerson, context: RequestContext) async throws -> PublicPerson {
        let plan = try await profile.plans.current(for: context.person().app)
        guard let record = try await profile.store.publicPart(of: request.personId),
            let person = PublicView.person(
                record, plan, followed: try await profile.plans(of: record), today: profile.today(of: record))
        else { throw BusError(.notFound, "There is no such person.") }
        return person
    }
}
