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
    let photos: PhotoStore

    func handle(_ request: PutPhotos, context: RequestContext) async throws -> PhotoList {
        let person = try context.person().userID
        return try await photos.media.database.transaction { transaction in
            let (present, arrived) = try await photos.locked(person, in: transaction)
            let change = try PhotoOrder.change(to: request.photos, from: present, arrived: arrived)
            photos.write(change, in: transaction)
            return PhotoList(change.places, of: photos)
        }
    }
}

/// Removes one photo. It is no error if it is gone.
struct DeletePhotoHandler: RequestHandler {
    let photos: PhotoStore

    func handle(_ request: DeletePhoto, context: RequestContext) async throws -> PhotoList {
        let person = try context.person().userID
        return try await photos.media.database.transaction { transaction in
            let (present, _) = try await photos.locked(person, in: transaction)
            let kept = present.filter { $0 != request.mediaId }
            let change = try PhotoOrder.change(to: kept, from: present, arrived: [])
            photos.write(change, in: transaction)
            return PhotoList(kept, of: photos)
        }
    }
}

extension PhotoList {
    @Loop fileprivate init(_ photos: [Identifier], of store: PhotoStore) {
        let now = Timestamp.now()
        self.init(photos: photos.map { Photo(mediaId: $0, url: store.url(of: $0, at: now)) })
    }
}
