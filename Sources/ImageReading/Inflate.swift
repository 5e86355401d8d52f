/// The bits of a zlib stream.
struct DeflateBits {
    private let input: [UInt8]
    private var position = 2
    private var bits: UInt64 = 0
    private var count = 0

    init(_ input: [UInt8]) { self.input = input }

    /// Reads as many bytes as there is room for.
    @inline(__always) private mutating func refill() {
        while count <= 56, position < input.count {
            bits |= UInt64(input[position]) << UInt64(count)
            position += 1
            count += 8
        }
    }

    @inline(__always) private mutating func drop(_ length: Int) throws(ImageError) {
        guard length <= count else { throw .truncated }
        bits >>= UInt64(length)
        count -= length
    }

    /// The next bits, the lowest first. - Parameter length: 0 to 16.
    @inline(__always) mutating func number(_ length: Int) throws(ImageError) -> Int {
        if count < length { refill() }
        let value = Int(bits & (1 << UInt64(length) - 1))
        try drop(length)
        return value
    }

    /// The next symbol.
    @inline(__always) mutating func symbol(_ table: DeflateTable) throws(ImageError) -> Int {
        if count < 15 { refill() }
        guard let (length, symbol) = table.find(Int(bits & 0x7fff)) else {
            throw .damaged("its packed data has an unknown code")
        }
        try drop(length)
        return symbol
    }

    /// Goes to the next whole byte.
    mutating func align() throws(ImageError) { try drop(count & 7) }

    /// Whether all bits were read.
    var isAtEnd: Bool { count == 0 && position == input.count }
}

/// Unpacks a zlib stream (RFC 1950 and 1951), as many bytes at a time as the caller has room for.
struct Inflate {
    private var source: DeflateBits
    /// The last 32 KiB of the output.
    private var window = [UInt8](repeating: 0, count: windowSize)
    private var written = 0
    private static let windowSize = 1 << 15
    /// The two sums of Adler-32.
    private var sums: (a: Int, b: Int) = (1, 0)

    private enum Block { case none, stored(left: Int), coded, done }
    private var block = Block.none
    private var isLast = false
    private var lengths = DeflateTable.none
    private var distances = DeflateTable.none
    /// The rest of a repetition that did not fit into the caller's buffer.
    private var copy = (left: 0, distance: 0)

    init(_ input: [UInt8]) throws(ImageError) {
        guard input.count >= 2 else { throw .truncated }
        guard input[0] & 15 == 8, input[0] >> 4 <= 7, input[1] & 0x20 == 0,
            (Int(input[0]) << 8 | Int(input[1])) % 31 == 0
        else { throw .damaged("its packed data has a wrong head") }
        source = DeflateBits(input)
    }

    /// Writes the next bytes to the start of a buffer.
    ///
    /// - Returns: the number of bytes; less than `count` at the end of the stream only.
    /// - Parameter budget: counts steps for blocks, since these may be empty. The caller counts steps for the bytes.
    mutating func fill(
        _ buffer: inout [UInt8], upTo count: Int, _ budget: inout WorkBudget
    ) throws(ImageError) -> Int {
        var filled = 0
        var room = buffer.mutableSpan
        filling: while filled < count {
            if copy.left > 0 {
                repeatBytes(&room, &filled, count)
                continue
            }
            switch block {
            case .done: break filling
            case .none: try beginBlock(&budget)
            case .stored(left: 0): block = isLast ? .done : .none
            case .stored(let left):
                room[filled] = UInt8(try source.number(8))
                window[written & (Self.windowSize - 1)] = room[filled]
                (filled, written) = (filled + 1, written + 1)
                block = .stored(left: left - 1)
            case .coded: try decode(&room, &filled, count)
            }
        }
        add(room, filled)
        return filled
    }

    /// Adds bytes to the sums.
    private mutating func add(_ bytes: borrowing MutableSpan<UInt8>, _ count: Int) {
        var (a, b) = sums
        var start = 0
        while start < count {
            // The sums can take this many bytes before the next division.
            let end = min(count, start + 5_552)
            for index in start..<end {
                a &+= Int(bytes[index])
                b &+= a
            }
            (a, b, start) = (a % 65_521, b % 65_521, end)
        }
        sums = (a, b)
    }

