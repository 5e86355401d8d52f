import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Promises an upload to a person.
struct CreateUploadHandler: RequestHandler {
    let inbox: Inbox
    let media: MediaStore

    func handle(_ request: CreateUpload, context: RequestContext) async throws -> UploadCreated {
        let person = try context.person().userID
        guard let purpose = MediaPurpose(rawValue: request.kind), purpose == .profilePhoto else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [.init(field: "kind", code: "not_allowed", message: "Must be one of the listed values.")])
        }
        if let refusal = UploadLimits.refusal(contentType: request.contentType, length: request.length) {
            throw refusal
        }
        return try await inbox.once(context, carriesToken: true) { transaction in
            guard
                let reserved = try await media.reserve(
                    purpose, contentType: request.contentType, length: request.length, for: person, in: transaction)
            else { throw Self.unauthorized }
            return .reply(
                UploadCreated(mediaId: reserved.media, uploadUrl: reserved.url, expiresAt: reserved.expiresAt))
        }
    }

    private static let unauthorized = BusError(.unauthorized, "Please sign in.")
}
