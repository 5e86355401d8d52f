import Foundation
import JSONText

extension DemoClient {
    /// Verifies the person by a photo, and waits for the verdict.
    func verify(_ token: String) throws {
        let begun = try step(
            "the person agrees to be verified", "POST", "/verification/session",
            body: [
                "consent": ["biometric": true, "textVersion": "demo", "at": .string(Date().ISO8601Format())]
            ], token: token, expect: 201)
        let session = "/verification/session/\(try text(begun, "sessionId"))"
        let photo = DemoPhoto.jpeg()
        let capture = try step(
            "an address for the photo", "POST", "\(session)/capture",
            body: ["contentType": "image/jpeg", "length": .integer(Int64(photo.count))], token: token, expect: 201)
        try upload(photo, "image/jpeg", to: try text(capture, "uploadUrl"))
        try step("a verdict is asked for", "POST", "\(session)/complete", body: [:], token: token, expect: 200)
        let end = Date().addingTimeInterval(30)
        var view = JSONValue.null
        repeat {
            usleep(100_000)
            view = try send("GET", session, body: nil, headers: ["Authorization": "Bearer \(token)"]).body
        } while ["processing", "inconclusive"].contains(view["status"]) && Date() < end
        view = try step("the verdict", "GET", session, token: token, expect: 200)
        guard view["status"] != "manual_review" else {
            throw CommandError("this system leaves photos to reviewers: start it with VERIFICATION_JUDGE=local")
        }
        try check(view["status"] == "verified", "the photo is good enough")
    }
}
