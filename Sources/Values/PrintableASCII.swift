/// The bytes from 0x20 to 0x7e. Most bytes that arrive are these.
public enum PrintableASCII {
    /// The number of these bytes before the first other one.
    public static func prefix(of bytes: UnsafeRawBufferPointer) -> Int {
        var place = 0
        // This never reads beyond the end of the buffer, even with eight bytes at once.
        while place + 8 <= bytes.count, isPrintable(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) {
            place += 8
        }
        while place < bytes.count, (0x20...0x7e).contains(bytes[place]) { place += 1 }
        return place
    }

    /// Whether each of eight bytes is printable.
    private static func isPrintable(_ eight: UInt64) -> Bool {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        // In a byte without its top bit, adding 0x60 sets that bit from 0x20 on, and adding 1 sets it for 0x7f alone. No sum
        // reaches the next byte.
        return eight & tops == 0 && (eight &+ ones &* 0x60) & ~(eight &+ ones) & tops == tops
    }
}
