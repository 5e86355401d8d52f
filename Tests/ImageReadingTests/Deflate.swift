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
        var (bytes, count): ([UInt8], Int) = ([], 0)
        /// Codes are sent with their first bit first.
        func put(_ bits: String) {
            for bit in bits {
                if count % 8 == 0 { bytes.append(0) }
                if bit == "1" { bytes[count / 8] |= 1 << UInt8(count % 8) }
                count += 1
            }
        }
        put("110" + "00110000")
        for _ in 0..<repetitions { put("11000101" + "00000") }
        for _ in 0..<zeros { put("00110000") }
        put("0000000")
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
