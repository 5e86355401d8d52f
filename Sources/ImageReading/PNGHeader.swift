/// The first chunk of a PNG: its size, and how its pixels are stored.
struct PNGHeader {
    enum Colours: UInt8 {
        case grey = 0
        case redGreenBlue = 2
        case palette = 3
        case greyAlpha = 4
        case redGreenBlueAlpha = 6

        var channels: Int {
            switch self {
            case .grey, .palette: 1
            case .greyAlpha: 2
            case .redGreenBlue: 3
            case .redGreenBlueAlpha: 4
            }
        }
    }

    let width: Int
    let height: Int
    /// The number of bits of a sample.
    let depth: Int
    let colours: Colours
    let isInterlaced: Bool

    init(_ data: ArraySlice<UInt8>, limits: ImageLimits) throws(ImageError) {
        let bytes = Array(data)
        guard bytes.count == 13, let colours = Colours(rawValue: bytes[9]) else {
            throw .damaged("its header is wrong")
        }
        (width, height) = (
            bytes[..<4].reduce(0) { $0 << 8 | Int($1) }, bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }
        )
        (depth, self.colours, isInterlaced) = (Int(bytes[8]), colours, bytes[12] == 1)
        let depths: Set<Int> =
            switch colours {
            case .grey: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            default: [8, 16]
            }
        guard depths.contains(depth), bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else {
            throw .damaged("its header is wrong")
        }
        try limits.check(width: width, height: height)
    }

    /// The number of bits of a pixel.
    var pixelBits: Int { depth * colours.channels }

    /// The rows of one pass: the first pixel, the steps between pixels, and the numbers of columns and rows.
    struct Pass {
        var x: Int
        var y: Int
        var across: Int
        var down: Int
        var columns: Int
        var rows: Int
    }

    /// The passes with pixels: one, or up to seven of Adam7.
    var passes: [Pass] {
        let steps =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        return steps.compactMap { x, y, across, down in
            guard x < width, y < height else { return nil }
            return Pass(
                x: x, y: y, across: across, down: down, columns: (width - x + across - 1) / across,
                rows: (height - y + down - 1) / down)
        }
    }
}
