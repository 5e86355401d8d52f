import BusProtocol

/// Finds cities while a person types their name, and cities near a position.
package enum CitySearch {
    /// The most bytes of a folded query that are used.
    private static let longest = 100

    /// Finds cities in this order:
    /// 1. the city's own name begins with the query, or any name equals it;
    /// 2. a name in another language begins with the query;
    /// 3. a later word of a name begins with the query;
    /// 4. a name begins with the query except for one typing error, then except for two.
    ///
    /// Within each group, the most populous city comes first. An empty query finds the most populous cities.
    ///
    /// - Parameter country: the code of the only country whose cities count, in capital letters; `nil` for all.
    package static func find(
        _ query: String, in country: String?, limit: Int, of table: CityTable = .shipped
    ) -> [City] {
        let sought = Array(CityFold.fold(query).utf8.prefix(longest))
        var found = Found(limit: limit, country: country.map { Array($0.utf8) }, table: table)
        if query.allSatisfy(\.isWhitespace) {
            for city in 0..<Int32(table.count) where !found.isFull { found.take(city) }
            return found.cities
        }
        guard !sought.isEmpty else { return [] }
        found.take(beginning(with: sought, in: table))
        if !found.isFull { found.take(near(sought, in: table)) }
        return found.cities
    }

    /// Finds the cities nearest to a position, the nearest first. It looks at every city, which is quick enough without
    /// an index.
    package static func nearest(
        to position: Coordinates, in country: String?, limit: Int, of table: CityTable = .shipped
    ) -> [City] {
        let here = SpherePoint(latitude: position.latitude, longitude: position.longitude)
        let country = country.map { Array($0.utf8) }
        var nearest: [(distance: Double, city: Int32)] = []
        for city in 0..<Int32(table.count) {
            let distance = table.point(of: city).squaredDistance(to: here)
            if nearest.count == limit, let farthest = nearest.last, distance >= farthest.distance { continue }
            if let country, !table.isIn(country, city) { continue }
            let place = nearest.firstIndex { distance < $0.distance } ?? nearest.endIndex
            nearest.insert((distance, city), at: place)
            if nearest.count > limit { nearest.removeLast() }
        }
        return nearest.map { table.city($0.city) }
    }

    /// Cities with their rank. A smaller rank is a better match.
    private typealias Hits = [(rank: Int, city: Int32)]

    private static func beginning(with sought: [UInt8], in table: CityTable) -> Hits {
        table.names(beginningLike: sought).compactMap { place in
            let name = table.names[Int(place)]
            let text = table.text.bytes(name.range)
            if text.starts(with: sought) {
                return (text.count == sought.count || table.isOwn(place) ? 0 : 1, name.city)
            }
            return hasWord(beginningWith: sought, text) ? (2, name.city) : nil
        }
    }

    private static func hasWord(beginningWith sought: [UInt8], _ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = text
        while let space = rest.firstIndex(of: UInt8(ascii: " ")) {
            rest = rest[(space + 1)...]
            if rest.starts(with: sought) { return true }
        }
        return false
    }

    /// Finds names with typing errors. One error changes at most four trigrams (two exchanged letters), and the
    /// unfinished end changes one more. The search compares only names that share enough trigrams with the query.
    private static func near(_ sought: [UInt8], in table: CityTable) -> Hits {
        let slips = sought.count < 4 ? 0 : sought.count < 8 ? 1 : 2
        guard slips > 0 else { return [] }
        let least = max(sought.count - 4 * slips, slips)
        var counter = EditDistance(in: sought, most: slips)
        return table.names(sharing: least, with: sought).compactMap { place in
            let name = table.names[Int(place)]
            return counter.count(toBeginOf: table.text.bytes(name.range)).map { ($0, name.city) }
        }
    }

    /// The best matches so far.
    private struct Found {
        let limit: Int
        let country: [UInt8]?
        let table: CityTable
        var cities: [City] = []
        private var taken: Set<Int32> = []

        init(limit: Int, country: [UInt8]?, table: CityTable) {
            (self.limit, self.country, self.table) = (limit, country, table)
        }

        var isFull: Bool { cities.count >= limit }

        mutating func take(_ hits: Hits) {
            for hit in hits.sorted(by: { ($0.rank, $0.city) < ($1.rank, $1.city) }) where !isFull { take(hit.city) }
        }

        mutating func take(_ city: Int32) {
            if let country, !table.isIn(country, city) { return }
            guard taken.insert(city).inserted else { return }
            cities.append(table.city(city))
        }
    }
}
