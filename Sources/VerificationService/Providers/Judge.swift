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
    /// What the caller of a development system wants to hear.
    let testVerdict: Verdict?
}

/// What a judge says of a capture.
enum JudgeAnswer: Sendable, Equatable {
    /// A refusal is final where another photo would not change it.
    case verdict(Verdict, isFinal: Bool = false)
    /// There is no verdict yet. The judge is asked again.
    case later
    /// There is nothing to look at, and there will not be.
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

    /// After this time a judge without a verdict is asked again, while the app waits for it.
    static let pause = Duration.seconds(2)
    /// The same once nobody waits, and the longest pause after a failure.
    static let longPause = Duration.seconds(60)

    init(_ reason: String, retryAfter: Duration? = nil) { (self.reason, self.retryAfter) = (reason, retryAfter) }
}

/// Says whether a capture shows somebody who is really there.
protocol Judge: Sendable {
    /// Asks about a capture, perhaps again.
    ///
    /// - Throws: if the judge cannot be asked now.
    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer
}

/// For development. It looks at no face: without a wish of the caller every capture of enough quality is accepted.
struct LocalJudge: Judge {
    let photos: PhotoStore

    @Loop func answer(on capture: JudgedCapture) async throws -> JudgeAnswer {
        guard let media = capture.media, let picture = try await photos.media.bytes(of: media, .verification) else {
            return .captureMissing
        }
        if let wish = capture.testVerdict { return .verdict(wish) }
        let report = try await Loop.compute { try ImageReader.read(picture, deadline: .now + .seconds(2)) }
        return .verdict(report.problems().isEmpty ? .verified : .qualityTooLow)
    }
}
