import BusProtocol

/// The cities of the world, and the trigrams by which they are found. Nothing in it changes once it is made; making it
/// takes some ten milliseconds, and a search up to ten: neither is for the loop.
///
/// It is in memory and not in the database: it is the same for everybody, comes with the release, and strangers may ask it.
struct CityTable: Sendable {
    static let shipped = CityTable(EmbeddedFiles.Cities.cities.text)

    /// A name that a city is found by.
    struct Name: Sendable {
        let city: Int32
        let range: Range<Int32>
    }

    let text: StaticText
    /// The members of a line end here, five of each city; the most populous city is the first.
    private let ends: [Int32]
    let names: [Name]
    private let trigrams: TrigramIndex

    var count: Int { ends.count / 5 }

    private init(_ file: StaticString) {
        let text = StaticText(file)
        var (ends, names): ([Int32], [Name]) = ([], [])
        var begin: Int32 = 0
        for place in 0..<text.count {
            switch text[place] {
            case UInt8(ascii: "|"): ends.append(place)
            case UInt8(ascii: ","):
                // A comma of the city's own name is none between names.
                guard ends.count % 5 == 4 else { continue }
                names.append(Name(city: Int32(ends.count / 5), range: begin..<place))
            case UInt8(ascii: "\n"):
                names.append(Name(city: Int32(ends.count / 5), range: begin..<place))
                ends.append(place)
            default: continue
            }
            begin = place + 1
        }
        (self.text, self.ends, self.names) = (text, ends, names)
        trigrams = TrigramIndex(of: names.map(\.range), in: text)
    }

    func city(_ city: Int32) -> City {
        let state = member(3, of: city)
        let country = member(2, of: city)
        return City(
            id: Int64(member(0, of: city)) ?? 0, name: member(1, of: city), state: state.isEmpty ? nil : state,
            country: country)
    }

    /// Whether it is what the city is called here, and not in another language.
    func isOwn(_ name: Int32) -> Bool { name == 0 || names[Int(name) - 1].city != names[Int(name)].city }

    func isIn(_ country: [UInt8], _ city: Int32) -> Bool { text.bytes(span(2, of: city)).elementsEqual(country) }

    /// Places of names that share at least so many trigrams with a query, the shared ones counted.
    func names(sharing least: Int, with query: [UInt8]) -> [Int32] { trigrams.sharing(least, with: query) }

    /// Places of names in which a word may begin as the query does.
    func names(beginningLike query: [UInt8]) -> ArraySlice<Int32> { trigrams.rarest(in: query) }

    private func member(_ number: Int, of city: Int32) -> String {
        String(decoding: text.bytes(span(number, of: city)), as: UTF8.self)
    }

    private func span(_ number: Int, of city: Int32) -> Range<Int32> {
        let place = Int(city) * 5 + number
        return (place == 0 ? 0 : ends[place - 1] + 1)..<ends[place]
    }
}

/// The lines of an embedded file behind the comment that it begins with, where the program has them.
struct StaticText: @unchecked Sendable {
    // A literal is read-only memory that lives as long as the process.
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
