/// Reads a PNG to its end: every checksum, and every pixel of every colour type and depth.
///
/// It keeps one byte a pixel, the luma, since an interlaced picture stores the pixels of a square in seven passes.
struct PNGReader {
    private let bytes: [UInt8]
    private let limits: ImageLimits
    private var budget: WorkBudget
    private var luma: [UInt8] = []
    /// The sums of squared deviations in octaves 0 to 2.
    private var inner = [0.0, 0, 0]

    init(_ bytes: [UInt8], limits: ImageLimits, budget: WorkBudget) {
        (self.bytes, self.limits, self.budget) = (bytes, limits, budget)
    }

    mutating func read() throws(ImageError) -> ImageReport {
        var chunks = PNGChunks(bytes)
        let header = try PNGHeader(bytes[try chunks.next().data], limits: limits)
        var palette: [UInt8] = []
        var transparency: ArraySlice<UInt8>?
        var orientation = ImageOrientation.up
        var packed: [UInt8] = []
        reading: while true {
            try budget.spend(10)
            let chunk = try chunks.next()
            let data = bytes[chunk.data]
            switch chunk.type {
            case "PLTE": palette = Array(data)
            case "tRNS": transparency = data
            case "eXIf": orientation = ImageOrientation(exif: data) ?? .up
            case "IDAT": packed += data
            case "IEND": break reading
            default: break
            }
        }
        let lumaOf = try PNGLuma(header, palette: palette, transparency: transparency)
        var inflate = try Inflate(packed)
        packed = []
        luma = [UInt8](repeating: 0, count: header.width * header.height)
        for pass in header.passes { try readPass(pass, header, lumaOf, &inflate) }
        try inflate.finish(&budget)
        let eighth = eighth(header)
        let measures = LumaMeasures(
            eighth: eighth, width: (header.width + 7) / 8, inner: inner, shortSide: min(header.width, header.height))
        return ImageReport(
            kind: .png, width: header.width, height: header.height, orientation: orientation, luma: measures)
    }

    private mutating func readPass(
        _ pass: PNGHeader.Pass, _ header: PNGHeader, _ lumaOf: PNGLuma, _ inflate: inout Inflate
    ) throws(ImageError) {
        let count = (pass.columns * header.pixelBits + 7) / 8
        let pixel = max(1, header.pixelBits / 8)
        // The first byte of a row names its filter.
        var row = [UInt8](repeating: 0, count: count + 1)
        var above = row
        var line = [UInt8](repeating: 0, count: pass.columns)
        for index in 0..<pass.rows {
            try budget.spend(4 + count / 2 + pass.columns / 4)
            guard try inflate.fill(&row, upTo: count + 1, &budget) == count + 1 else { throw .truncated }
            try Self.unfilter(&row, above, pixel: pixel)
            var place = (pass.y + index * pass.down) * header.width + pass.x
            lumaOf.write(row, to: &line)
            var plane = luma.mutableSpan
            for value in line {
                plane[place] = value
                place += pass.across
            }
            swap(&row, &above)
        }
    }

    /// Undoes the filter of a row: RFC 2083, 6.
    private static func unfilter(_ row: inout [UInt8], _ above: [UInt8], pixel: Int) throws(ImageError) {
        let count = row.count
        let filter = row[0]
        var row = row.mutableSpan
        switch filter {
        case 0: break
        case 1: for at in 1..<count where at > pixel { row[at] &+= row[at - pixel] }
        case 2: for at in 1..<count { row[at] &+= above[at] }
        case 3:
            for at in 1..<count {
                row[at] &+= UInt8((Int(at > pixel ? row[at - pixel] : 0) + Int(above[at])) / 2)
            }
        case 4:
            for at in 1..<min(count, pixel + 1) { row[at] &+= above[at] }
            for at in stride(from: pixel + 1, to: count, by: 1) {
                let (left, corner, up) = (Int(row[at - pixel]), Int(above[at - pixel]), Int(above[at]))
                let (toLeft, toUp, toCorner) = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
                let nearest = toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner
                row[at] &+= UInt8(truncatingIfNeeded: nearest)
            }
        default: throw .damaged("a row has an unknown filter")
        }
    }

    /// The mean of each square, in eighths of a level. Whole squares also give the details inside them.
    private mutating func eighth(_ header: PNGHeader) -> [Int16] {
        let (width, height) = (header.width, header.height)
        var result: [Int16] = []
        result.reserveCapacity(((width + 7) / 8) * ((height + 7) / 8))
        for top in stride(from: 0, to: height, by: 8) {
            for left in stride(from: 0, to: width, by: 8) {
                let (wide, high) = (min(8, width - left), min(8, height - top))
                var sum = 0
                for y in top..<top + high {
                    for at in y * width + left..<y * width + left + wide { sum += Int(luma[at]) }
                }
                result.append(Int16(8 * sum / (wide * high)))
                if wide == 8, high == 8 { addDetails(top * width + left, width, sum) }
            }
        }
        return result
    }

    /// Adds the details of a square to the octaves. The squared deviation of a sum of n pixels counts as one n-th.
    private mutating func addDetails(_ start: Int, _ width: Int, _ sum: Int) {
        // The sums of squares of pixels, and of sums of 2 by 2 and 4 by 4 pixels.
        var squares = (0, 0, 0)
        for y in stride(from: 0, to: 8, by: 4) {
            for x in stride(from: 0, to: 8, by: 4) {
                var quarter = 0
                for (down, across) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
                    let at = start + (y + down) * width + x + across
                    let (a, b, c, d) = (
                        Int(luma[at]), Int(luma[at + 1]), Int(luma[at + width]), Int(luma[at + width + 1])
                    )
                    squares.0 += a * a + b * b + c * c + d * d
                    squares.1 += (a + b + c + d) * (a + b + c + d)
                    quarter += a + b + c + d
                }
                squares.2 += quarter * quarter
            }
        }
        let (pixels, pairs, quarters) = (Double(squares.0), Double(squares.1) / 4, Double(squares.2) / 16)
        inner[0] += pixels - pairs
        inner[1] += pairs - quarters
        inner[2] += quarters - Double(sum * sum) / 64
    }
}
