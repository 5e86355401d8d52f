/// Draws a grey photo in baseline JPEG: patches of different brightness with fine grain, sharp and neither dark nor light.
enum DemoPhoto {
    private static let (width, height) = (480, 640)
    /// The number of patterns in a block, of 63 possible ones. The coarse ones come first.
    private static let patterns = 20

    static func jpeg() -> [UInt8] {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xff, marker] + number(content.count + 2) + content
        }
        // All codes of a table have one length, so the table is easy to write: 12 codes of 4 bits, 4 codes of 3 bits.
        let levels = [0x00] + codes(12, bits: 4) + Array(0...11)
        let details = [0x10] + codes(4, bits: 3) + Array(0...3)
        return [0xff, 0xd8]
            + segment(0xdb, [0] + [UInt8](repeating: 16, count: 64))
            + segment(0xc0, [8] + number(height) + number(width) + [1, 1, 0x11, 0])
            + segment(0xc4, levels) + segment(0xc4, details)
            + segment(0xda, [1, 1, 0x00, 0, 63, 0]) + scan() + [0xff, 0xd9]
    }

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    private static func codes(_ count: UInt8, bits: Int) -> [UInt8] { (1...16).map { $0 == bits ? count : 0 } }

    private static func scan() -> [UInt8] {
        var bits = Bits()
        var previous = 0
        for _ in 0..<(width / 8 * height / 8) {
            let level = Int.random(in: -20...20)
            let size = width(of: level - previous)
            bits.add(size, 4)
            bits.add(level - previous, size: size)
            previous = level
            for _ in 0..<patterns {
                let detail = Int.random(in: 1...3) * (Bool.random() ? 1 : -1)
                let size = width(of: detail)
                bits.add(size, 3)
                bits.add(detail, size: size)
            }
            // The end of the block.
            bits.add(0, 3)
        }
        return bits.finished()
    }

    /// How many bits the number has without its sign.
    private static func width(of value: Int) -> Int { Int.bitWidth - abs(value).leadingZeroBitCount }

    private struct Bits {
        private var bytes: [UInt8] = []
        private var (rest, count) = (0, 0)

        mutating func add(_ value: Int, _ width: Int) {
            rest = rest << width | value
            count += width
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(rest >> count & 255))
                // A byte of 255 would begin a marker.
                if bytes.last == 255 { bytes.append(0) }
                rest &= (1 << count) - 1
            }
        }

        /// JPEG stores a negative number as the inverted bits of its absolute value.
        mutating func add(_ value: Int, size: Int) { add(value < 0 ? value + (1 << size) - 1 : value, size) }

        mutating func finished() -> [UInt8] {
            if count > 0 { add((1 << (8 - count)) - 1, 8 - count) }
            return bytes
        }
    }
}
