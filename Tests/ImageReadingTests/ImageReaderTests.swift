import Foundation
import TestSupport
import Testing

@testable import ImageReading

@Suite("reading pictures") struct ImageReaderTests {
    @Test func thereAreFixturesOfAllKinds() { #expect(Picture.all.count == 58) }

    @Test("brightness agrees with an independent program", arguments: Picture.all)
    func brightness(picture: Picture) throws {
        guard picture.name != "arithmetic" else {
            #expect(throws: ImageError.unsupported("arithmetic coding")) { try ImageReader.read(picture.data) }
            return
        }
        let report = try ImageReader.read(picture.data)
        #expect(abs(report.brightness - picture.brightness) <= 0.5, "\(report)")
        #expect(try ImageReader.read(ImageStripper.strip(picture.data)) == report)
    }

    @Test func djpegSeesTheSameBrightness() throws {
        let (tools, samplings) = (JPEGTools(), ["1x1", "2x1", "1x2", "2x2", "4x1", "4x2", "1x1,2x2,1x1"])
        for seed in 0..<Rounds.count(21, prove: 210) {
            var random = Mutations(seed: seed + 1)
            let scene = Scene(width: 1 + random.next(below: 150), height: 1 + random.next(below: 120), seed: seed)
            var options = ["-quality", "\(5 + random.next(below: 95))"]
            if seed % 5 == 1 { options += ["-restart", ["1", "3B", "17B"][seed % 3]] }
            if seed % 4 >= 2 { options += ["-progressive"] }
            if seed % 9 == 3 { options += ["-optimize"] }
            let isGrey = seed % 6 == 0
            if seed % 11 == 5, !isGrey {
                options += ["-rgb"]
            } else {
                options += ["-sample", samplings[seed % samplings.count]]
            }
            let jpeg = try tools.run("cjpeg", options, on: isGrey ? scene.pgm() : scene.ppm())
            let report = try ImageReader.read(jpeg)
            #expect((report.width, report.height) == (scene.width, scene.height))
            #expect(abs(report.brightness - (try tools.brightness(jpeg))) <= 1, "\(options) \(scene)")
            let stripped = try ImageStripper.strip(jpeg)
            #expect(try tools.run("djpeg", [], on: stripped) == tools.run("djpeg", [], on: jpeg))
        }
    }

    @Test(arguments: [[], ["-progressive"], ["-quality", "95"]])
    func djpegSeesTheSameDarkAndLightSquares(options: [String]) throws {
        let (tools, width, height) = (JPEGTools(), 160, 120)
        // A quarter is black, a fifth is white, and every level lies between them.
        let levels = (0..<width * height).map { UInt8(max(0, min(255, ($0 % width - 40) * 255 / 88))) }
        let jpeg = try tools.run("cjpeg", options, on: Array("P5 \(width) \(height) 255\n".utf8) + levels)
        let seen = try tools.run("djpeg", [], on: jpeg).suffix(width * height)
        var sums = [Int](repeating: 0, count: width / 8 * height / 8)
        for (place, level) in seen.enumerated() {
            sums[place / width / 8 * (width / 8) + place % width / 8] += Int(level)
        }
        let report = try ImageReader.read(jpeg)
        let squares = Double(sums.count)
        #expect(report.darkShare == Double(sums.count { $0 <= 4 * 64 }) / squares)
        #expect(report.lightShare == Double(sums.count { $0 >= 251 * 64 }) / squares)
        #expect(report.darkShare > 0.2 && report.lightShare > 0.15)
    }

    @Test func aProgressivePictureIsAsSharpAsTheSameBaselineOne() throws {
        let (tools, scene) = (JPEGTools(), Scene(width: 300, height: 260, seed: 3).pgm())
        let baseline = try tools.run("cjpeg", ["-quality", "90"], on: scene)
        let progressive = try tools.run("jpegtran", ["-progressive"], on: baseline)
        let (first, second) = (try ImageReader.read(baseline), try ImageReader.read(progressive))
        #expect(first.brightness == second.brightness)
        #expect(abs(first.sharpness / second.sharpness - 1) < 0.02)
    }

    @Test(
        "files of other kinds are refused by name",
        arguments: [
            (ImageKind.heic, "\0\0\0\u{18}ftypheic\0\0\0\0mif1"), (.heic, "\0\0\0\u{18}ftypmif1\0\0\0\0miafheic"),
            (.avif, "\0\0\0\u{18}ftypavif\0\0\0\0mif1"), (.gif, "GIF89a"), (.webp, "RIFF\0\0\0\0WEBPVP8 "),
            (.other, "\0\0\0\u{18}ftypisom\0\0\0\0mp42"), (.other, "<svg/>"), (.other, ""), (.other, "%PDF-1.7"),
        ])
    func kinds(kind: ImageKind, start: String) {
        #expect(ImageKind(of: Array(start.utf8)) == kind)
        #expect(throws: ImageError.unsupportedKind(kind)) { try ImageReader.read(Array(start.utf8)) }
        #expect(throws: ImageError.unsupportedKind(kind)) { try ImageStripper.strip(Array(start.utf8)) }
        #expect(ImageError.unsupportedKind(kind).description.contains("Send a JPEG or a PNG."))
    }

    @Test("width and height are those of the upright picture", arguments: ImageOrientation.allCases)
    func orientation(_ orientation: ImageOrientation) throws {
        let exif = Part.exif(orientation: orientation.rawValue)
        let jpeg = try Picture.named("baseline").inserting(Part.segment(0xe1, Array("Exif\0\0".utf8) + exif))
        let png = try Picture.named("png, colours 2, 8 bits").inserting(Part.chunk("eXIf", exif))
        for (bytes, width, height) in [(jpeg, 61, 45), (png, 21, 14)] {
            let report = try ImageReader.read(bytes)
            #expect(report.orientation == orientation)
            #expect((report.width, report.height) == (orientation.rawValue >= 5 ? (height, width) : (width, height)))
            #expect(try ImageReader.read(ImageStripper.strip(bytes)) == report)
        }
    }

    @Test func limitsAreTheCallers() throws {
        let picture = try Picture.named("progressive")
        #expect(throws: ImageError.tooManyBytes(limit: 99)) { try ImageReader.read(picture, limits: .init(bytes: 99)) }
        #expect(throws: ImageError.tooManyPixels(limit: 2_744)) {
            try ImageReader.read(picture, limits: .init(pixels: 2_744))
        }
        #expect(throws: ImageError.tooManyScans(limit: 9)) { try ImageReader.read(picture, limits: .init(scans: 9)) }
        #expect(throws: ImageError.tooMuchWork) { try ImageReader.read(picture, limits: .init(work: 500)) }
        #expect(
            try ImageReader.read(picture, limits: .init(bytes: picture.count, pixels: 2_745, scans: 10)).width == 61)
    }

    @Test func aDeadlineEndsIt() throws {
        let png = try Deflate.png(width: 4_000, height: 1_000)
        #expect(throws: ImageError.deadlinePassed) { try ImageReader.read(png, deadline: .now) }
        #expect(try ImageReader.read(png).brightness == 0)
    }
}
