import JSONText

/// Finds cities while a person types a name, or the cities nearest to a position. Without both it finds the most
/// populous cities.
@Message
public struct FindCities: PublicRequest {
    public typealias Reply = CitiesFound
    public static let type: MessageType = "profile.find-cities"
    public static let rules = MessageRules(
        service: .profile, callers: [.gateway], effect: .read, errors: [.validationFailed])
    public static let route = HTTPRoute(
        .get, "/cities", .public,
        "Finds cities by the start of their name, or near a position. Data: GeoNames, CC BY 4.0.")

    /// The start of a name, with or without accents. One or two typing errors are tolerated.
    @Field(.string(0...100), from: .query("query"), example: "Malm") public var query: String?
    /// The country to search, by ISO 3166-1 alpha-2.
    @Field(.string(2...2), from: .query("country")) public var country: String?
    /// The most cities of the reply; 10 by default.
    @Field(.integer(1...50), from: .query("limit")) public var limit: Int64?
    /// The latitude of a position in degrees, in place of a name. It is neither stored nor logged.
    @Field(.number(-90...90), from: .query("latitude"), inExamples: false) public var latitude: Double?
    /// The longitude of the position in degrees.
    @Field(.number(-180...180), from: .query("longitude"), inExamples: false) public var longitude: Double?
}

/// The reply to ``FindCities``.
///
/// First come names that start with the query, then names with a word that does, then similar names. Within each group
/// the most populous city comes first. Near a position, the nearest city comes first.
@Message
public struct CitiesFound: PublicReply {
    /// The cities.
    @Field(count: 0...50) public var cities: [City]
}

/// A city as a profile stores it.
@Message
public struct City: MessageValue {
    /// The ID in GeoNames.
    @Field(.ordinal, example: 2692969) public var id: Int64
    /// The name of the city.
    @Field(.string(1...100), example: "Malmö") public var name: String
    /// The state, for a city in the USA.
    @Field(.string(1...100)) public var state: String?
    /// The country, by ISO 3166-1 alpha-2.
    @Field(.string(2...2)) public var country: String
    /// Where the city lies, in the form of the profile's `coordinates`.
    public var coordinates: Coordinates?
}

/// A place on the earth, in degrees that are rounded to hundredths.
@Message
public struct Coordinates: MessageValue {
    /// Degrees north of the equator; negative in the south.
    @Field(.number(-90...90)) public var latitude: Double
    /// Degrees east of Greenwich; negative in the west.
    @Field(.number(-180...180)) public var longitude: Double
}
