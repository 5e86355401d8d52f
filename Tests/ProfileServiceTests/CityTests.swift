import BusProtocol
import Foundation
import TestSupport
import Testing

@testable import Cities
@testable import ProfileService

@Suite("cities") struct CityTests {
    private func find(_ query: String, in country: String? = nil, limit: Int = 10) -> [City] {
        CitySearch.find(query, in: country, limit: limit)
    }

    @Test func theTableHasTheCitiesOfTheWorld() {
        let table = CityTable.shipped
        #expect(table.count > 34_000)
        let all = (0..<Int32(table.count)).map { table.city($0) }
        #expect(Set(all.map(\.id)).count == all.count && all.allSatisfy { !$0.name.isEmpty && $0.id > 0 })
        guard case .choice(let countries)? = FieldCatalogue.shipped.field("country")?.kind else {
            Issue.record("the field catalogue has no countries")
            return
        }
        // Kosovo has no code of ISO 3166-1.
        #expect(Set(all.map(\.country)).subtracting(countries) == ["XK"])
        #expect(all.filter { $0.state == "California" }.count > 300)
    }

    /// The script and the service fold in the same way: each city is found by its own name, accents and all.
    @Test func everyNameFoldsToItsEntryInTheTable() throws {
        let table = CityTable.shipped
        var (city, wrong) = (Int32(-1), [String]())
        for name in table.names where name.city != city {
            city = name.city
            let folded = CityFold.fold(table.city(city).name)
            if !folded.utf8.elementsEqual(table.text.bytes(name.range)) { wrong.append(folded) }
        }
        #expect(wrong.isEmpty && Int(city) == table.count - 1)
    }

    @Test(
        "the first that is found",
        arguments: [
            ("Stockholm", "Stockholm"), ("stock", "Stockholm"), ("STOCKHOLM ", "Stockholm"),
            // In any accent and without.
            ("malmo", "Malmö"), ("MALMÖ", "Malmö"), ("Malmo\u{308}", "Malmö"), ("sao paulo", "São Paulo"),
            ("lodz", "Łódź"), ("ÅRHUS", "Århus"), ("reykjavik", "Reykjavík"),
            // In another language.
            ("Göteborg", "Gothenburg"), ("münchen", "Munich"), ("Москва", "Moscow"), ("北京", "Beijing"),
            // By a later word.
            ("new yo", "New York City"), ("petersburg", "Saint Petersburg"), ("wien", "Vienna"),
            // With a slip: a letter too few, too many, another one, two exchanged.
            ("stokholm", "Stockholm"), ("stockkholm", "Stockholm"), ("berlim", "Berlin"), ("lodnon", "London"),
            ("copenhagne", "Copenhagen"), ("san fransisco", "San Francisco"), ("los angelas", "Los Angeles"),
            ("istambull", "Istanbul"), ("gotheburg", "Gothenburg"),
        ])
    func first(query: String, expected: String) {
        #expect(find(query).first?.name == expected)
    }

    @Test func theMostPopulousCityIsFirst() {
        #expect(find("").map(\.name).prefix(3) == ["Shanghai", "Beijing", "Shenzhen"])
        #expect(find("", in: "SE").map(\.name).prefix(3) == ["Stockholm", "Gothenburg", "Malmö"])
        #expect(find("angeles").contains { $0.name == "Los Angeles" }, "a later word does too")
        #expect(find("par", in: "FR").first?.name == "Paris")
        let paris = find("paris", in: "US")
        #expect(paris.first.map { "\($0.name) \($0.state ?? "")" } == "Paris Texas")
        let rank = Dictionary(
            uniqueKeysWithValues: (0..<Int32(CityTable.shipped.count)).map { (CityTable.shipped.city($0).id, $0) })
        for query in ["s", "sa", "san", "mal", "ber"] {
            let found = find(query, limit: 50).compactMap { rank[$0.id] }
            #expect(found.count == 50 || query.count > 2)
            let begin = find(query, limit: 50).filter { CityFold.fold($0.name).hasPrefix(query) }
            #expect(begin.compactMap { rank[$0.id] } == begin.compactMap { rank[$0.id] }.sorted())
        }
    }

