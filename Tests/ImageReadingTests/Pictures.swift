import Foundation
import TestSupport
import Testing

@testable import ImageReading

/// A committed picture, and the brightness that an independent program sees in it: `Fixtures/pictures.py`.
struct Picture: Decodable, CustomTestStringConvertible {
    let name: String
    let brightness: Double
    private let bytes: Data

    var data: [UInt8] { [UInt8](bytes) }
    var testDescription: String { name }

    static let all: [Picture] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/pictures.json")
        return (try? JSONDecoder().decode([Picture].self, from: Data(contentsOf: file))) ?? []
    }()

    static func named(_ name: String) throws -> [UInt8] { try #require(all.first { $0.name == name }).data }
}

extension JPEGTools {
    /// The mean of the picture that djpeg makes at an eighth of the size.
    func brightness(_ jpeg: [UInt8]) throws -> Double {
        let picture = try run("djpeg", ["-scale", "1/8", "-grayscale"], on: jpeg)
        let header = picture.enumerated().filter { $0.element == 10 }.map(\.offset)[2] + 1
        return Double(picture[header...].reduce(0) { $0 + Int($1) }) / Double(picture.count - header)
    }
}

/// A drawn picture with details of all sizes, as a file of Netpbm that cjpeg reads.
struct Scene {
    var width: Int
    var height: Int
    var seed: Int
    /// How far a pixel is averaged to each side.
    var blur = 0
    /// What each level is multiplied with.
    var light = 1.0

    /// The levels, 0 to 255: rectangles of many sizes, one over the other. There are more of the smaller ones.
    func levels() -> [UInt8] {
        var random = Mutations(seed: seed)
        var plane = [Double](repeating: 120, count: width * height)
        for round in 0..<400 {
            let side = max(2, Double(min(width, height)) / (1 + Double(round) / 6))
            let (x, y) = (random.next(below: width), random.next(below: height))
            let (wide, high) = (Int(side) / 2 + 1, Int(side) * (1 + random.next(below: 2)) / 3 + 1)
            let level = Double(20 + random.next(below: 200))
            for row in y..<min(height, y + high) {
                for column in x..<min(width, x + wide) { plane[row * width + column] = level }
            }
        }
        for _ in 0..<(blur > 0 ? 2 : 0) {
            plane = averaged(plane, step: 1, length: width)
            plane = averaged(plane, step: width, length: height)
        }
        return plane.map { UInt8(max(0, min(255, $0 * light))) }
    }

    private func averaged(_ plane: [Double], step: Int, length: Int) -> [Double] {
        var (result, sums) = (plane, [Double](repeating: 0, count: length + 1))
        for line in 0..<plane.count / length {
            let start = step == 1 ? line * length : line
            for place in 0..<length { sums[place + 1] = sums[place] + plane[start + place * step] }
            for place in 0..<length {
                let (first, end) = (max(0, place - blur), min(length, place + blur + 1))
                result[start + place * step] = (sums[end] - sums[first]) / Double(end - first)
            }
        }
        return result
    }

    /// In grey.
    func pgm() -> [UInt8] { Array("P5 \(width) \(height) 255\n".utf8) + levels() }

    /// In colours.
    func ppm() -> [UInt8] {
        Array("P6 \(width) \(height) 255\n".utf8) + levels().flatMap { [$0, 255 - $0 / 2, $0 / 3 + 60] }
    }
}

/// Chance that is the same in each run.
struct Mutations {
    private var state: UInt64
    init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(truncatingIfNeeded: (state >> 11) % UInt64(limit))
    }
}

/// Parts of files.
enum Part {
    /// A segment of a JPEG.
    static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0xff, marker, UInt8((payload.count + 2) >> 8), UInt8((payload.count + 2) & 0xff)] + payload
    }

    static func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    /// A chunk of a PNG.
    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return number(data.count) + body + number(Int(CRC32.of(body[...])))
    }

    /// Exif as a phone writes it: a maker, an orientation and a place.
    static func exif(orientation: UInt8) -> [UInt8] {
        Array("II".utf8) + [42, 0, 8, 0, 0, 0, 3, 0]
            + [0x0f, 0x01, 2, 0, 9, 0, 0, 0, 50, 0, 0, 0] + [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]
            + [0x25, 0x88, 4, 0, 1, 0, 0, 0, 60, 0, 0, 0] + [0, 0, 0, 0] + Array("Secretco\0 GPS 59.3293 N secret".utf8)
    }

    /// A PNG from its chunks.
    static func png(_ chunks: [[UInt8]]) -> [UInt8] { PNGChunks.signature + chunks.joined() }

    /// The header of a PNG.
    static func header(_ width: Int, _ height: Int, depth: UInt8 = 8, colours: UInt8 = 0, adam7: UInt8 = 0) -> [UInt8] {
        chunk("IHDR", number(width) + number(height) + [depth, colours, 0, 0, adam7])
    }
}

extension [UInt8] {
    /// Puts bytes behind the first marker or the first chunk.
    func inserting(_ bytes: [UInt8]) -> [UInt8] {
        let place = ImageKind(of: self) == .jpeg ? 2 : 33
        return self[..<place] + bytes + self[place...]
    }

    /// Whether the bytes stand in it.
    func has(_ text: String) -> Bool {
        let sought = Array(text.utf8)
        return indices.contains { self[$0...].starts(with: sought) }
    }
}
