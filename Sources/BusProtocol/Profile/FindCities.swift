import JSONText

/// Looks for a city as a person types its name; without a query the most populous.
@Message
public struct FindCities: PublicRequest {
    public typealias Reply = CitiesFound
    public static let type: MessageType = "profile.find-cities"
    public static let rules = MessageRules(service: .profile, callers: [.gateway], effect: .read)
    public static let route = HTTPRoute(
        .get, "/cities", .public, "Finds cities by the begin of their name. Data: GeoNames, CC BY 4.0.")

    /// The begin of a name, in any accent, a slip or two allowed.
    @Field(.string(0...100), from: .query("query")) public var query: String?
    /// ISO 3166-1 alpha-2.
    @Field(.string(2...2), from: .query("country")) public var country: String?
    /// 10 where it is left out.
    @Field(.integer(1...50), from: .query("limit")) public var limit: Int64?
}

/// The answer to ``FindCities``: names that begin so, then names in which a word does, then near ones; in each the most
/// populous city first.
@Message
public struct CitiesFound: PublicReply {
    @Field(count: 0...50) public var cities: [City]
}

/// A city, in the words in which a profile takes it.
@Message
public struct City: MessageValue {
    /// Of GeoNames.
    @Field(.ordinal) public var id: Int64
    @Field(.string(1...100)) public var name: String
    /// In the USA.
    @Field(.string(1...100)) public var state: String?
    /// ISO 3166-1 alpha-2.
    @Field(.string(2...2)) public var country: String
}
