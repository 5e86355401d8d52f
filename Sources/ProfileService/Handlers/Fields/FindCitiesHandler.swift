import BusProtocol
import BusRuntime
import EventLoop

struct FindCitiesHandler: RequestHandler {
    private static let usualLimit: Int64 = 10

    func handle(_ request: FindCities, context: RequestContext) async throws -> CitiesFound {
        let limit = Int(request.limit ?? Self.usualLimit)
        return try await Loop.compute {
            CitiesFound(
                cities: CitySearch.find(request.query ?? "", in: request.country?.uppercased(), limit: limit))
        }
    }
}
