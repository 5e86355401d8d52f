import Foundation
import VestibuleClient

extension DemoClient {
    /// Uploads a picture, makes it the person's photo, and fetches it from the address in the profile.
    ///
    /// - Parameter kind: the purpose of the picture.
    /// - Returns: the picture's ID.
    @discardableResult func uploadPhoto(kind: String = "profile_photo") async throws -> UUID {
        let picture = DemoPhoto.jpeg()
        let promised = try await step("an upload is promised", expect: 201) {
            try await person.createUpload(.init(kind: kind, contentType: "image/jpeg", length: picture.count))
        }
        try await upload(picture, "image/jpeg", to: promised.uploadUrl)
        let photos = try await step("it becomes the photo") {
            try await person.putPhotos(.init(photos: [promised.mediaId]))
        }
        let url = photos.photos.first?.url
        let shown = try await wait(seconds: 15, until: { (shown: String?) in shown == url }) {
            try await person.getMe().profile["photo"]?.string
        }
        try check(
            shown?.lowercased().contains(promised.mediaId.uuidString.lowercased()) == true,
            "the profile shows the photo")
        try check(try await shows(shown ?? ""), "the profile's address serves the photo")
        return promised.mediaId
    }
}
