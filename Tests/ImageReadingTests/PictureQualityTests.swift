import Foundation
import TestSupport
import Testing

@testable import ImageReading

@Suite("the quality of pictures") struct PictureQualityTests {
    private static func report(_ scene: Scene) throws -> ImageReport {
        try ImageReader.read(JPEGTools().run("cjpeg", ["-quality", "85", "-grayscale"], on: scene.pgm()))
    }

    @Test func blurredVariantsAreOrdered() throws {
        let variants = try [0, 1, 2, 4, 7].map { try Self.report(Scene(width: 500, height: 480, seed: 2, blur: $0)) }
        #expect(zip(variants, variants.dropFirst()).allSatisfy { $0.sharpness > $1.sharpness }, "\(variants)")
        #expect(variants.map { $0.problems() } == [[], [], [], [.blurred], [.blurred]])
    }

    @Test func darkAndBrightVariantsAreOrdered() throws {
        let variants = try [0.02, 0.25, 0.7, 1, 2, 9].map {
            try Self.report(Scene(width: 500, height: 480, seed: 4, light: $0))
        }
        #expect(zip(variants, variants.dropFirst()).allSatisfy { $0.brightness < $1.brightness }, "\(variants)")
        #expect(variants.map { $0.problems().first } == [.tooDark, .tooDark, nil, nil, nil, .tooBright])
        // A dim picture is not taken for a blurred one.
        #expect(abs(variants[1].sharpness / variants[3].sharpness - 1) < 0.1)
    }

    @Test("a good picture is not refused", arguments: 0..<Rounds.count(3, prove: 50))
    func good(seed: Int) throws {
        #expect(try Self.report(Scene(width: 480 + seed * 7, height: 481, seed: seed)).problems() == [])
    }

    /// `VESTIBULE_PHOTOS` is a folder of JPEGs that a person would call good. None is in the repository.
    @Test("at most two percent of large enough photographs are refused", .enabled(if: folder != nil))
    func photographs() throws {
        let folder = URL(fileURLWithPath: try #require(Self.folder))
        let photos = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name: name, bytes: [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
        }
        let reports = try photos.filter { ImageKind(of: $0.bytes) == .jpeg }
            .map { (name: $0.name, problems: try ImageReader.read($0.bytes).problems()) }
            .filter { !$0.problems.contains(.tooSmall) }
        let refused = reports.filter { !$0.problems.isEmpty }
        print("photographs: \(refused.count) of \(reports.count) refused: \(refused)")
        #expect(reports.count >= 30 && refused.count * 50 <= reports.count)
    }

    private static let folder = ProcessInfo.processInfo.environment["VESTIBULE_PHOTOS"]

    @Test func aLargeVersionIsAsSharpAsASmallOne() throws {
        // The same picture with four pixels for one, a little smoothed as a camera does.
        let (small, tools) = (Scene(width: 480, height: 480, seed: 6), JPEGTools())
        let sharp = try Self.report(small)
        let jpeg = try tools.run("cjpeg", ["-quality", "95", "-grayscale"], on: small.pgm())
        let twice = try ImageReader.read(
            tools.run("cjpeg", ["-quality", "85"], on: tools.run("djpeg", ["-scale", "16/8"], on: jpeg)))
        #expect(twice.width == 960)
        #expect(abs(twice.sharpness / sharp.sharpness - 1) < 0.25, "\(twice.sharpness) \(sharp.sharpness)")
    }

    @Test func eachThresholdNamesItsProblem() throws {
        var report = try ImageReader.read(Picture.named("baseline"))
        (report.width, report.height, report.brightness, report.sharpness) = (480, 900, 120, 0.5)
        #expect(report.problems() == [])
        func problems(_ change: (inout ImageReport) -> Void) -> [QualityProblem] {
            var changed = report
            change(&changed)
            return changed.problems()
        }
        #expect(problems { $0.width = 479 } == [.tooSmall])
        #expect(problems { $0.brightness = 39 } == [.tooDark])
        #expect(problems { $0.darkShare = 0.61 } == [.tooDark])
        #expect(problems { $0.brightness = 226 } == [.tooBright])
        #expect(problems { $0.lightShare = 0.71 } == [.tooBright])
        #expect(problems { $0.sharpness = 0.19 } == [.blurred])
        #expect(problems { ($0.height, $0.brightness, $0.sharpness) = (9, 3, 0) } == [.tooSmall, .tooDark, .blurred])
    }
}
