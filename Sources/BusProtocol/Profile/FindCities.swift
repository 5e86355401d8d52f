import JSONText

/// Looks for a city as a person types its name (`GET /cities`); without a query the most populous.
public struct FindCities: BusRequest {
    public typealias Reply = CitiesFound
    public static let type: MessageType = "profile.find-cities"
    public static let schema = JSONSchema.object([
        .optional("query", .string(0...100), "The begin of a name, in any accent, a slip or two allowed"),
        .optional("country", .string(2...2), "ISO 3166-1 alpha-2"),
        .optional("limit", .integer(1...50), "10 where it is left out"),
    ])
    public static let rules = MessageRules(service: .profile, callers: [.gateway], effect: .read)
    public var query: String?
    public var country: String?
    public var limit: Int64?
    public init(query: String? = nil, country: String? = nil, limit: Int64? = nil) {
        (self.query, self.country, self.limit) = (query, country, limit)
    }
}

/// The answer to ``FindCities``: names that begin so, then names in which a word does, then near ones; in each the most
/// populous city first.
public struct CitiesFound: PublicReply {
    public static let schema = JSONSchema.object([.required("cities", .array(of: City.schema, count: 0...50))])
    public var cities: [City]
    public init(cities: [City]) { self.cities = cities }
}

/// A city, in the words in which a profile takes it.
public struct City: Codable, Sendable, Equatable {
    static let schema = JSONSchema.object([
        .required("id", .integer(1...9_007_199_254_740_991), "Of GeoNames"), .required("name", .string(1...100)),
        .optional("state", .string(1...100), "In the USA"), .required("country", .string(2...2), "ISO 3166-1 alpha-2"),
    ])
    public var id: Int64
    public var name: String
    public var state: String?
    public var country: String
    public init(id: Int64, name: String, state: String? = nil, country: String) {
        (self.id, self.name, self.state, self.country) = (id, name, state, country)
    }
}
