@testable import ImageReading

/// Packed zeros: the smallest data for the largest picture.
enum Deflate {
    /// A zlib stream that unpacks to zeros. One byte of it gives 158.
    static func zeros(_ count: Int) -> [UInt8] {
        // With the fixed codes, 258 zeros more take 13 bits. So eight times that are 13 bytes, which repeat.
        let rounds = max(0, (count - 1 - 258) / (8 * 258))
        let period = packed(repetitions: 9, zeros: 0)[2..<15]
        let left = count - 1 - 258 * (8 * rounds + 1)
        let tail = packed(repetitions: 1, zeros: left)
        let sum = Part.number((count % 65_521) << 16 | 1)
        return [0x78, 0x01] + tail[..<2] + Array(repeating: period, count: rounds).joined() + tail[2...] + sum
    }

    /// One block: a zero, repetitions of 258, more zeros, and the end.
    private static func packed(repetitions: Int, zeros: Int) -> [UInt8] {
        bytes(
            "110" + "00110000" + String(repeating: "11000101" + "00000", count: repetitions)
                + String(repeating: "00110000", count: zeros) + "0000000")
    }

    /// Blocks that bring their tables and nothing else, and no end.
    static func tables(_ count: Int) -> [UInt8] {
        // Lengths of codes for lengths: 18, 0 and 1 have 1, 2 and 2 bits.
        let lengths = "000" + "000" + "100" + "010" + String(repeating: "000", count: 13) + "010"
        // 138 and 118 zeros, so that only the end of a block has a code, and one distance.
        let codes = "0" + "1111111" + "0" + "1101011" + "11" + "10"
        let block = "001" + "00000" + "00000" + "0111" + lengths + codes + "0"
        return [0x78, 0x01] + Array(repeating: bytes(block + block), count: count / 2).joined()
    }

    /// Bits in the order in which they are read.
    private static func bytes(_ bits: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (bits.utf8.count + 7) / 8)
        for (place, bit) in bits.utf8.enumerated() where bit == UInt8(ascii: "1") {
            bytes[place / 8] |= 1 << UInt8(place % 8)
        }
        return bytes
    }

    /// A black PNG, or one of which all is transparent.
    static func png(width: Int, height: Int, depth: UInt8 = 8, colours: UInt8 = 0, more: Int = 0) throws -> [UInt8] {
        let channels = [1, 0, 3, 1, 2, 0, 4][Int(colours)]
        let data = zeros((width * Int(depth) * channels / 8 + 1) * height + more)
        return Part.png([
            Part.header(width, height, depth: depth, colours: colours), Part.chunk("IDAT", data),
            Part.chunk("IEND", []),
        ])
    }
}
