/// The luma of the pixels of a PNG. Transparent pixels count as seen on white.
struct PNGLuma {
    private let colours: PNGHeader.Colours
    private let depth: Int
    /// The luma of each colour of a palette.
    private let table: [UInt8]
    /// The samples of the one colour that is transparent.
    private let transparent: [Int]?

    init(_ header: PNGHeader, palette: [UInt8], transparency: ArraySlice<UInt8>?) throws(ImageError) {
        (colours, depth) = (header.colours, header.depth)
        let opacity = transparency.map(Array.init)
        let isGrey = colours == .grey || colours == .greyAlpha
        guard palette.count % 3 == 0, palette.count <= 768, !isGrey || palette.isEmpty else {
            throw .damaged("its palette is wrong")
        }
        guard colours == .palette else {
            guard opacity == nil || opacity?.count == 2 * colours.channels && colours.channels % 2 == 1 else {
                throw .damaged("its transparency is wrong")
            }
            table = []
            transparent = opacity.map { bytes in
                stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
            }
            return
        }
        let entries = palette.count / 3
        guard 1...(1 << depth) ~= entries, opacity?.count ?? 0 <= entries else {
            throw .damaged("its palette is wrong")
        }
        transparent = nil
        table =
            (0..<entries).map { index in
                let alpha = opacity.map { index < $0.count ? Int($0[index]) : 255 } ?? 255
                return Self.mixed(
                    Self.luma(Int(palette[3 * index]), Int(palette[3 * index + 1]), Int(palette[3 * index + 2])), alpha)
            } + Array(repeating: 0, count: 256 - entries)
    }

    @inline(__always) private static func luma(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        (19_595 * red + 38_470 * green + 7_471 * blue + 32_768) >> 16
    }

    @inline(__always) private static func mixed(_ luma: Int, _ alpha: Int) -> UInt8 {
        UInt8((luma * alpha + 255 * (255 - alpha) + 127) / 255)
    }

    /// Writes the luma of each pixel of a row. The first byte of the row names its filter.
    func write(_ row: [UInt8], to line: inout [UInt8]) {
        var line = line.mutableSpan
        if depth < 8 || colours == .palette {
            let (mask, top) = (1 << depth - 1, 255 / (1 << depth - 1))
            for column in line.indices {
                let bit = column * depth
                let sample = Int(row[1 + bit / 8]) >> (8 - depth - bit % 8) & mask
                line[column] =
                    colours == .palette ? table[sample] : transparent?[0] == sample ? 255 : UInt8(sample * top)
            }
            return
        }
        let wide = depth / 8
        let size = colours.channels * wide
        for column in line.indices {
            let at = 1 + column * size
            let first = Int(row[at])
            line[column] =
                switch colours {
                case .grey, .palette: UInt8(first)
                case .greyAlpha: Self.mixed(first, Int(row[at + wide]))
                case .redGreenBlue: UInt8(Self.luma(first, Int(row[at + wide]), Int(row[at + 2 * wide])))
                case .redGreenBlueAlpha:
                    Self.mixed(
                        Self.luma(first, Int(row[at + wide]), Int(row[at + 2 * wide])), Int(row[at + 3 * wide]))
                }
            if transparent != nil, isTransparent(row, at, wide) { line[column] = 255 }
        }
    }

    private func isTransparent(_ row: [UInt8], _ at: Int, _ wide: Int) -> Bool {
        guard let transparent else { return false }
        for (channel, sample) in transparent.enumerated() {
            let place = at + channel * wide
            guard (wide == 1 ? Int(row[place]) : Int(row[place]) << 8 | Int(row[place + 1])) == sample else {
                return false
            }
        }
        return true
    }
}
