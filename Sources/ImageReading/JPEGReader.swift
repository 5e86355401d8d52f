/// Reads a JPEG to the end of its image: baseline, extended with 8 bits, or progressive, with Huffman codes.
///
/// It makes no picture. The first coefficient of a block (DC) is its mean. So the first coefficients of all blocks are
/// the picture at an eighth of its size. The squares of the other coefficients (AC) measure the details.
///
/// A progressive JPEG brings coefficients in several scans. Keeping them all would take 240 MB for 40 megapixels. The
/// reader keeps the mean of each block, and one bit for each coefficient that is not 0: 10 bytes a block. The number of
/// bits in a later scan depends on these bits. The reader counts a coefficient when it first appears. It uses the
/// middle of the values that later bits may give.
struct JPEGReader {
    private let bytes: [UInt8]
    private let limits: ImageLimits
    private var budget: WorkBudget

    private var frame: JPEGFrame?
    private var orientation: ImageOrientation?
    private var isJFIF = false
    /// The colour transform that Adobe's segment names.
    private var transform: UInt8?
    private var quantisations = [[UInt16]?](repeating: nil, count: 4)
    private var dcTables = [HuffmanTable?](repeating: nil, count: 4)
    private var acTables = [HuffmanTable?](repeating: nil, count: 4)
    private var restartInterval = 0
    private var scans = 0

    /// The quantisation of each component: the table at its first scan holds for all scans.
    private var steps: [[UInt16]] = []
    /// For each component and coefficient, the lowest bit that was read; -1 before its first scan.
    private var known: [[Int8]] = []
    /// For each block, the first coefficient.
    private var means: [Int16] = []
    /// For each block of a progressive JPEG, which other coefficients are not 0.
    private var masks: [UInt64] = []
    /// The squares of the first component's other coefficients, by octave.
    private var inner = [0.0, 0, 0]

    init(_ bytes: [UInt8], limits: ImageLimits, budget: WorkBudget) {
        (self.bytes, self.limits, self.budget) = (bytes, limits, budget)
    }

    mutating func read() throws(ImageError) -> ImageReport {
        var segments = JPEGSegments(bytes)
        while true {
            let segment = try segments.next()
            try budget.spend(1)
            let payload = bytes[segment.payload]
            switch segment.marker {
            case 0xc4: try readHuffmanTables(payload)
            case 0xc8, 0xf0...0xfd: throw .damaged("a marker is reserved")
            case 0xcc: throw .unsupported("arithmetic coding")
            case 0xc0...0xcf: try begin(segment.marker, payload)
            case 0xdb: try readQuantisations(payload)
            case 0xdc: throw .unsupported("a height that follows the picture (DNL)")
            case 0xdd:
                guard payload.count == 2 else { throw .damaged("a restart interval has a wrong length") }
                restartInterval = payload.reduce(0) { $0 << 8 | Int($1) }
            case 0xde, 0xdf: throw .unsupported("hierarchical JPEG")
            case 0xe0 where payload.starts(with: JPEGApplication.jfif) && payload.count >= 14: isJFIF = true
            case 0xe1 where payload.starts(with: JPEGApplication.exif) && orientation == nil:
                orientation = ImageOrientation(exif: payload.dropFirst(JPEGApplication.exif.count)) ?? .up
            case 0xee where payload.starts(with: JPEGApplication.adobe) && payload.count >= 12:
                transform = payload[payload.startIndex + 11]
            case JPEGSegment.scanHeader: try readScan(segment)
            case JPEGSegment.end: return try report()
            default: break
            }
        }
    }

    private mutating func begin(_ marker: UInt8, _ payload: ArraySlice<UInt8>) throws(ImageError) {
        guard self.frame == nil else { throw .damaged("it has two frames") }
        let frame = try JPEGFrame(marker: marker, payload, limits: limits)
        self.frame = frame
        means = [Int16](repeating: 0, count: frame.blocks)
        if frame.isProgressive { masks = [UInt64](repeating: 0, count: frame.blocks) }
        steps = Array(repeating: [], count: frame.components.count)
        known = Array(repeating: Array(repeating: -1, count: 64), count: frame.components.count)
    }

