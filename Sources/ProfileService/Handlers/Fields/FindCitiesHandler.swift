import BusProtocol
import BusRuntime
import Cities
import EventLoop

struct FindCitiesHandler: RequestHandler {
    private static let usualLimit: Int64 = 10

    func handle(_ request: FindCities, context: RequestContext) async throws -> CitiesFound {
        let (limit, country) = (Int(request.limit ?? Self.usualLimit), request.country?.uppercased())
        if let position = try Self.position(in: request) {
            return try await Loop.compute {
                CitiesFound(cities: CitySearch.nearest(to: position, in: country, limit: limit))
            }
        }
        return try await Loop.compute {
            CitiesFound(cities: CitySearch.find(request.query ?? "", in: country, limit: limit))
        }
    }

    /// - Throws: ``BusError`` `validation_failed` for half a position, and for a position beside a name.
    private static func position(in request: FindCities) throws -> Coordinates? {
        switch (request.latitude, request.longitude) {
        case (nil, nil): return nil
        case (_?, nil): throw refusal("longitude", "required", "This is needed with a latitude.")
        case (nil, _?): throw refusal("latitude", "required", "This is needed with a longitude.")
        case (let latitude?, let longitude?):
            guard request.query?.isEmpty ?? true else {
                throw refusal("query", "not_allowed", "Must be left out with a position.")
            }
            return Coordinates(latitude: latitude, longitude: longitude)
        }
    }

    private static func refusal(_ field: String, _ code: String, _ message: String) -> BusError {
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: field, code: code, message: message)])
    }
}