    @Test func aQueryThatMatchesNoCityFindsNothing() {
        for query in ["qqqqqqqq", "🔥", "xzxzxzxzxzxz", "ab cd ef gh ij kl"] { #expect(find(query).isEmpty, "\(query)") }
        #expect(find("stockholm", in: "ZZ").isEmpty)
        #expect(find(String(repeating: "a", count: 100)).isEmpty)
    }

    /// So that an app may send the coordinates of a city for the profile.
    @Test func aProfileTakesTheCoordinatesOfACityAsTheyAre() throws {
        let (table, field) = (CityTable.shipped, try #require(FieldCatalogue.shipped.field("coordinates")))
        var changed: [City] = []
        for city in (0..<Int32(table.count)).map({ table.city($0) }) {
            let place = try #require(city.coordinates)
            let stored = try FieldValidator.canonical(
                ["latitude": .number(place.latitude), "longitude": .number(place.longitude)], for: field)
            if stored["latitude"]?.doubleValue != place.latitude || stored["longitude"]?.doubleValue != place.longitude
            {
                changed.append(city)
            }
        }
        #expect(changed.isEmpty)
        let quito = find("quito", in: "EC").first?.coordinates
        #expect(quito == Coordinates(latitude: -0.23, longitude: -78.52))
    }

    @Test(
        "the nearest city",
        arguments: [
            (59.33, 18.07, nil, "Stockholm"), (59.86, 17.64, nil, "Uppsala"), (-0.23, -78.52, nil, "Quito"),
            // On both sides of the 180th meridian, and at the poles.
            (-16.5, 179.9, nil, "Labasa"), (-16.5, -179.9, nil, "Labasa"), (90, 0, nil, "Longyearbyen"),
            // From Copenhagen, across the water.
            (55.68, 12.57, nil, "Copenhagen"), (55.68, 12.57, "SE", "Landskrona"),
        ] as [(Double, Double, String?, String)])
    func nearest(latitude: Double, longitude: Double, country: String?, expected: String) {
        let position = Coordinates(latitude: latitude, longitude: longitude)
        #expect(CitySearch.nearest(to: position, in: country, limit: 1).map(\.name) == [expected])
    }

    /// Against the distance on the ground to every city, sorted.
    @Test func findsTheCitiesThatLieNearest() {
        let table = CityTable.shipped
        let all = (0..<Int32(table.count)).map { table.city($0) }
        let corners = [(90, 0), (-90, 12), (0, 180), (0, -180), (0, 0)].map { Coordinates(latitude: $0, longitude: $1) }
        let others = (0..<Rounds.count(5, prove: 500)).map { _ in
            Coordinates(latitude: .random(in: -90...90), longitude: .random(in: -180...180))
        }
        for position in corners + others {
            let near = all.map { (kilometres: Self.kilometres(position, $0), country: $0.country) }
                .sorted { $0.kilometres < $1.kilometres }
            for (country, limit) in [(nil, 50), ("SE", 10), ("ZZ", 10)] as [(String?, Int)] {
                let expected = near.filter { country == nil || $0.country == country }.prefix(limit).map(\.kilometres)
                let found = CitySearch.nearest(to: position, in: country, limit: limit)
                #expect(Set(found.map(\.id)).count == expected.count, "\(position)")
                #expect(country == nil || found.allSatisfy { $0.country == country })
                // Cities of one latitude are equally far from a pole but for the rounding.
                for (city, kilometres) in zip(found, expected) {
                    #expect(abs(Self.kilometres(position, city) - kilometres) < 1e-6, "\(position)")
                }
            }
        }
    }

    /// By the formula of half the versed sine.
    private static func kilometres(_ position: Coordinates, _ city: City) -> Double {
        guard let place = city.coordinates else { return .infinity }
        let radians = Double.pi / 180
        let north = sin((place.latitude - position.latitude) * radians / 2)
        let east = sin((place.longitude - position.longitude) * radians / 2)
        let half = north * north + cos(place.latitude * radians) * cos(position.latitude * radians) * east * east
        return 2 * 6371 * asin(min(1, half.squareRoot()))
    }

    /// Against a search that looks at every name with nothing but the rules.
    @Test(arguments: ["upsala", "wien", "kyot", "n", "göte", "st petr", "osl", "rio de jan", "frankfrut"])
    func findsTheSameAsASearchOfEveryName(query: String) {
        let (table, sought) = (CityTable.shipped, Array(CityFold.fold(query).utf8))
        let slips = sought.count < 4 ? 0 : sought.count < 8 ? 1 : 2
        var counter = EditDistance(in: sought, most: slips)
        var best: [Int32: Int] = [:]
        for (place, name) in table.names.enumerated() {
            let text = Array(table.text.bytes(name.range))
            var rank: Int?
            if text.starts(with: sought) {
                rank = text.count == sought.count || table.isOwn(Int32(place)) ? 0 : 1
            } else if text.indices.contains(where: { text[$0] == 0x20 && text[($0 + 1)...].starts(with: sought) }) {
                rank = 2
            } else if slips > 0, let count = counter.count(toBeginOf: text) {
                rank = 2 + count
            }
            if let rank { best[name.city] = min(rank, best[name.city] ?? rank) }
        }
        let expected = best.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(10).map { table.city($0.key).id }
        #expect(find(query).map(\.id) == expected)
    }

    @Test(
        "slips towards the begin of a name",
        arguments: [
            ("paris", "paris", 0), ("par", "paris", 0), ("pairs", "paris", 1), ("pris", "paris", 1),
            ("parris", "paris", 1), ("pbris", "paris", 1), ("apris", "paris", 1), ("prsi", "paris", 2),
            ("london", "paris", nil), ("paris", "", nil), ("ab", "", 2), ("paris", "p", nil), ("paris", "par", 2),
            ("stokhol", "stockholm", 1), ("kk", "k", 1), ("abcd", "badc", 2), ("paris", "saint paris", nil),
        ] as [(String, String, Int?)])
    func slips(text: String, other: String, expected: Int?) {
        var slips = EditDistance(in: Array(text.utf8), most: 2)
        for _ in 0..<2 {
            #expect(slips.count(toBeginOf: Array(other.utf8)) == expected, "nothing is left of the last one")
        }
    }
}
