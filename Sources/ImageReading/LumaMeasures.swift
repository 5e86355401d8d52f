/// The measures of the luma of a picture.
///
/// An octave is a range of detail sizes. Octave 0 holds details of one to two pixels, and each further octave holds
/// details twice as large. Octaves 0 to 2 are inside squares of 8 by 8 pixels, so a reader sums them up while it reads.
/// The other octaves are measured in a picture with one sample for each square.
struct LumaMeasures {
    private(set) var brightness = 0.0
    private(set) var darkShare = 0.0
    private(set) var lightShare = 0.0
    private(set) var sharpness = 0.0

    /// - Parameters:
    ///   - eighth: the mean of each square, in eighths of a level: 0 to 2,040.
    ///   - width: the number of squares in a row.
    ///   - inner: the sums of squared deviations in octaves 0, 1 and 2, over all squares.
    ///   - shortSide: the number of pixels of the picture's shorter side.
    init(eighth: [Int16], width: Int, inner: [Double], shortSide: Int) {
        let count = Double(eighth.count)
        var (sum, dark, light) = (0, 0, 0)
        for value in eighth {
            sum += Int(value)
            if value <= 4 * 8 { dark += 1 }
            if value >= 251 * 8 { light += 1 }
        }
        (brightness, darkShare, lightShare) = (Double(sum) / 8 / count, Double(dark) / count, Double(light) / count)
        let octaves = inner.map { $0 / (64 * count) } + Self.outer(eighth, width: width)
        sharpness = Self.sharpness(octaves: octaves, shortSide: shortSide)
    }

    /// The mean squared deviation in each octave from 3 on, until the picture is less than 4 samples wide or high.
    private static func outer(_ eighth: [Int16], width: Int) -> [Double] {
        var (plane, width, height) = (eighth.map { Float($0) / 8 }, width, eighth.count / width)
        var octaves: [Double] = []
        while width >= 4, height >= 4 {
            let half = width / 2
            var means: [Float] = []
            means.reserveCapacity(half * (height / 2))
            var energy = 0.0
            for row in stride(from: 0, to: height - 1, by: 2) {
                for column in stride(from: 0, to: width - 1, by: 2) {
                    let at = row * width + column
                    let (a, b, c, d) = (plane[at], plane[at + 1], plane[at + width], plane[at + width + 1])
                    let mean = (a + b + c + d) / 4
                    means.append(mean)
                    let (e, f, g, h) = (a - mean, b - mean, c - mean, d - mean)
                    energy += Double(e * e + f * f + g * g + h * h)
                }
            }
            octaves.append(energy / Double(4 * means.count))
            (plane, width, height) = (means, half, height / 2)
        }
        return octaves
    }

    /// The shorter side at which sharpness is compared, in pixels. It is the smallest side that is good enough.
    private static let commonSide = 480.0

    /// The contrast of details of 2 to 4 pixels, divided by the contrast of details of 8 to 16 pixels, at the common
    /// side.
    static func sharpness(octaves: [Double], shortSide: Int) -> Double {
        let shift = max(0, Self.log2(Double(shortSide) / commonSide))
        func power(_ octave: Double) -> Double {
            let at = octave + shift
            let below = Int(at)
            guard below + 1 < octaves.count else { return octaves.last ?? 0 }
            let share = at - Double(below)
            return octaves[below] * (1 - share) + octaves[below + 1] * share
        }
        let coarse = power(3)
        // Less than a tenth of a level is noise of the arithmetic.
        return coarse < 0.01 ? 0 : (power(1) / coarse).squareRoot()
    }

    /// The logarithm to base 2, linear between powers of two; 0 for 1, and negative below.
    private static func log2(_ value: Double) -> Double { Double(value.exponent) + value.significand - 1 }
}