    private mutating func readHuffmanTables(_ payload: ArraySlice<UInt8>) throws(ImageError) {
        var rest = payload
        while let head = rest.popFirst() {
            let counts = rest.prefix(16)
            let total = counts.reduce(0) { $0 + Int($1) }
            guard head & 0xec == 0, counts.count == 16, total <= 256, rest.count >= 16 + total else {
                throw .damaged("a Huffman table has a wrong length")
            }
            try budget.spend(1_000)
            let table = try HuffmanTable(counts: counts, symbols: rest.dropFirst(16).prefix(total))
            if head < 0x10 { dcTables[Int(head)] = table } else { acTables[Int(head & 15)] = table }
            rest = rest.dropFirst(16 + total)
        }
    }

    private mutating func readQuantisations(_ payload: ArraySlice<UInt8>) throws(ImageError) {
        var rest = payload
        while let head = rest.popFirst() {
            let width = 1 + Int(head >> 4)
            guard head & 0xec == 0, rest.count >= 64 * width else {
                throw .damaged("a quantisation table has a wrong length")
            }
            try budget.spend(100)
            let values = Array(rest.prefix(64 * width))
            quantisations[Int(head & 15)] = (0..<64).map { index in
                values[index * width..<(index + 1) * width].reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
            }
            rest = rest.dropFirst(64 * width)
        }
    }

    private mutating func readScan(_ segment: JPEGSegment) throws(ImageError) {
        guard let frame else { throw .damaged("a scan comes before its frame") }
        scans += 1
        guard scans <= limits.scans else { throw .tooManyScans(limit: limits.scans) }
        let scan = try JPEGScan(bytes[segment.payload], of: frame)
        for part in scan.parts { try note(scan, part.component, frame) }
        var bits = JPEGBits(bytes, segment.scan)
        var decoder = try JPEGBlockDecoder(
            scan: scan, isProgressive: frame.isProgressive, dcTables: dcTables, acTables: acTables)
        let unit = scan.unit(of: frame)
        let (wide, high) = scan.parts.count == 1 ? frame.components[scan.parts[0].component].blocks : frame.units
        let isProgressive = frame.isProgressive
        var untilRestart = restartInterval
        var restarts = 0
        // Use spans of local arrays. Each access to an array of the reader itself would check whether the array is
        // shared.
        var (meansOfAll, masksOfAll) = (self.means, self.masks)
        (self.means, self.masks) = ([], [])
        var means = meansOfAll.mutableSpan
        var masks = masksOfAll.mutableSpan
        for row in 0..<high {
            for column in 0..<wide {
                if restartInterval > 0 {
                    if untilRestart == 0 {
                        try bits.restart(restarts)
                        try decoder.restart()
                        (restarts, untilRestart) = (restarts + 1, restartInterval)
                    }
                    untilRestart -= 1
                }
                for place in unit {
                    let (x, y) = (column * place.across + place.x, row * place.down + place.y)
                    let block = place.first + y * place.stride + x
                    let counts = x < place.wide && y < place.high
                    if isProgressive {
                        try decoder.progressive(
                            place.part, &bits, &means[block], &masks[block], counts: counts, &budget)
                    } else {
                        try decoder.baseline(place.part, &bits, &means[block], counts: counts, &budget)
                    }
                }
            }
        }
        (self.means, self.masks) = (meansOfAll, masksOfAll)
        try decoder.finish()
        try bits.finish()
        for (coefficient, square) in decoder.squares.enumerated() where square > 0 {
            let step = Double(steps[0][coefficient])
            inner[JPEGZigzag.octaves[coefficient]] += square * step * step
        }
    }

