/// A Huffman table of a JPEG. It is a class, so that a scan holds each table by one reference.
final class HuffmanTable {
    /// The longest code in the quick table, in bits.
    static let quickBits = 9
    /// For each value of the next 9 bits: the code's length in the upper byte and its symbol in the lower byte. It is 0
    /// if the code is longer.
    let quick: [UInt16]
    /// For each length: the last code plus one, shifted to 16 bits. A code of this length is less than that.
    private let limit: [Int]
    /// For each length: the number to add to a code to get the place of its symbol.
    private let offset: [Int]
    private let symbols: [UInt8]

    /// - Parameters:
    ///   - counts: the number of codes of 1, 2 … 16 bits.
    ///   - symbols: the symbols in the order of their codes.
    init(counts: ArraySlice<UInt8>, symbols: ArraySlice<UInt8>) throws(ImageError) {
        let symbols = Array(symbols)
        var quick = [UInt16](repeating: 0, count: 1 << Self.quickBits)
        var limit = [Int](repeating: 0, count: 17)
        var offset = limit
        var (code, place) = (0, 0)
        for (index, count) in counts.enumerated() {
            let length = index + 1
            offset[length] = place - code
            // JPEG never uses the code of ones only. So at least one code of each length must stay free.
            guard code + Int(count) < 1 << length else { throw .damaged("a Huffman table has too many codes") }
            for _ in 0..<count {
                if length <= Self.quickBits {
                    let first = code << (Self.quickBits - length)
                    for start in first..<first + 1 << (Self.quickBits - length) {
                        quick[start] = UInt16(length) << 8 | UInt16(symbols[place])
                    }
                }
                (code, place) = (code + 1, place + 1)
            }
            limit[length] = code << (16 - length)
            code <<= 1
        }
        (self.quick, self.limit, self.offset, self.symbols) = (quick, limit, offset, symbols)
    }

    /// The length and the symbol of a code that is too long for the quick table; `nil` if the bits begin with no code.
    func slow(_ bits: Int) -> (length: Int, symbol: UInt8)? {
        for length in Self.quickBits + 1...16 where bits < limit[length] {
            let place = offset[length] + bits >> (16 - length)
            return symbols.indices.contains(place) ? (length, symbols[place]) : nil
        }
        return nil
    }
}
