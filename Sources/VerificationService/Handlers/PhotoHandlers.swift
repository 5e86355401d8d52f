import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Shows the person's photos.
struct GetPhotosHandler: RequestHandler {
    let photos: PhotoStore

    func handle(_ request: GetPhotos, context: RequestContext) async throws -> PhotoList {
        PhotoList(try await photos.photos(of: context.person().userID), of: photos)
    }
}

/// Sets the photos and their order.
struct PutPhotosHandler: RequestHandler {
    let inbox: Inbox
    let workflow: PhotoWorkflow

    func handle(_ request: PutPhotos, context: RequestContext) async throws -> PhotoList {
        let person = try context.person().userID
        return try await workflow.outbox.awaitingDelivery { watch in
            try await inbox.oncePerMessage(context) { transaction in
                PhotoList(
                    try await workflow.setOrder(of: person, watch: watch, in: transaction) { _ in request.photos },
                    of: workflow.photos)
            }
        }
    }
}

/// Removes one photo. It is no error if it is gone.
struct DeletePhotoHandler: RequestHandler {
    let inbox: Inbox
    let workflow: PhotoWorkflow

    func handle(_ request: DeletePhoto, context: RequestContext) async throws -> PhotoList {
        let person = try context.person().userID
        return try await workflow.outbox.awaitingDelivery { watch in
            try await inbox.oncePerMessage(context) { transaction in
                PhotoList(
                    try await workflow.setOrder(of: person, watch: watch, in: transaction) {
                        $0.filter { $0 != request.mediaId }
                    }, of: workflow.photos)
            }
        }
    }
}

extension PhotoList {
    @Loop fileprivate init(_ photos: [VerificationService.Photo], of store: PhotoStore) {
        let now = Timestamp.now()
        self.init(
            photos: photos.map {
                Photo(
                    mediaId: $0.media, url: store.url(of: $0.media, isApproved: $0.moderation == .approved, at: now),
                    state: $0.moderation.rawValue)
            })
    }
}
