/// The bits of the coded data of one scan.
struct JPEGBits {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int
    /// The next bits, the first at the top. Bits that are not filled are 0.
    private var bits: UInt64 = 0
    private var count = 0

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        (self.bytes, position, end) = (bytes, range.lowerBound, range.upperBound)
    }

    /// Reads whole bytes, up to a restart marker or the end.
    private mutating func fill() {
        while count <= 56, position < end {
            let byte = bytes[position]
            if byte == 0xff {
                // After `JPEGSegments`, only a stuffed zero or a restart marker can follow this byte.
                guard position + 1 < end, bytes[position + 1] == 0 else { return }
                position += 1
            }
            position += 1
            bits |= UInt64(byte) << UInt64(56 - count)
            count += 8
        }
    }

    @inline(__always) private mutating func drop(_ length: Int) throws(ImageError) {
        guard length <= count else { throw .damaged("a scan ends too early") }
        bits <<= UInt64(length)
        count -= length
    }

    /// The next symbol.
    @inline(__always) mutating func symbol(_ table: HuffmanTable) throws(ImageError) -> Int {
        if count < 32 { fill() }
        let quick = table.quick[Int(bits >> UInt64(64 - HuffmanTable.quickBits))]
        if quick != 0 {
            try drop(Int(quick >> 8))
            return Int(quick & 0xff)
        }
        guard let (length, symbol) = table.slow(Int(bits >> 48)) else { throw .damaged("a scan has an unknown code") }
        try drop(length)
        return Int(symbol)
    }

    /// The next bits as a number, the first at the top. - Parameter length: 0 to 16.
    @inline(__always) mutating func number(_ length: Int) throws(ImageError) -> Int {
        guard length > 0 else { return 0 }
        if count < length { fill() }
        let value = Int(bits >> UInt64(64 - length))
        try drop(length)
        return value
    }

    /// The next bits as a signed value: ITU-T T.81, F.2.2.1 (EXTEND).
    @inline(__always) mutating func value(_ length: Int) throws(ImageError) -> Int {
        let value = try number(length)
        return length > 0 && value < 1 << (length - 1) ? value - 1 << length + 1 : value
    }

    /// Skips bits whose value does not matter.
    mutating func skip(_ length: Int) throws(ImageError) {
        var left = length
        while left > 0 {
            _ = try number(min(left, 16))
            left -= 16
        }
    }

    /// Skips the restart marker, which must be here.
    mutating func restart(_ index: Int) throws(ImageError) {
        fill()
        guard count < 8, position + 1 < end, bytes[position] == 0xff, bytes[position + 1] == 0xd0 + UInt8(index & 7)
        else {
            throw .damaged("a restart marker is missing")
        }
        position += 2
        (bits, count) = (0, 0)
    }

    /// Checks that only the bits that fill the last byte are left.
    mutating func finish() throws(ImageError) {
        fill()
        guard count < 8, position == end else { throw .damaged("a scan has more data than blocks") }
    }
}
