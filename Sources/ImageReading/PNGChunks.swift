/// One chunk of a PNG.
struct PNGChunk {
    var type: String
    /// Its data, without length, type and checksum.
    var data: Range<Int>
}

/// Walks along the chunks of a PNG, from the first to `IEND`, and checks their checksums and their order.
struct PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    private let bytes: [UInt8]
    private var position = signature.count
    private var last = ""
    /// The types of chunks read so far, among `IDAT` and the types that may appear only once.
    private var seen: Set<String> = []
    private static let once: Set<String> = [
        "IHDR", "PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "eXIf",
    ]
    /// The most bytes of an unpacked colour profile. The profiles of cameras have some 500.
    private static let profileBytes = 1 << 20

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next chunk; the last is `IEND`.
    mutating func next() throws(ImageError) -> PNGChunk {
        guard bytes.count - position >= 12 else { throw .truncated }
        let length = number(position)
        guard bytes.count - position - 12 >= length else { throw .truncated }
        let name = bytes[position + 4..<position + 8]
        guard name.allSatisfy({ 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0 }) else { throw .damaged("a chunk has no name") }
        let data = position + 8..<position + 8 + length
        guard CRC32.of(bytes[position + 4..<data.upperBound]) == UInt32(number(data.upperBound)) else {
            throw .damaged("a checksum is wrong")
        }
        position = data.upperBound + 4
        let chunk = PNGChunk(type: String(decoding: name, as: UTF8.self), data: data)
        try check(chunk)
        last = chunk.type
        return chunk
    }

    private mutating func check(_ chunk: PNGChunk) throws(ImageError) {
        let type = chunk.type
        guard (last == "") == (type == "IHDR") else { throw .damaged("it does not begin with its header") }
        let isNew = type == last || !seen.contains(type)
        guard isNew, !Self.once.contains(type) || !seen.contains(type) else { throw .damaged("a chunk stands twice") }
        if type == "IDAT" || Self.once.contains(type) { seen.insert(type) }
        if type == "PLTE" || type == "tRNS", seen.contains("IDAT") { throw .damaged("a chunk follows the picture") }
        if type == "PLTE", seen.contains("tRNS") { throw .damaged("transparency comes before the palette") }
        let isCritical = type.utf8.first.map { $0 & 0x20 == 0 } ?? true
        guard !isCritical || ["IHDR", "PLTE", "IDAT", "IEND"].contains(type) else {
            throw .unsupported("an unknown critical chunk")
        }
        if type == "IEND", !seen.contains("IDAT") { throw .damaged("it has no picture") }
        if type == "IEND", !chunk.data.isEmpty { throw .damaged("its end is not empty") }
        if type == "iCCP" { try checkProfile(bytes[chunk.data]) }
    }

    /// A program that draws the picture unpacks its colour profile. So the profile must be whole and small.
    private func checkProfile(_ data: ArraySlice<UInt8>) throws(ImageError) {
        guard let name = data.prefix(80).firstIndex(of: 0), name + 2 <= data.endIndex, data[name + 1] == 0 else {
            throw .damaged("its colour profile has no name")
        }
        var budget = WorkBudget(ImageLimits.standard.work / 10, until: nil)
        var inflate = try Inflate(Array(data[(name + 2)...]))
        var profile = [UInt8](repeating: 0, count: Self.profileBytes)
        let count = try inflate.fill(&profile, upTo: Self.profileBytes, &budget)
        guard count < Self.profileBytes else { throw .damaged("its colour profile is too large") }
        try inflate.finish(&budget)
    }

    private func number(_ offset: Int) -> Int {
        Int(bytes[offset]) << 24 | Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
    }
}

/// The checksum of chunks: CRC-32 of ISO 3309.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1 }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = table
        var value = UInt32.max
        for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
        return ~value
    }
}