    /// Checks that the stream ends here, with the right checksum and without bytes behind it.
    mutating func finish(_ budget: inout WorkBudget) throws(ImageError) {
        var more = [UInt8](repeating: 0, count: 1)
        guard try fill(&more, upTo: 1, &budget) == 0 else { throw .damaged("there is more packed data than picture") }
        try source.align()
        var sum = 0
        for _ in 0..<4 { sum = sum << 8 | (try source.number(8)) }
        guard sum == sums.b << 16 | sums.a else { throw .damaged("the checksum of its packed data is wrong") }
        guard source.isAtEnd else { throw .damaged("there are bytes behind its packed data") }
    }

    private mutating func repeatBytes(_ room: inout MutableSpan<UInt8>, _ filled: inout Int, _ count: Int) {
        let length = min(copy.left, count - filled)
        let (mask, distance) = (Self.windowSize - 1, copy.distance)
        var place = written
        var ring = window.mutableSpan
        for index in filled..<filled + length {
            let byte = ring[(place - distance) & mask]
            ring[place & mask] = byte
            room[index] = byte
            place += 1
        }
        (filled, written) = (filled + length, place)
        copy.left -= length
    }

    private mutating func beginBlock(_ budget: inout WorkBudget) throws(ImageError) {
        guard !isLast else {
            block = .done
            return
        }
        try budget.spend(10)
        isLast = try source.number(1) == 1
        switch try source.number(2) {
        case 0:
            try source.align()
            let (length, complement) = (try source.number(16), try source.number(16))
            guard length ^ complement == 0xffff else { throw .damaged("a block of its packed data has a wrong length") }
            block = .stored(left: length)
        case 1:
            (lengths, distances) = (DeflateTable.fixed.lengths, DeflateTable.fixed.distances)
            block = .coded
        case 2:
            try budget.spend(1_000)
            try readTables()
            block = .coded
        default: throw .damaged("a block of its packed data has no kind")
        }
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func readTables() throws(ImageError) {
        let (literals, repeats, codes) = (
            257 + (try source.number(5)), 1 + (try source.number(5)), 4 + (try source.number(4))
        )
        guard literals <= 286, repeats <= 30 else { throw .damaged("its packed data has too many codes") }
        var codeLengths = [UInt8](repeating: 0, count: 19)
        for place in Self.order.prefix(codes) { codeLengths[place] = UInt8(try source.number(3)) }
        let table = try DeflateTable(codeLengths[...])
        var all: [UInt8] = []
        while all.count < literals + repeats {
            let code = try source.symbol(table)
            switch code {
            case 16:
                guard let last = all.last else { throw .damaged("its packed data repeats nothing") }
                all += repeatElement(last, count: 3 + (try source.number(2)))
            case 17: all += repeatElement(0, count: 3 + (try source.number(3)))
            case 18: all += repeatElement(0, count: 11 + (try source.number(7)))
            default: all.append(UInt8(code))
            }
        }
        guard all.count == literals + repeats, all[256] > 0 else { throw .damaged("its packed data has wrong codes") }
        lengths = try DeflateTable(all[..<literals])
        distances = try DeflateTable(all[literals...])
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073,
        4_097,
        6_145, 8_193, 12_289, 16_385, 24_577,
    ]

    /// Decodes until there is a repetition, the room is filled or the block ends.
    private mutating func decode(
        _ room: inout MutableSpan<UInt8>, _ filled: inout Int, _ count: Int
    ) throws(ImageError) {
        let table = lengths
        while filled < count {
            let code = try source.symbol(table)
            if code < 256 {
                let byte = UInt8(code)
                room[filled] = byte
                window[written & (Self.windowSize - 1)] = byte
                (filled, written) = (filled + 1, written + 1)
                continue
            }
            if code == 256 {
                block = isLast ? .done : .none
                return
            }
            guard code <= 285 else { throw .damaged("its packed data has an unknown code") }
            let length = Self.lengthBases[code - 257] + (try source.number(Self.lengthBits[code - 257]))
            let far = try source.symbol(distances)
            guard far < 30 else { throw .damaged("its packed data has an unknown code") }
            let distance = Self.distanceBases[far] + (try source.number(max(0, far / 2 - 1)))
            guard distance <= written else { throw .damaged("its packed data reaches before its start") }
            copy = (length, distance)
            return
        }
    }
}

/// A Huffman table of a zlib stream. An entry of its quick table has the length of a code in the upper bits, and the
/// symbol in the lower 12.
final class DeflateTable: Sendable {
    /// The quick table finds codes of at most this many bits in one step.
    private static let quickBits = 10
    private let quick: [UInt16]
    /// The number of codes of each length, and the symbols of all codes in order.
    private let counts: [Int]
    private let symbols: [UInt16]

