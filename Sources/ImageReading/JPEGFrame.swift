/// The size and the components of a JPEG: its SOF segment.
struct JPEGFrame {
    struct Component {
        var id: UInt8
        /// The number of its samples, from left to right, for every `JPEGFrame.horizontal` samples of the finest
        /// component.
        var horizontal: Int
        var vertical: Int
        var quantisation: Int
        /// The numbers of blocks with samples of the picture, in a row and in a column.
        var blocks: (wide: Int, high: Int) = (0, 0)
        /// The number of stored blocks in a row. They fill whole units of a scan with several components.
        var stride = 0
        /// The place of its first block among those of all components.
        var first = 0
    }

    let width: Int
    let height: Int
    let isProgressive: Bool
    private(set) var components: [Component] = []
    private(set) var horizontal = 1
    private(set) var vertical = 1
    /// The numbers of units in a scan with several components.
    private(set) var units: (wide: Int, high: Int) = (0, 0)
    /// The number of blocks of all components.
    private(set) var blocks = 0

    init(marker: UInt8, _ payload: ArraySlice<UInt8>, limits: ImageLimits) throws(ImageError) {
        switch marker {
        case 0xc0, 0xc1, 0xc2: isProgressive = marker == 0xc2
        case 0xc3: throw .unsupported("lossless JPEG")
        case 0xc9...0xcb: throw .unsupported("arithmetic coding")
        default: throw .unsupported("hierarchical JPEG")
        }
        let bytes = Array(payload)
        guard bytes.count >= 6, bytes.count == 6 + 3 * Int(bytes[5]) else {
            throw .damaged("its frame has a wrong length")
        }
        guard bytes[0] == 8 else { throw .unsupported("samples of other than 8 bits") }
        (height, width) = (Int(bytes[1]) << 8 | Int(bytes[2]), Int(bytes[3]) << 8 | Int(bytes[4]))
        if height == 0, width > 0 { throw .unsupported("a height that follows the picture (DNL)") }
        try limits.check(width: width, height: height)
        guard [1, 3, 4].contains(bytes[5]) else { throw .unsupported("other than 1, 3 or 4 colour components") }
        for at in stride(from: 6, to: bytes.count, by: 3) {
            let component = Component(
                id: bytes[at], horizontal: Int(bytes[at + 1] >> 4), vertical: Int(bytes[at + 1] & 15),
                quantisation: Int(bytes[at + 2]))
            guard 1...4 ~= component.horizontal, 1...4 ~= component.vertical, component.quantisation < 4,
                !components.contains(where: { $0.id == component.id })
            else { throw .damaged("a colour component is not described well") }
            components.append(component)
        }
        horizontal = components.map(\.horizontal).max() ?? 1
        vertical = components.map(\.vertical).max() ?? 1
        layOut()
    }

    private mutating func layOut() {
        func ceiling(_ value: Int, _ divisor: Int) -> Int { (value + divisor - 1) / divisor }
        units = (ceiling(width, 8 * horizontal), ceiling(height, 8 * vertical))
        for index in components.indices {
            let (across, down) = (components[index].horizontal, components[index].vertical)
            components[index].blocks = (
                ceiling(ceiling(width * across, horizontal), 8), ceiling(ceiling(height * down, vertical), 8)
            )
            components[index].stride = units.wide * across
            components[index].first = blocks
            blocks += units.wide * across * units.high * down
        }
    }
}

/// The content of one scan of a JPEG: its SOS segment.
struct JPEGScan {
    /// Indices of components, with the Huffman tables for their first and their other coefficients.
    private(set) var parts: [(component: Int, dc: Int, ac: Int)] = []
    /// The coefficients, in zigzag order.
    let band: ClosedRange<Int>
    /// The lowest bit in an earlier scan, or 0 if there was none.
    let high: Int
    /// The lowest bit in this scan.
    let low: Int

    init(_ payload: ArraySlice<UInt8>, of frame: JPEGFrame) throws(ImageError) {
        let bytes = Array(payload)
        guard let count = bytes.first.map(Int.init), 1...4 ~= count, bytes.count == 4 + 2 * count else {
            throw .damaged("a scan has a header of a wrong length")
        }
        let (start, end) = (Int(bytes[1 + 2 * count]), Int(bytes[2 + 2 * count]))
        (high, low) = (Int(bytes[3 + 2 * count] >> 4), Int(bytes[3 + 2 * count] & 15))
        let isValid =
            frame.isProgressive
            ? (start == 0 ? end == 0 : start <= end && end < 64 && count == 1) && low <= 13
                && (high == 0 || high == low + 1)
            : start == 0 && end == 63 && high == 0 && low == 0
        guard isValid else { throw .damaged("a scan has a wrong range of coefficients") }
        band = start...end
        for at in stride(from: 1, to: 1 + 2 * count, by: 2) {
            guard let component = frame.components.firstIndex(where: { $0.id == bytes[at] }), bytes[at + 1] & 0xcc == 0,
                parts.last.map({ $0.component < component }) ?? true
            else { throw .damaged("a scan names a wrong component") }
            parts.append((component, Int(bytes[at + 1] >> 4), Int(bytes[at + 1] & 15)))
        }
        let blocks = parts.reduce(0) {
            $0 + frame.components[$1.component].horizontal * frame.components[$1.component].vertical
        }
        guard count == 1 || blocks <= 10 else { throw .damaged("a scan has too many blocks in a unit") }
    }

    /// Where a block of a unit is.
    struct Place {
        /// Its part of the scan.
        var part: Int
        /// The place of the component's first block, and the number of stored blocks in a row.
        var first: Int
        var stride: Int
        /// The numbers of the component's blocks in a unit.
        var across: Int
        var down: Int
        /// The place of this block among them.
        var x: Int
        var y: Int
        /// The numbers of blocks whose details count. Blocks that only fill up a unit are read, but do not count.
        var wide: Int
        var high: Int
    }

    /// The blocks of a unit in their order. A scan of one component has units of one block.
    func unit(of frame: JPEGFrame) -> [Place] {
        parts.enumerated().flatMap { index, part in
            let component = frame.components[part.component]
            let (across, down) = parts.count == 1 ? (1, 1) : (component.horizontal, component.vertical)
            let (wide, high) = part.component == 0 ? component.blocks : (0, 0)
            return (0..<across * down).map { place in
                Place(
                    part: index, first: component.first, stride: component.stride, across: across, down: down,
                    x: place % across, y: place / across, wide: wide, high: high)
            }
        }
    }
}
