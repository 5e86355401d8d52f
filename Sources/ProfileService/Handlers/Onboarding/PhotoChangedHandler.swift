import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop

/// Makes another photo represent the person.
struct PhotoChangedHandler: RequestHandler {
    let profile: ProfileContext

    func handle(_ event: PhotoChanged, context: RequestContext) async throws -> Acknowledged {
        let photo = event.photo.flatMap { photo in
            Base64URL.decode(photo.key).map { ProfilePhoto(address: photo.address, key: AddressKey($0)) }
        }
        try await profile.database.transaction { transaction in
            guard try await EventPosition.accept(event, from: .verification, in: transaction) else { return }
            let record = try await profile.locked(event.personID, in: transaction)
            guard photo != record.photo else { return }
            var changed = record
            changed.show(photo, at: .now())
            let plans = try await profile.plans(of: record)
            profile.store.notePhoto(of: changed, isComplete: plans[0].completion.isComplete(changed), in: transaction)
            profile.noteProgress(from: record, to: changed, plans, in: transaction)
        }
        return Acknowledged()
    }
}
