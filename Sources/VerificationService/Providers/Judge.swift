import EventLoop
import ImageReading
import Values

/// A capture for a judge.
struct JudgedCapture: Sendable {
    let session: Identifier
    let picture: [UInt8]
    /// What the caller of a development system wants to hear.
    let testVerdict: Verdict?
}

/// Says whether a capture shows somebody who is really there.
protocol Judge: Sendable {
    /// - Returns: `nil` if there is no verdict yet. The judge is asked again.
    /// - Throws: if the judge cannot be asked now.
    @Loop func verdict(on capture: JudgedCapture) async throws -> Verdict?
}

/// For development. It looks at no face: without a wish of the caller every capture of enough quality is accepted.
struct LocalJudge: Judge {
    func verdict(on capture: JudgedCapture) async throws -> Verdict? {
        if let wish = capture.testVerdict { return wish }
        let picture = capture.picture
        let report = try await Loop.compute { try ImageReader.read(picture, deadline: .now + .seconds(2)) }
        return report.problems().isEmpty ? .verified : .qualityTooLow
    }
}