    private init(quick: [UInt16], counts: [Int], symbols: [UInt16]) {
        (self.quick, self.counts, self.symbols) = (quick, counts, symbols)
    }

    /// A table without a code.
    static let none = DeflateTable(
        quick: Array(repeating: 0, count: 1 << quickBits), counts: Array(repeating: 0, count: 16), symbols: [])

    init(_ lengths: ArraySlice<UInt8>) throws(ImageError) {
        var quick = [UInt16](repeating: 0, count: 1 << Self.quickBits)
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths { counts[Int(length)] += 1 }
        counts[0] = 0
        var left = 1
        var starts = [Int](repeating: 0, count: 17)
        for length in 1...15 {
            left = left << 1 - counts[length]
            guard left >= 0 else { throw .damaged("its packed data has too many codes") }
            starts[length + 1] = starts[length] + counts[length]
        }
        // If there is only one distance, its code may be the only one, of one bit. A picture without repetitions has no
        // distance code.
        guard left == 0 || starts[16] == 0 || starts[16] == 1 && counts[1] == 1 else {
            throw .damaged("its packed data has too few codes")
        }
        var symbols = [UInt16](repeating: 0, count: starts[16])
        var codes = [Int](repeating: 0, count: 16)
        for length in 1..<15 { codes[length + 1] = (codes[length] + counts[length]) << 1 }
        for (symbol, length) in lengths.enumerated() where length > 0 {
            let length = Int(length)
            symbols[starts[length]] = UInt16(symbol)
            starts[length] += 1
            if length <= Self.quickBits {
                let first = Self.reversed(codes[length], length)
                for place in stride(from: first, to: 1 << Self.quickBits, by: 1 << length) {
                    quick[place] = UInt16(length) << 12 | UInt16(symbol)
                }
            }
            codes[length] += 1
        }
        (self.quick, self.counts, self.symbols) = (quick, counts, symbols)
    }

    private static func reversed(_ code: Int, _ length: Int) -> Int {
        (0..<length).reduce(0) { $0 << 1 | code >> $1 & 1 }
    }

    /// The code at the beginning of the next bits; `nil` if there is none.
    @inline(__always) func find(_ bits: Int) -> (length: Int, symbol: Int)? {
        let entry = Int(quick[bits & (1 << Self.quickBits - 1)])
        return entry > 0 ? (entry >> 12, entry & 0xfff) : findSlowly(bits)
    }

    private func findSlowly(_ bits: Int) -> (length: Int, symbol: Int)? {
        var (code, first, place) = (0, 0, 0)
        for length in 1...15 {
            code |= bits >> (length - 1) & 1
            if code - first < counts[length] { return (length, Int(symbols[place + code - first])) }
            place += counts[length]
            first = (first + counts[length]) << 1
            code <<= 1
        }
        return nil
    }

    /// The fixed tables, which no stream contains: RFC 1951, 3.2.6.
    static let fixed: (lengths: DeflateTable, distances: DeflateTable) = {
        let lengths = (0..<288).map { UInt8($0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8) }
        let distances = [UInt8](repeating: 5, count: 32)
        return ((try? DeflateTable(lengths[...])) ?? .none, (try? DeflateTable(distances[...])) ?? .none)
    }()
}
