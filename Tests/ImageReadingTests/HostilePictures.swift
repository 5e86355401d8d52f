import TestSupport
import Testing

@testable import ImageReading

/// A picture that somebody made to do harm.
struct HostilePicture: CustomTestStringConvertible {
    let testDescription: String
    /// Whether there is a picture in it nevertheless.
    let isRead: Bool
    let make: @Sendable () throws -> [UInt8]

    private static func refused(_ name: String, _ make: @escaping @Sendable () throws -> [UInt8]) -> HostilePicture {
        HostilePicture(testDescription: name, isRead: false, make: make)
    }

    private static func read(_ name: String, _ make: @escaping @Sendable () throws -> [UInt8]) -> HostilePicture {
        HostilePicture(testDescription: name, isRead: true, make: make)
    }

    static let all = frames + tables + scans + tails + exif + headers + chunks + packed

    // MARK: JPEG

    /// A grey JPEG whose blocks are all empty: a frame, and a table in which the code 0 stands for the symbol.
    private static func empty(_ width: Int, _ height: Int, sof: UInt8 = 0xc2, symbol: UInt8 = 0) -> [UInt8] {
        [0xff, 0xd8] + Part.segment(0xdb, [UInt8](repeating: 1, count: 65).with(0, 0)) + frame(sof, width, height)
            + Part.segment(0xc4, [0, 1] + [UInt8](repeating: 0, count: 15) + [0])
            + Part.segment(0xc4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [symbol])
    }

