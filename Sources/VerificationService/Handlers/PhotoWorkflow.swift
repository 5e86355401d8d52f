import BusProtocol
import Cryptography
import Database
import EventLoop
import ServiceRuntime

/// The parts of the photo handlers that run in one transaction.
@Loop struct PhotoWorkflow {
    let photos: PhotoStore
    let outbox: Outbox
    let audit: AuditTrail
    /// The state of a photo that nobody has looked at.
    let unseen: Moderation
    /// The judge of photos that nobody has looked at; `nil` if reviewers decide.
    var judge: PhotoJudge?

    nonisolated static let judging = "photo-judge"

    /// How long the owner of a refused photo still sees it.
    nonisolated static let refusedLife = Duration.seconds(7 * 86_400)
    /// The most people of one round of ``publishAgain()``.
    private nonisolated static let batch: Int64 = 50

    /// Sets the order of a person's photos.
    ///
    /// - Parameter wanted: makes the order from the photos with a place now.
    /// - Throws: ``BusError`` if a picture is named twice or has not arrived.
    func setOrder(
        of person: Identifier, watch: DeliveryWatch, in transaction: Transaction,
        _ wanted: ([Identifier]) -> [Identifier]
    ) async throws -> [Photo] {
        let known = try await photos.locked(person, in: transaction)
        let change = try PhotoOrder.change(
            to: wanted(known.photos.map(\.media)), from: known.photos, arrived: known.arrived, new: unseen)
        for id in change.removed { photos.media.destroy(id, because: "removed", in: transaction) }
        photos.place(change.places, in: transaction)
        if judge != nil {
            for photo in change.places where photo.moderation == .pending && !known.photos.contains(photo) {
                photos.note(photo.media, isWithJudge: true, in: transaction)
                outbox.enqueue(
                    Self.judging, payload: Question(photo: photo.media, at: .now()).payload, in: transaction)
            }
        }
        try await publish(change.places, known.told, of: person, watch: watch, in: transaction)
        return change.places
    }

    /// Stores a reviewer's decision on a photo, and carries out what follows from it.
    ///
    /// - Returns: false if the photo does not wait for a reviewer.
    func decide(
        _ media: Identifier, _ moderation: Moderation, of person: Identifier, in transaction: Transaction
    ) async throws -> Bool {
        let known = try await photos.locked(person, in: transaction)
        guard known.photos.contains(Photo(media: media, moderation: .pending)) else { return false }
        photos.decide(
            media, moderation, keepingFor: moderation == .refused ? Self.refusedLife : nil, in: transaction)
        let decided = known.photos.map { $0.media == media ? Photo(media: media, moderation: moderation) : $0 }
        try await publish(decided, known.told, of: person, in: transaction)
        if moderation == .refused {
            let notice = NotifyPerson(
                notificationID: .ordered(), personID: person, kind: NoticeKind.photoRefused.rawValue, data: [:])
            try await outbox.publish(notice, in: transaction)
        }
        return true
    }

    /// Asks the judge about a photo. An opinion has no effect if the photo no longer waits for it.
    func judge(_ item: OutboxItem) async throws {
        guard let asked = Question(item.payload), let owner = try await photos.ownerOfJudged(asked.photo) else {
            return
        }
        var opinion = PhotoOpinion.review
        if let judge {
            do {
                opinion = try await judge.opinion(on: asked.photo).after(asked.at, at: .now())
            } catch  where item.attempts < Outbox.mostAttempts - 1 {
                throw (error as? JudgeError)?.postponed(after: item.attempts) ?? error
            } catch {
                // If the judge cannot be asked, reviewers decide.
            }
        }
        if case .later = opinion { throw RedeliverLater(after: JudgeError.longPause) }
        try await photos.media.database.transaction { transaction in
            guard case .decided(let moderation) = opinion else {
                return photos.note(asked.photo, isWithJudge: false, in: transaction)
            }
            guard try await decide(asked.photo, moderation, of: owner, in: transaction) else { return }
            let details = ["media": asked.photo.description, "verdict": moderation.rawValue]
            audit.note(AuditAct("photo_judged", details), on: .service, in: transaction)
        }
    }

    /// A question to the judge, as the outbox keeps it.
    private struct Question {
        let photo: Identifier
        /// When it was asked first.
        let at: Timestamp

        init(photo: Identifier, at: Timestamp) { (self.photo, self.at) = (photo, at) }

        init?(_ payload: [UInt8]) {
            let words = String(decoding: payload, as: UTF8.self).split(separator: " ").map(String.init)
            guard words.count == 2, let photo = Identifier(words[0]), let at = Int64(words[1]) else { return nil }
            self.init(photo: photo, at: Timestamp(microsecondsSinceEpoch: at))
        }

        var payload: [UInt8] { Array("\(photo) \(at.microsecondsSinceEpoch)".utf8) }
    }

    /// Tells profile which photo represents the person, unless profile knows it.
    private func publish(
        _ photos: [Photo], _ told: PhotoStore.PublishedPhoto?, of person: Identifier, watch: DeliveryWatch? = nil,
        in transaction: Transaction
    ) async throws {
        let store = self.photos
        let shown = PhotoOrder.shown(photos).map {
            PhotoStore.PublishedPhoto(media: $0, address: store.address(of: $0))
        }
        guard shown != told else { return }
        let event = PhotoChanged(
            personID: person,
            photo: shown.map { .init(address: $0.address, key: Base64URL.encode(store.key(of: $0.media).bytes)) },
            at: .now())
        try await outbox.publish(event, watch: watch, in: transaction)
        store.note(shown, of: person, in: transaction)
    }

    /// Tells profile the new addresses of photos that it knows under a former address.
    func publishAgain() async throws {
        while true {
            let people = try await photos.untold(atMost: Self.batch)
            for person in people {
                try await photos.media.database.transaction { transaction in
                    let known = try await photos.locked(person, in: transaction)
                    try await publish(known.photos, known.told, of: person, in: transaction)
                }
            }
            guard people.count == Self.batch else { return }
        }
    }
}
