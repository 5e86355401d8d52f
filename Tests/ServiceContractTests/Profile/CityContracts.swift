import BusProtocol
import EventLoop

extension FindCities: MessageContract {
    static let canonical = FindCities(query: "stock", country: "SE", limit: 5)
    static let minimal = FindCities()
    static let maximal = FindCities(query: String(repeating: "ö", count: 100), country: "SE", limit: 50)

    static let canonicalReply = CitiesFound(cities: [
        City(id: 2_673_730, name: "Stockholm", country: "SE"),
        City(id: 5_399_629, name: "Stockton", state: "California", country: "US"),
    ])
    static let minimalReply = CitiesFound(cities: [])
    static let maximalReply = CitiesFound(
        cities: (0..<50).map { _ in
            City(
                id: Sample.largestInteger, name: String(repeating: "å", count: 100),
                state: String(repeating: "s", count: 100), country: "US")
        })

    static let errors: [BusError] = [
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "longitude", code: "required", message: "This is needed with a latitude.")])
    ]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<FindCities> {
        Asked(FindCities(query: "stock", country: "se"))
    }

    static let provocations: [String: Provocation<ProfileProvider, FindCities>] = [
        "validation_failed": { _ in Asked(FindCities(latitude: 59.33)) }
    ]
}