    private static func frame(_ marker: UInt8, _ width: Int, _ height: Int, _ rest: [UInt8] = [1, 1, 0x11, 0])
        -> [UInt8]
    {
        Part.segment(
            marker, [8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)] + rest)
    }

    private static func scan(_ start: UInt8, _ end: UInt8, _ bits: UInt8, _ data: [UInt8]) -> [UInt8] {
        Part.segment(0xda, [1, 1, 0, start, end, bits]) + data
    }

    /// A scan of zeros with the means of a number of blocks, each of one bit.
    private static func means(_ blocks: Int, low: UInt8 = 0) -> [UInt8] {
        scan(0, 0, low, [UInt8](repeating: 0, count: (blocks + 7) / 8))
    }

    /// A run of empty blocks after the other: the code 0, and 14 bits of the length of the run.
    private static func runs(_ coefficient: UInt8, _ bits: UInt8, _ blocks: Int) -> [UInt8] {
        var (data, held, count, left): ([UInt8], Int, Int, Int) = ([], 0, 0, blocks)
        while left > 0 {
            // Eight lengths follow, so the runs end with blocks in whole numbers of 16,384.
            (held, count, left) = (held << 15, count + 15, left - 16_384)
            while count >= 8 {
                data.append(UInt8(held >> (count - 8) & 255))
                count -= 8
            }
        }
        if count > 0 { data.append(UInt8(held << (8 - count) & 255)) }
        return scan(coefficient, coefficient, bits, data)
    }

    /// Many scans of a large picture, each of a few bytes.
    private static func scanBomb(_ scans: Int) -> [UInt8] {
        // 16,384 blocks are 1,024 by 1,024 pixels.
        let (width, height) = (1_024 * Rounds.count(1, prove: 7), 1_024 * Rounds.count(2, prove: 5))
        let blocks = width * height / 64
        return empty(width, height, symbol: 0xe0) + means(blocks)
            + (1..<scans).flatMap { runs(UInt8($0 % 63 + 1), $0 < 64 ? 1 : 0x10, blocks) } + [0xff, 0xd9]
    }

    /// A committed picture, changed where some bytes stand first.
    private static func changed(_ name: String, _ sought: [UInt8], _ offset: Int, _ bytes: [UInt8]) throws -> [UInt8] {
        var picture = try Picture.named(name)
        guard let place = picture.indices.first(where: { picture[$0...].starts(with: sought) }) else { return [] }
        picture.replaceSubrange(place + offset..<place + offset + bytes.count, with: bytes)
        return picture
    }

    /// A committed picture without the segments of some markers.
    private static func without(_ marker: UInt8, _ name: String = "baseline") throws -> [UInt8] {
        let picture = try Picture.named(name)
        var (segments, result): (JPEGSegments, [UInt8]) = (.init(picture), [0xff, 0xd8])
        while true {
            let segment = try segments.next()
            if segment.marker == JPEGSegment.end { return result + [0xff, 0xd9] }
            if segment.marker != marker {
                result += Part.segment(segment.marker, Array(picture[segment.payload])) + picture[segment.scan]
            }
        }
    }

    private static let frames: [HostilePicture] = [
        refused("65,535 by 65,535") { empty(65_535, 65_535) + means(8) + [0xff, 0xd9] },
        refused("no width") { empty(0, 8) + means(8) + [0xff, 0xd9] },
        refused("no height, and none later") { empty(8, 0) + means(8) + [0xff, 0xd9] },
        refused("a height that follows") { empty(8, 0) + means(1) + Part.segment(0xdc, [0, 8]) + [0xff, 0xd9] },
        refused("no frame") { try without(0xc0) },
        refused("nothing at all") { [0xff, 0xd8, 0xff, 0xd9] },
        refused("two frames") { empty(8, 8) + frame(0xc2, 8, 8) + means(1) + [0xff, 0xd9] },
        refused("a frame without components") { [0xff, 0xd8] + frame(0xc0, 8, 8, [0]) + [0xff, 0xd9] },
        refused("255 components") {
            [0xff, 0xd8] + frame(0xc0, 8, 8, [255] + [UInt8](repeating: 1, count: 765)) + [0xff, 0xd9]
        },
        refused("a component twice") { try changed("baseline", [0xff, 0xc0], 13, [1]) },
        refused("a sampling of none") { try changed("baseline", [0xff, 0xc0], 11, [0]) },
        refused("a sampling of five") { try changed("baseline", [0xff, 0xc0], 11, [0x55]) },
        refused("a sampling of sixteen blocks in a unit") { try changed("baseline", [0xff, 0xc0], 11, [0x44]) },
        refused("12 bits") { try changed("baseline", [0xff, 0xc0], 4, [12]) },
        refused("a lossless frame") { try changed("baseline", [0xff, 0xc0], 1, [0xc3]) },
        refused("a differential frame") { try changed("baseline", [0xff, 0xc0], 1, [0xc5]) },
        refused("a baseline picture that says it is progressive") { try changed("baseline", [0xff, 0xc0], 1, [0xc2]) },
        refused("a progressive picture that says it is baseline") {
            try changed("progressive", [0xff, 0xc2], 1, [0xc0])
        },
    ]

    private static let tables: [HostilePicture] = [
        refused("no quantisation") { try without(0xdb) },
        refused("no Huffman table") { try without(0xc4) },
        refused("a quantisation table that does not exist") { try changed("baseline", [0xff, 0xc0], 12, [7]) },
        refused("a Huffman table with too many codes") {
            empty(8, 8) + Part.segment(0xc4, [0, 3] + [UInt8](repeating: 0, count: 15) + [0, 0, 0])
        },
        refused("a Huffman table that ends early") { empty(8, 8) + Part.segment(0xc4, [0, 0, 255]) },
        refused("a Huffman table of 4,080 codes") {
            empty(8, 8) + Part.segment(0xc4, [UInt8](repeating: 255, count: 4_097))
        },
        refused("hundreds of thousands of Huffman tables") {
            let table = [0] + [UInt8](repeating: 0, count: 15) + [1, 0]
            return empty(8, 8)
                + Array(
                    repeating: Part.segment(0xc4, Array(repeating: table, count: 3_600).flatMap(\.self)), count: 100
                )
                .flatMap(\.self) + means(1) + [0xff, 0xd9]
        },
        refused("a segment of no length") { [0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xd9] },
        refused("nothing but fill bytes") { [0xff, 0xd8] + [UInt8](repeating: 0xff, count: 1 << 20) },
        read("hundreds of thousands of empty comments") {
            try Picture.named("baseline").inserting(
                Array(repeating: [0xff, 0xfe, 0, 2], count: 300_000).flatMap(\.self))
        },
    ]

    private static let scans: [HostilePicture] = [
        read("a hundred scans of a large picture") { scanBomb(100) },
        refused("more than a hundred scans") { scanBomb(101) },
        refused("a scan before its frame") { [0xff, 0xd8] + means(1) + [0xff, 0xd9] },
        refused("no scan") { empty(8, 8) + [0xff, 0xd9] },
        refused("a scan twice") { empty(8, 8) + means(1) + means(1) + [0xff, 0xd9] },
        refused("details before means") { empty(8, 8, symbol: 0xe0) + runs(1, 0, 16_384) + [0xff, 0xd9] },
        refused("a run of empty blocks beyond the picture") {
            empty(8, 8, symbol: 0xe0) + means(1) + runs(1, 0, 16_384) + [0xff, 0xd9]
        },
        refused("a second bit before the first") { empty(8, 8) + means(1, low: 0x10) + [0xff, 0xd9] },
        refused("a shift of 14 bits") { empty(8, 8) + means(1, low: 14) + [0xff, 0xd9] },
        refused("coefficients from 5 to 3") { empty(8, 8) + means(1) + scan(5, 3, 0, [0]) + [0xff, 0xd9] },
        refused("coefficients up to 64") { empty(8, 8) + means(1) + scan(1, 64, 0, [0]) + [0xff, 0xd9] },
        refused("a component that does not exist") {
            empty(8, 8) + Part.segment(0xda, [1, 9, 0, 0, 0, 0]) + [0, 0xff, 0xd9]
        },
        refused("no data") { empty(8, 8) + scan(0, 0, 0, []) + [0xff, 0xd9] },
        refused("more data than blocks") { empty(8, 8) + scan(0, 0, 0, Array("\0secret".utf8)) + [0xff, 0xd9] },
        refused("a code that is not in the table") { empty(8, 8) + scan(0, 0, 0, [0xfe]) + [0xff, 0xd9] },
        refused("restart markers that are missing") { try changed("baseline", [0xff, 0xdd], 4, [0, 1]) },
        refused("restart markers in a wrong order") { try changed("baseline", [0xff, 0xd1], 1, [0xd2]) },
        refused("restart markers that nobody announced") { try without(0xdd) },
    ]

    private static let tails: [HostilePicture] = [
        refused("bytes between segments") { try Picture.named("baseline").inserting([0, 1, 2]) },
        refused("a start within") { try Picture.named("baseline").inserting([0xff, 0xd8]) },
        refused("a restart marker between segments") { try Picture.named("baseline").inserting([0xff, 0xd0]) },
        refused("no end") { try Picture.named("baseline").dropLast(2) },
        read("two ends") { try Picture.named("baseline") + [0xff, 0xd9] },
        read("an archive behind the end") { try Picture.named("baseline") + Array("PK\u{3}\u{4}".utf8) },
        read("a page with a script behind the end") { try Picture.named("progressive") + Array("<script>".utf8) },
        read("an archive behind the end of a PNG") {
            try Picture.named("png, colours 0, 8 bits") + Array("PK\u{3}\u{4}".utf8)
        },
    ]

    private static func tagged(_ tiff: [UInt8]) throws -> [UInt8] {
        try Picture.named("baseline").inserting(Part.segment(0xe1, Array("Exif\0\0".utf8) + tiff))
    }

    private static let exif: [HostilePicture] = [
        read("a directory of Exif that follows itself") {
            try tagged(
                Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 8])
        },
        read("a directory of Exif in its own header") { try tagged(Array("MM".utf8) + [0, 42, 0, 0, 0, 0]) },
        read("a directory of Exif far away") { try tagged(Array("II".utf8) + [42, 0, 255, 255, 255, 255]) },
        read("a directory of Exif with 65,535 entries") {
            try tagged(Array("II".utf8) + [42, 0, 8, 0, 0, 0, 255, 255, 0])
        },
        read("an orientation that does not exist") { try tagged(Part.exif(orientation: 9)) },
        read("empty Exif") { try tagged([]) },
    ]

    // MARK: PNG

    private static func png(_ chunks: [UInt8]...) -> [UInt8] { Part.png(chunks) }
    private static let end = Part.chunk("IEND", [])
    /// The picture of a pixel: a row of its filter and its level.
    private static let pixel: [UInt8] = [0x78, 0x01, 1, 2, 0, 0xfd, 0xff, 0, 7, 0, 9, 0, 8]
    private static let data = Part.chunk("IDAT", pixel)

    private static let headers: [HostilePicture] = [
        refused("a PNG of 2 billion pixels on a side") { png(Part.header(0x7fff_ffff, 0x7fff_ffff), data, end) },
        refused("a PNG of 65,536 pixels on a side") { png(Part.header(65_536, 1), data, end) },
        refused("a PNG without pixels") { png(Part.header(0, 1), data, end) },
        refused("a PNG of 3 bits") { png(Part.header(1, 1, depth: 3), data, end) },
        refused("a PNG of colour type 5") { png(Part.header(1, 1, colours: 5), data, end) },
        refused("a PNG of 16 bits with a palette") { png(Part.header(1, 1, depth: 16, colours: 3), data, end) },
        refused("a PNG without a header") { png(data, end) },
        refused("a PNG with two headers") { png(Part.header(1, 1), Part.header(1, 1), data, end) },
        refused("a PNG that only begins") { PNGChunks.signature },
    ]

    private static let chunks: [HostilePicture] = [
        read("a PNG of one pixel") { png(Part.header(1, 1), data, end) },
        refused("a wrong checksum") { png(Part.header(1, 1), data.with(data.count - 1, 0), end) },
        refused("a chunk of 4 GB") { png(Part.header(1, 1), [255, 255, 255, 255] + Array("IDAT".utf8), end) },
        refused("no picture") { png(Part.header(1, 1), end) },
        refused("no end of a PNG") { png(Part.header(1, 1), data) },
        refused("a picture in two places") {
            png(
                Part.header(1, 1), Part.chunk("IDAT", Array(pixel[..<4])), Part.chunk("tEXt", []),
                Part.chunk("IDAT", Array(pixel[4...])), end)
        },
        refused("a critical chunk that nobody knows") { png(Part.header(1, 1), Part.chunk("EVIL", []), data, end) },
        refused("no palette") { png(Part.header(1, 1, colours: 3), data, end) },
        refused("a palette of 257 colours") {
            png(Part.header(1, 1, colours: 3), Part.chunk("PLTE", [UInt8](repeating: 1, count: 771)), data, end)
        },
        read("a pixel beyond its palette") {
            png(Part.header(1, 1, colours: 3), Part.chunk("PLTE", [1, 2, 3]), data, end)
        },
        refused("more transparency than palette") {
            png(Part.header(1, 1, colours: 3), Part.chunk("PLTE", [1, 2, 3]), Part.chunk("tRNS", [1, 2]), data, end)
        },
        refused("a colour profile that unpacks to 4 MB") {
            png(Part.header(1, 1), Part.chunk("iCCP", Array("x\0\0".utf8) + Deflate.zeros(4_000_000)), data, end)
        },
        refused("a colour profile without a name") { png(Part.header(1, 1), Part.chunk("iCCP", []), data, end) },
        read("tens of thousands of empty texts") {
            let texts = Array(repeating: Part.chunk("tEXt", []), count: Rounds.count(20_000, prove: 600_000))
            return png(Part.header(1, 1), Array(texts.joined()), data, end)
        },
    ]

    private static func single(_ packed: [UInt8]) -> [UInt8] {
        png(Part.header(1, 1), Part.chunk("IDAT", packed), end)
    }

    private static let packed: [HostilePicture] = [
        refused("a picture of a pixel that unpacks to a gigabyte") {
            try Deflate.png(width: 1, height: 1, more: Rounds.count(1 << 22, prove: 1 << 30))
        },
        read("the largest grey picture") {
            try Deflate.png(width: Rounds.count(500, prove: 8_000), height: 5_000)
        },
        read("the largest picture of 8 bytes a pixel") {
            try Deflate.png(width: Rounds.count(200, prove: 4_000), height: 5_000, depth: 16, colours: 6)
        },
        refused("a wrong sum of what is unpacked") { single(pixel.with(12, 9)) },
        refused("bytes behind what is packed") { single(pixel + [1]) },
        refused("packed data that ends early") { single(Array(pixel[..<8])) },
        refused("an unknown filter") { single(pixel.with(7, 5).with(10, 14).with(12, 13)) },
        refused("a dictionary that is not sent") { single([0x78, 0x20] + pixel[2...]) },
        refused("a stored block of a wrong length") { single(pixel.with(5, 0)) },
        refused("a block without a kind") { single([0x78, 0x01, 7, 0, 0, 0, 0, 0]) },
        refused("a repetition of what was never there") { single([0x78, 0x01, 0x03, 0x02, 0, 0, 0, 0, 0]) },
        refused("hundreds of thousands of empty blocks") {
            single(
                [0x78, 0x01]
                    + Array(repeating: [0, 0, 0, 0xff, 0xff], count: Rounds.count(20_000, prove: 1_500_000)).joined())
        },
        refused("hundreds of thousands of tables") { single(Deflate.tables(Rounds.count(10_000, prove: 700_000))) },
        refused("a table of ones") { single([0x78, 0x01, 0x05] + [UInt8](repeating: 0xff, count: 60)) },
        refused("a table of zeros") { single([0x78, 0x01, 0x05] + [UInt8](repeating: 0, count: 60)) },
    ]
}

extension [UInt8] {
    /// The same with another byte at a place.
    func with(_ place: Int, _ byte: UInt8) -> [UInt8] {
        var copy = self
        copy[place] = byte
        return copy
    }
}