    /// Checks that a scan has the next bits of a component, and that the component has a quantisation table.
    private mutating func note(_ scan: JPEGScan, _ component: Int, _ frame: JPEGFrame) throws(ImageError) {
        if steps[component].isEmpty {
            guard let table = quantisations[frame.components[component].quantisation] else {
                throw .damaged("a quantisation table is missing")
            }
            steps[component] = table
        }
        guard scan.band.lowerBound == 0 || known[component][0] >= 0 else {
            throw .damaged("details of a block come before its mean")
        }
        for coefficient in scan.band {
            guard known[component][coefficient] == (scan.high == 0 ? -1 : Int8(scan.high)) else {
                throw .damaged("scans bring a coefficient in a wrong order")
            }
            known[component][coefficient] = Int8(scan.low)
        }
    }

    private func report() throws(ImageError) -> ImageReport {
        guard let frame else { throw .damaged("it has no frame") }
        guard known.allSatisfy({ $0[0] >= 0 }) else { throw .damaged("a colour component is missing") }
        let luma = frame.components[0].blocks
        let measures = LumaMeasures(
            eighth: eighth(frame), width: luma.wide, inner: inner,
            shortSide: min(
                frame.width * frame.components[0].horizontal / frame.horizontal,
                frame.height * frame.components[0].vertical / frame.vertical))
        return ImageReport(
            kind: .jpeg, width: frame.width, height: frame.height, orientation: orientation ?? .up, luma: measures)
    }

    /// The luma of each block of the first component, in eighths of a level.
    private func eighth(_ frame: JPEGFrame) -> [Int16] {
        let (wide, high) = frame.components[0].blocks
        var result: [Int16] = []
        result.reserveCapacity(wide * high)
        /// The level of a component at a block of the first component.
        func level(_ index: Int, _ x: Int, _ y: Int) -> Int {
            let (component, first) = (frame.components[index], frame.components[0])
            let column = min(x * component.horizontal / first.horizontal, component.blocks.wide - 1)
            let row = min(y * component.vertical / first.vertical, component.blocks.high - 1)
            let mean = Int(means[component.first + row * component.stride + column])
            return max(0, min(2_040, mean * Int(steps[index][0]) + 1_024))
        }
        let colours = colours(frame)
        for y in 0..<high {
            for x in 0..<wide {
                let first = level(0, x, y)
                let luma =
                    switch colours {
                    case .luma: first
                    case .redGreenBlue: (299 * first + 587 * level(1, x, y) + 114 * level(2, x, y)) / 1_000
                    // Programs store the complement of the inks, so a greater value is lighter.
                    case .inks:
                        (299 * first + 587 * level(1, x, y) + 114 * level(2, x, y)) / 1_000 * level(3, x, y) / 2_040
                    case .lumaAndBlack: (2_040 - first) * level(3, x, y) / 2_040
                    }
                result.append(Int16(luma))
            }
        }
        return result
    }

    private enum Colours { case luma, redGreenBlue, inks, lumaAndBlack }

    /// The colours of the components, by libjpeg's rules.
    private func colours(_ frame: JPEGFrame) -> Colours {
        switch frame.components.count {
        case 3:
            let isNamed = frame.components.map(\.id) == Array("RGB".utf8)
            return !isJFIF && (transform == 0 || transform == nil && isNamed) ? .redGreenBlue : .luma
        case 4: return transform == 2 ? .lumaAndBlack : .inks
        default: return .luma
        }
    }
}

/// The order in which the coefficients of a block are stored.
enum JPEGZigzag {
    /// The octave of each coefficient: whether its wave is 2, 4 or 8 samples long in its shortest direction.
    static let octaves: [Int] = {
        var octaves: [Int] = []
        for diagonal in 0..<15 {
            for step in max(0, diagonal - 7)...min(7, diagonal) {
                let shortest = max(step, diagonal - step)
                octaves.append(shortest >= 4 ? 0 : shortest >= 2 ? 1 : 2)
            }
        }
        return octaves
    }()
}
