import BusProtocol
import BusRuntime
import EventLoop

/// Gives recovery the facts about a person that its reviewers may see.
struct DescribePersonHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ request: DescribePerson, context: RequestContext) async throws -> PersonDescription {
        guard let record = try await profile.present(request.personID) else {
            return PersonDescription(badges: [])
        }
        let name = ["firstName", "displayName"].lazy.compactMap { key -> String? in
            if case .answered(let value) = record.fields[key] { value.stringValue } else { nil }
        }.first
        let age = record.dateOfBirth.flatMap { Age.years(born: $0, on: profile.today(of: record)) }
        return PersonDescription(
            firstName: name, ageBand: age.map { Age.band(of: $0) }, badges: PublicView.badges(of: record))
    }
}
