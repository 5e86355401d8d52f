import Database
import EventLoop
import ImageReading
import Values

/// A capture for a judge.
struct JudgedCapture: Sendable {
    let session: Identifier
    /// Which of the person's tries it is, from 1.
    let attempt: Int
    /// The upload; `nil` if there is none.
    let media: Identifier?
    /// The check at the judge's provider; `nil` if there is none.
    let check: String?
    /// The verdict that the caller of a development system asks for.
    let testVerdict: Verdict?
}

/// A judge's answer about a capture.
enum JudgeAnswer: Sendable, Equatable {
    /// A refusal is final if another photo would not change it.
    case verdict(Verdict, isFinal: Bool = false)
    /// There is no verdict yet. The judge is asked again.
    case later
    /// There is no capture, and none will arrive.
    case captureMissing
}

/// Why a judge gave no usable answer. It contains nothing about a person.
struct JudgeError: Error, Equatable {
    /// Such as `http_503`, `no_answer`, `answer_unreadable` or `unknown_verdict`.
    let reason: String
    /// How long the judge asks to wait; `nil` if it does not.
    var retryAfter: Duration?

    /// When the judge is asked again.
    ///
    /// - Parameter attempts: how often it was asked, from 1.
    func postponed(after attempts: Int) -> DeliveryPostponed {
        DeliveryPostponed(pause: min(retryAfter ?? Self.pause * attempts, Self.longPause), code: reason)
    }

    /// The pause before the next question to a judge without a verdict, while the app waits.
    static let pause = Duration.seconds(2)
    /// The same pause once nobody waits, and the longest pause after a failure.
    static let longPause = Duration.seconds(60)

    init(_ reason: String, retryAfter: Duration? = nil) { (self.reason, self.retryAfter) = (reason, retryAfter) }
}

/// Says whether a capture shows a living person in front of the camera.
protocol Judge: Sendable {
    /// Asks about a capture, perhaps again.
    ///
    /// - Throws: if the judge cannot be asked now.
    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer
}

/// For development. It does not look at faces. If the caller asks for no verdict, it accepts every capture of
/// sufficient quality.
struct LocalJudge: Judge {
    let vault: MediaVault?

    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer {
        guard let media = capture.media, let picture = try await vault?.get(media, .verification) else {
            return .captureMissing
        }
        if let wish = capture.testVerdict { return .verdict(wish) }
        let report = try await Loop.compute { try ImageReader.read(picture, deadline: .now + .seconds(2)) }
        return .verdict(report.problems().isEmpty ? .verified : .qualityTooLow)
    }
}
