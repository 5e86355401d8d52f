import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Promises an upload to a person.
struct CreateUploadHandler: RequestHandler {
    let inbox: Inbox
    let media: MediaStore
    let captures: CapturePromiser

    func handle(_ request: CreateUpload, context: RequestContext) async throws -> UploadCreated {
        let person = try context.person().userID
        guard let purpose = MediaPurpose(rawValue: request.kind), purpose == .profilePhoto || purpose.tier != nil
        else {
            throw BusError(
                .validationFailed, "Some fields need another look.",
                errors: [.init(field: "kind", code: "not_allowed", message: "Must be one of the listed values.")])
        }
        if let refusal = UploadLimits.refusal(contentType: request.contentType, length: request.length) {
            throw refusal
        }
        return try await inbox.once(context, carriesToken: true) { transaction in
            let reserved =
                if let tier = purpose.tier {
                    try await captures.promise(
                        request.contentType, request.length, side: request.side,
                        to: captures.workflow.store.locked(person, tier, in: transaction), in: transaction)
                } else {
                    try await media.promise(
                        purpose, contentType: request.contentType, length: request.length, for: person, in: transaction)
                }
            guard let reserved else { throw Self.unauthorized }
            return .reply(
                UploadCreated(mediaId: reserved.media, uploadUrl: reserved.url, expiresAt: reserved.expiresAt))
        }
    }

    private static let unauthorized = BusError(.unauthorized, "Please sign in.")
}

extension MediaStore {
    /// Promises an upload. The caller has checked the type and the length.
    ///
    /// - Returns: `nil` if the person is erased.
    /// - Throws: ``BusError`` `rate_limited` if the person has too many uploads.
    func promise(
        _ purpose: MediaPurpose, contentType: String, length: Int64, for person: Identifier,
        in transaction: Transaction
    ) async throws -> Reserved? {
        guard let usage = try await count(for: person, in: transaction) else { return nil }
        if let refusal = UploadLimits.refusal(
            open: usage.open, today: usage.today, untilTomorrow: usage.untilTomorrow)
        {
            throw refusal
        }
        return try await reserve(purpose, contentType: contentType, length: length, for: person, in: transaction)
    }
}
