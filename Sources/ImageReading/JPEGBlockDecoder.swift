/// Reads the blocks of one scan of a JPEG: ITU-T T.81, F.2 and G.1.
struct JPEGBlockDecoder {
    private let band: ClosedRange<Int>
    private let isFirst: Bool
    private let low: Int
    private let dc: [HuffmanTable]
    private let ac: [HuffmanTable]
    /// For each part of the scan, the first coefficient of its previous block.
    private var last: [Int]
    /// The number of further blocks that have nothing new.
    private var emptyBlocks = 0
    /// For each coefficient, the sum of the squares of its values, not yet multiplied by its quantisation.
    private(set) var squares = [Double](repeating: 0, count: 64)

    init(
        scan: JPEGScan, isProgressive: Bool, dcTables: [HuffmanTable?], acTables: [HuffmanTable?]
    ) throws(ImageError) {
        (band, isFirst, low) = (scan.band, scan.high == 0, scan.low)
        let needsDC = scan.band.lowerBound == 0 && isFirst
        let needsAC = scan.band.upperBound > 0
        let (dc, ac) = (
            scan.parts.compactMap { needsDC ? dcTables[$0.dc] : nil },
            scan.parts.compactMap { needsAC ? acTables[$0.ac] : nil }
        )
        guard dc.count == (needsDC ? scan.parts.count : 0), ac.count == (needsAC ? scan.parts.count : 0) else {
            throw .damaged("a Huffman table is missing")
        }
        (self.dc, self.ac) = (dc, ac)
        last = Array(repeating: 0, count: scan.parts.count)
    }

    /// Begins a restart interval.
    mutating func restart() throws(ImageError) {
        try finish()
        for index in last.indices { last[index] = 0 }
    }

    /// Ends the scan or a restart interval.
    func finish() throws(ImageError) {
        guard emptyBlocks == 0 else { throw .damaged("a run of empty blocks does not end with its scan") }
    }

    /// A block of a scan with all coefficients.
    mutating func baseline(
        _ part: Int, _ bits: inout JPEGBits, _ mean: inout Int16, counts: Bool, _ budget: inout WorkBudget
    ) throws(ImageError) {
        mean = try firstCoefficient(part, &bits)
        let table = ac[part]
        var coefficient = 1
        var symbols = 2
        while coefficient < 64 {
            let symbol = try bits.symbol(table)
            symbols += 1
            let (run, size) = (symbol >> 4, symbol & 15)
            if size == 0 {
                if run == 0 { break }
                guard run == 15 else { throw .damaged("a block has an unknown symbol") }
                coefficient += 16
                guard coefficient < 64 else { throw .damaged("a block has too many coefficients") }
                continue
            }
            coefficient += run
            guard coefficient < 64, size <= 10 else { throw .damaged("a block has too many coefficients") }
            let value = try bits.value(size)
            if counts { squares[coefficient] += Double(value &* value) }
            coefficient += 1
        }
        try budget.spend(symbols)
    }

    /// A block of a scan of a progressive JPEG.
    mutating func progressive(
        _ part: Int, _ bits: inout JPEGBits, _ mean: inout Int16, _ mask: inout UInt64, counts: Bool,
        _ budget: inout WorkBudget
    ) throws(ImageError) {
        try budget.spend(1)
        switch (band.lowerBound, isFirst) {
        case (0, true): mean = try firstCoefficient(part, &bits)
        case (0, false): mean |= Int16(try bits.number(1)) << Int16(low)
        case (_, true): try firstDetails(part, &bits, &mask, counts: counts, &budget)
        default: try moreOfDetails(part, &bits, &mask, counts: counts, &budget)
        }
    }

    private mutating func firstCoefficient(_ part: Int, _ bits: inout JPEGBits) throws(ImageError) -> Int16 {
        let size = try bits.symbol(dc[part])
        guard size <= 11 else { throw .damaged("the mean of a block is out of range") }
        last[part] += try bits.value(size)
        guard let value = Int16(exactly: last[part] << low) else {
            throw .damaged("the mean of a block is out of range")
        }
        return value
    }

    /// Counts a coefficient that appears with a magnitude, in units of the scan's lowest bit.
    @inline(__always) private mutating func count(_ coefficient: Int, _ magnitude: Int) {
        let value = Double(magnitude << low) + Double(1 << low - 1) / 2
        squares[coefficient] += value * value
    }

    private mutating func firstDetails(
        _ part: Int, _ bits: inout JPEGBits, _ mask: inout UInt64, counts: Bool, _ budget: inout WorkBudget
    ) throws(ImageError) {
        if emptyBlocks > 0 {
            emptyBlocks -= 1
            return
        }
        var coefficient = band.lowerBound
        while coefficient <= band.upperBound {
            let symbol = try bits.symbol(ac[part])
            try budget.spend(1)
            let (run, size) = (symbol >> 4, symbol & 15)
            if size == 0, run < 15 {
                emptyBlocks = 1 << run + (try bits.number(run)) - 1
                return
            }
            coefficient += run
            if size > 0 {
                guard coefficient <= band.upperBound, size <= 10 else {
                    throw .damaged("a block has too many coefficients")
                }
                let value = try bits.value(size)
                mask |= 1 << UInt64(coefficient)
                if counts { count(coefficient, abs(value)) }
            }
            coefficient += 1
        }
    }

    /// Reads one more bit of each coefficient that is not 0, and the coefficients that get their first bit here.
    private mutating func moreOfDetails(
        _ part: Int, _ bits: inout JPEGBits, _ mask: inout UInt64, counts: Bool, _ budget: inout WorkBudget
    ) throws(ImageError) {
        var coefficient = band.lowerBound
        if emptyBlocks == 0 {
            let table = ac[part]
            while coefficient <= band.upperBound {
                let symbol = try bits.symbol(table)
                try budget.spend(1)
                let (run, size) = (symbol >> 4, symbol & 15)
                if size == 0, run < 15 {
                    emptyBlocks = 1 << run + (try bits.number(run))
                    break
                }
                guard size <= 1 else { throw .damaged("a block has an unknown symbol") }
                try bits.skip(size)
                // The run counts coefficients that are 0. Each other coefficient on the way has one more bit.
                var zeros = run
                while coefficient <= band.upperBound {
                    if mask >> UInt64(coefficient) & 1 == 1 {
                        try bits.skip(1)
                    } else if zeros == 0 {
                        break
                    } else {
                        zeros -= 1
                    }
                    coefficient += 1
                }
                if size == 1 {
                    guard coefficient <= band.upperBound else { throw .damaged("a block has too many coefficients") }
                    mask |= 1 << UInt64(coefficient)
                    if counts { count(coefficient, 1) }
                }
                coefficient += 1
            }
        }
        guard emptyBlocks > 0 else { return }
        emptyBlocks -= 1
        guard coefficient <= band.upperBound else { return }
        let rest = mask >> UInt64(coefficient) & (UInt64.max >> UInt64(63 - (band.upperBound - coefficient)))
        try bits.skip(rest.nonzeroBitCount)
    }
}
