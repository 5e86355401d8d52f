/// A Huffman table of a JPEG. It is a class, so that a scan holds it by one reference.
final class HuffmanTable {
    /// The bits of a code that the quick table knows.
    static let quickBits = 9
    /// For each start of a code: its length in the upper byte and its symbol in the lower one; 0 where the code is longer.
    let quick: [UInt16]
    /// For each length: the code behind the last one, brought to 16 bits, so that a code of this length is less.
    private let limit: [Int]
    /// For each length: what to add to a code to have the place of its symbol.
    private let offset: [Int]
    private let symbols: [UInt8]

    /// - Parameters:
    ///   - counts: how many codes of 1, 2 … 16 bits there are.
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
            // The code of ones only stays free, so at least one code is left over.
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

    /// The length of a code that is longer than the quick table knows, and its symbol; `nil` for no code.
    func slow(_ bits: Int) -> (length: Int, symbol: UInt8)? {
        for length in Self.quickBits + 1...16 where bits < limit[length] {
            let place = offset[length] + bits >> (16 - length)
            return symbols.indices.contains(place) ? (length, symbols[place]) : nil
        }
        return nil
    }
}
