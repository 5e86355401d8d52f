@testable import ImageReading

/// Small, so that a case takes milliseconds.
private let limits = ImageLimits(bytes: 1 << 16, pixels: 1 << 16, scans: 10, work: 1 << 20)

/// A picture that is read has measures within their ranges. After stripping, it is the same picture, and stripping it
/// again removes nothing more.
func checkPicture(_ bytes: [UInt8]) throws(BrokenPromise) {
    let stripped = try? ImageStripper.strip(bytes)
    guard let report = try? ImageReader.read(bytes, limits: limits) else { return }
    try promise(report.width > 0 && report.height > 0, "A side has no pixels.")
    try promise((0...255).contains(report.brightness), "The brightness is none.")
    try promise((0...1).contains(report.darkShare) && (0...1).contains(report.lightShare), "A share is none.")
    try promise(report.sharpness.isFinite && report.sharpness >= 0, "The sharpness is none.")
    guard let stripped else { throw BrokenPromise(description: "A picture that is read cannot be stripped.") }
    try promise((try? ImageReader.read(stripped, limits: limits)) == report, "The stripped picture is another one.")
    try promise((try? ImageStripper.strip(stripped)) == stripped, "A stripped picture can be stripped further.")
}

/// Checks the bytes as a PNG, and once more with correct checksums, which a fuzzer cannot guess.
func checkPNG(_ bytes: [UInt8]) throws(BrokenPromise) {
    try checkPicture(bytes)
    var (mended, start) = (bytes, PNGChunks.signature.count)
    while start + 12 <= mended.count {
        let length = mended[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard start + 12 + length <= mended.count else { break }
        let end = start + 8 + length
        let sum = CRC32.of(mended[start + 4..<end])
        for place in 0..<4 { mended[end + place] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * place)) }
        start = end + 4
    }
    if mended != bytes { try checkPicture(mended) }
}
