import Foundation
import JSONText

extension DemoClient {
    /// Uploads a picture, makes it the person's photo, and looks at it where the profile shows it.
    ///
    /// - Parameters:
    ///   - kind: what the picture is for.
    ///   - href: where to ask for an address.
    ///   - placesHref: where the picture gets its place.
    /// - Returns: the picture's ID.
    @discardableResult func uploadPhoto(
        _ token: String, kind: String = "profile_photo", href: String = "/media",
        placesHref: String = "/users/me/photos"
    ) throws -> String {
        let picture = DemoPhoto.jpeg()
        let promised = try step(
            "an upload is promised", "POST", href,
            body: ["kind": .string(kind), "contentType": "image/jpeg", "length": .integer(Int64(picture.count))],
            token: token, expect: 201)
        let media = try text(promised, "mediaId")
        try upload(picture, "image/jpeg", to: try text(promised, "uploadUrl"))
        let photos = try step(
            "it becomes the photo", "PUT", placesHref, body: ["photos": [.string(media)]], token: token, expect: 200)
        let url = try text(photos["photos"]?.arrayValue?.first ?? .null, "url")
        let end = Date().addingTimeInterval(15)
        var shown: JSONValue?
        // Profile learns of the photo by an event.
        repeat {
            shown = try client.send("GET", "/users/me", headers: ["Authorization": "Bearer \(token)"]).body["profile"]?[
                "photo"]
            guard shown != .string(url) else { break }
            usleep(100_000)
        } while Date() < end
        try check(shown?.stringValue?.contains(media) == true, "the profile shows the photo")
        let (server, path) = try place(of: shown?.stringValue ?? "")
        try check(try server.send("GET", path).status == 200, "the profile's address serves the photo")
        return media
    }
}
