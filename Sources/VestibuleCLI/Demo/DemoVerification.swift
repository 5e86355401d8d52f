import Foundation
import VestibuleClient

extension DemoClient {
    /// Verifies the person by a photo, and waits for the verdict.
    func verify() async throws {
        let consent = BiometricConsent(biometric: true, textVersion: "demo", at: Date())
        let begun = try await step("the person agrees to be verified", expect: 201) {
            try await person.beginVerification(.init(consent: consent))
        }
        guard let session = begun.sessionId else { throw CommandError("the verification has no session") }
        let photo = DemoPhoto.jpeg()
        let capture = try await step("an address for the photo", expect: 201) {
            try await person.addCapture(session: session, .init(contentType: .imageJpeg, length: photo.count))
        }
        try await upload(photo, "image/jpeg", to: capture.uploadUrl)
        try await step("a verdict is asked for", expect: 202) {
            try await person.completeVerification(session: session)
        }
        _ = try await wait(seconds: 30, until: { ![.processing, .inconclusive].contains($0.status) }) {
            try await person.getVerification(session: session)
        }
        let view = try await step("the verdict") { try await person.getVerification(session: session) }
        guard view.status != .manualReview else {
            throw CommandError("this system leaves photos to reviewers: start it with VERIFICATION_JUDGE=local")
        }
        try check(view.status == .verified, "the photo is good enough")
    }
}
