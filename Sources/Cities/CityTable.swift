import BusProtocol

/// The cities of the world, where they lie, and the trigrams by which they are found. It does not change after it was made.
///
/// Making it takes some ten milliseconds, and a search up to ten, so do both off the loop. It is in memory and not in
/// the database, because it is part of the release. It is the same for everybody, and searching it takes no account.
package struct CityTable: Sendable {
    /// The table of this release. Its first use makes it.
    package static let shipped = CityTable(EmbeddedFiles.Table.cities.text)

    /// A name by which a city is found.
    struct Name: Sendable {
        let city: Int32
        let range: Range<Int32>
    }

    /// The members of a line; the last one has the names.
    private static let members = 7

    let text: StaticText
    /// The ends of the members of all lines. The most populous city comes first.
    private let ends: [Int32]
    let names: [Name]
    private let trigrams: TrigramIndex
    /// Where each city lies.
    private let points: [SpherePoint]

    /// How many cities it has.
    package var count: Int { points.count }

    private init(_ file: StaticString) {
        let text = StaticText(file)
        var (ends, names, points): ([Int32], [Name], [SpherePoint]) = ([], [], [])
        var begin: Int32 = 0
        for place in 0..<text.count {
            switch text[place] {
            case UInt8(ascii: "|"): ends.append(place)
            case UInt8(ascii: ","):
                // A comma in the city's own name does not separate names.
                guard ends.count % Self.members == Self.members - 1 else { continue }
                names.append(Name(city: Int32(points.count), range: begin..<place))
            case UInt8(ascii: "\n"):
                names.append(Name(city: Int32(points.count), range: begin..<place))
                ends.append(place)
                let line = ends.suffix(Self.members)
                func degrees(_ member: Int) -> Double {
                    let (end, next) = (line[line.startIndex + member - 1], line[line.startIndex + member])
                    return Self.degrees(text.bytes((end + 1)..<next))
                }
                points.append(SpherePoint(latitude: degrees(4), longitude: degrees(5)))
            default: continue
            }
            begin = place + 1
        }
        (self.text, self.ends, self.names, self.points) = (text, ends, names, points)
        trigrams = TrigramIndex(of: names.map(\.range), in: text)
    }

    func city(_ city: Int32) -> City {
        let state = member(3, of: city)
        let country = member(2, of: city)
        return City(
            id: Int64(member(0, of: city)) ?? 0, name: member(1, of: city), state: state.isEmpty ? nil : state,
            country: country,
            coordinates: Coordinates(
                latitude: Self.degrees(text.bytes(span(4, of: city))),
                longitude: Self.degrees(text.bytes(span(5, of: city)))))
    }

    func point(of city: Int32) -> SpherePoint { points[Int(city)] }

    /// Whether a name is the city's own name, and not one in another language.
    func isOwn(_ name: Int32) -> Bool { name == 0 || names[Int(name) - 1].city != names[Int(name)].city }

    func isIn(_ country: [UInt8], _ city: Int32) -> Bool { text.bytes(span(2, of: city)).elementsEqual(country) }

    /// The indices of names that share at least `least` trigrams with a query.
    func names(sharing least: Int, with query: [UInt8]) -> [Int32] { trigrams.sharing(least, with: query) }

    /// The indices of names in which a word may begin like the query.
    func names(beginningLike query: [UInt8]) -> ArraySlice<Int32> { trigrams.rarest(in: query) }

    /// The degrees that the digits of hundredths say.
    private static func degrees(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Double {
        let isNegative = digits.first == UInt8(ascii: "-")
        let hundredths = digits.dropFirst(isNegative ? 1 : 0).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return Double(isNegative ? -hundredths : hundredths) / 100
    }

    private func member(_ number: Int, of city: Int32) -> String {
        String(decoding: text.bytes(span(number, of: city)), as: UTF8.self)
    }

    private func span(_ number: Int, of city: Int32) -> Range<Int32> {
        let place = Int(city) * Self.members + number
        return (place == 0 ? 0 : ends[place - 1] + 1)..<ends[place]
    }
}

/// The lines of an embedded file after its leading comment, without copying them.
struct StaticText: @unchecked Sendable {
    // The memory of a literal is read-only and stays valid as long as the process runs.
    private let all: UnsafeBufferPointer<UInt8>

    init(_ file: StaticString) {
        var lines = UnsafeBufferPointer(start: file.utf8Start, count: file.utf8CodeUnitCount)[...]
        while lines.first == UInt8(ascii: "#") { lines = lines.drop { $0 != UInt8(ascii: "\n") }.dropFirst() }
        all = UnsafeBufferPointer(rebasing: lines)
    }

    var count: Int32 { Int32(all.count) }
    subscript(place: Int32) -> UInt8 { all[Int(place)] }
    func bytes(_ range: Range<Int32>) -> Slice<UnsafeBufferPointer<UInt8>> {
        all[Int(range.lowerBound)..<Int(range.upperBound)]
    }
}
