import BusProtocol
import TestSupport
import Testing

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
            Issue.record("the catalogue has no countries")
            return
        }
        // Kosovo has no code of ISO 3166-1.
        #expect(Set(all.map(\.country)).subtracting(countries) == ["XK"])
        #expect(all.filter { $0.state == "California" }.count > 300)
    }

    /// The script and the service fold in the same way: each city is found by its own name, accents and all.
    @Test func everyNameFoldsToWhatTheTableHas() throws {
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

    @Test func theMostPopulousComesFirst() {
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

    @Test func whatIsNoCityFindsNothing() {
        for query in ["qqqqqqqq", "🔥", "xzxzxzxzxzxz", "ab cd ef gh ij kl"] { #expect(find(query).isEmpty, "\(query)") }
        #expect(find("stockholm", in: "ZZ").isEmpty)
        #expect(find(String(repeating: "a", count: 100)).isEmpty)
    }

    /// Against a search that looks at every name with nothing but the rules.
    @Test(arguments: ["upsala", "wien", "kyot", "n", "göte", "st petr", "osl", "rio de jan", "frankfrut"])
    func findsWhatLookingAtEveryNameFinds(query: String) {
        let (table, sought) = (CityTable.shipped, Array(CityFold.fold(query).utf8))
        let slips = sought.count < 4 ? 0 : sought.count < 8 ? 1 : 2
        var counter = Slips(in: sought, most: slips)
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
        var slips = Slips(in: Array(text.utf8), most: 2)
        for _ in 0..<2 {
            #expect(slips.count(toBeginOf: Array(other.utf8)) == expected, "nothing is left of the last one")
        }
    }
}
