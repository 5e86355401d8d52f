import BusProtocol
import EventLoop
import JSONText

/// Asks a judge of the operator's own whether others may see a photo of a profile.
struct PhotoJudge: Sendable {
    let webhook: PictureWebhook

    /// - Returns: `.later` as well if the photo is gone.
    /// - Throws: ``JudgeError``, or if the database is away.
    @Loop func opinion(on photo: Identifier) async throws -> PhotoOpinion {
        guard let question = try await webhook.question(photo, about: photo, ["media": .string(photo.description)])
        else {
            return .later
        }
        guard let answer = try await PictureWebhook.ask(question) else { return .later }
        guard let opinion = PhotoOpinion(verdict: answer.verdict) else { throw JudgeError("unknown_verdict") }
        return opinion
    }
}
