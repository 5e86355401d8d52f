import Foundation
import TestSupport
import Testing

@testable import ImageReading

@Suite("stripping pictures") struct ImageStripperTests {
    /// A JPEG with all that phones and programs put into it.
    private static func loaded(_ name: String) throws -> [UInt8] {
        let thumbnail = Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 72, 1, 1] + Array("pic".utf8)
        let parts: [(UInt8, [UInt8])] = [
            (0xe0, thumbnail), (0xe0, Array("JFXX\0\u{13} secret thumbnail".utf8)),
            (0xfe, Array("secret comment".utf8)),
            (0xe1, Array("Exif\0\0".utf8) + Part.exif(orientation: 6)),
            (0xe1, Array("http://ns.adobe.com/xap/1.0/\0<secret/>".utf8)),
            (0xe2, Array("ICC_PROFILE\0\u{1}\u{1}profile".utf8)), (0xe2, Array("MPF\0secret".utf8)),
            (0xed, Array("Photoshop 3.0\0secret".utf8)), (0xef, Array("secret".utf8)),
        ]
        let picture = try Picture.named(name)
        let tail = Array("secret tail".utf8) + picture + [0xff, 0xd9]
        return picture.inserting(parts.flatMap { Part.segment($0.0, $0.1) }) + tail
    }

    @Test("nothing of a person stays in a JPEG", arguments: ["baseline", "progressive", "grey", "rgb", "inks"])
    func jpeg(name: String) throws {
        let (plain, loaded) = (try Picture.named(name), try Self.loaded(name))
        let stripped = try ImageStripper.strip(loaded)
        #expect(loaded.has("GPS") && loaded.has("secret") && !stripped.has("GPS") && !stripped.has("ecret"))
        #expect(!stripped.has("pic") && stripped.has("profile"))
        #expect(stripped.suffix(2) == [0xff, 0xd9] && stripped.count < plain.count + 120)
        #expect(try ImageStripper.strip(stripped) == stripped)
        let (before, after) = (try ImageReader.read(loaded), try ImageReader.read(stripped))
        #expect(before == after && after.orientation == .right)
        let tools = JPEGTools()
        #expect(try tools.run("djpeg", [], on: stripped) == tools.run("djpeg", [], on: loaded))
    }

    @Test func nothingOfAPersonStaysInAPNG() throws {
        let picture = try Picture.named("png, colours 3, 4 bits, transparent")
        let kept = Part.chunk("gAMA", Part.number(45_455)) + Part.chunk("sRGB", [0])
        let loaded =
            picture.inserting(
                kept + Part.chunk("tEXt", Array("Comment\0secret".utf8)) + Part.chunk("eXIf", Part.exif(orientation: 8))
                    + Part.chunk("tIME", Array("secret!".utf8))
                    + Part.chunk("pHYs", Part.number(1) + Part.number(1) + [1])
                    + Part.chunk("sBIT", Array("secret".utf8))) + Array("PK\u{3}\u{4}secret".utf8)
        let stripped = try ImageStripper.strip(loaded)
        let orientation = Part.chunk("eXIf", ImageOrientation.left.exif)
        #expect(stripped == picture.inserting(orientation + kept))
        #expect(try ImageStripper.strip(stripped) == stripped)
        #expect(try ImageReader.read(stripped) == ImageReader.read(loaded))
    }

    @Test("a plain picture stays as it is", arguments: Picture.all)
    func plain(picture: Picture) throws {
        // cjpeg writes JFIF or Adobe's segment first, as the stripper does.
        #expect(try ImageStripper.strip(picture.data) == picture.data)
    }
}
