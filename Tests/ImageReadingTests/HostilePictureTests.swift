import Foundation
import TestSupport
import Testing

@testable import ImageReading

@Suite("hostile pictures") struct HostilePictureTests {
    @Test func thereAreMoreThanSixty() { #expect(HostilePicture.all.count >= 60) }

    @Test("it ends in 2 s and in 64 MiB, with an error or a picture", .bounded, arguments: HostilePicture.all)
    func ends(picture: HostilePicture) throws {
        let bytes = try picture.make()
        try #require(bytes.count <= ImageLimits.standard.bytes)
        try PeakMemory.forget()
        let (memory, start) = (try PeakMemory.read(), ContinuousClock.now)
        let report = Result { try ImageReader.read(bytes) }
        let (took, more) = (ContinuousClock.now - start, try PeakMemory.read() - memory)
        #expect(took < .seconds(2), .time)
        #expect(more <= 64 << 20)
        if Rounds.areMany { print("hostile: \(took), \(more >> 20) MiB: \(picture)") }
        switch report {
        case .success(let report):
            #expect(picture.isRead, "\(report)")
            #expect(try ImageReader.read(ImageStripper.strip(bytes)) == report)
        case .failure(let error):
            #expect(!picture.isRead, "\(error)")
            #expect(error is ImageError)
            // Stripping looks at less, and must end as well.
            _ = try? ImageStripper.strip(bytes)
        }
    }

    @Test(
        "a picture that is cut anywhere is refused",
        arguments: ["baseline", "progressive", "png, colours 6, 16 bits, Adam7"])
    func cut(name: String) throws {
        let picture = try Picture.named(name)
        for count in picture.indices {
            #expect(throws: ImageError.self, "\(count) bytes") { try ImageReader.read(Array(picture[..<count])) }
        }
    }

    /// Pictures of which some bytes are others, missing, or twice there.
    @Test func mutationsEnd() throws {
        let pictures = Picture.all.filter { !$0.name.contains("png") || $0.name.contains("16 bits") }.map(\.data)
        let limits = ImageLimits(pixels: 100_000, work: 1_000_000)
        var random = Mutations(seed: 5)
        for _ in 0..<Rounds.count(2_000, prove: 100_000) {
            var bytes = pictures[random.next(below: pictures.count)]
            for _ in 0...random.next(below: 4) {
                let place = random.next(below: bytes.count)
                switch random.next(below: 4) {
                case 0: bytes[place] = UInt8(random.next(below: 256))
                case 1: bytes[place] ^= 1 << UInt8(random.next(below: 8))
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.next(below: 30)))
                default:
                    bytes.insert(
                        contentsOf: bytes[place..<min(bytes.count, place + 1 + random.next(below: 30))], at: place)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            if ImageKind(of: bytes) == .png { bytes = Self.withChecksums(bytes) }
            guard let report = try? ImageReader.read(bytes, limits: limits) else { continue }
            #expect(try ImageReader.read(ImageStripper.strip(bytes), limits: limits) == report)
        }
    }

    /// Mends the checksums of a PNG, so that what lies behind them is reached.
    private static func withChecksums(_ picture: [UInt8]) -> [UInt8] {
        var (bytes, place) = (picture, PNGChunks.signature.count)
        while place + 12 <= bytes.count {
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            guard place + 12 + length <= bytes.count else { break }
            let end = place + 8 + length
            bytes.replaceSubrange(end..<end + 4, with: Part.number(Int(CRC32.of(bytes[place + 4..<end]))))
            place = end + 4
        }
        return bytes
    }
}
