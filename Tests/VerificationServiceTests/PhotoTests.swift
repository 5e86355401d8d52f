import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VerificationService

@Suite @Loop struct PhotoTests {
    @Test func photosAreShownInTheirOrderAndTheirAddressStaysForADay() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let (first, second) = (try await media.arrived(person), try await media.arrived(person))
            #expect(try await media.ask(GetPhotos(), person).photos == [])
            let list = try await media.ask(PutPhotos(photos: [second, first]), person)
            #expect(list.photos.map(\.mediaId) == [second, first])
            #expect(try await media.stage.rows("SELECT count(*) FROM media WHERE expires_at IS NULL") == "2")
            let got = try await media.get(list.photos[0].url)
            #expect(got.status == 200 && got.headers["content-type"] == "image/png")
            #expect(got.body.count == 74 && MediaStage.picture.starts(with: got.body.prefix(33)))
            #expect(got.body.firstRange(of: Array(MediaStage.canary.utf8)) == nil, "no comment is served")
            #expect(got.headers["cache-control"] == "private, no-cache")
            let tag = try #require(got.headers["etag"])
            #expect(try await media.get(list.photos[0].url, ifNoneMatch: tag).status == 304)
            let reversed = try await media.ask(PutPhotos(photos: [first, second]), person)
            #expect(reversed.photos.map(\.mediaId) == [first, second], "places are exchanged at once")
            #expect(Set(reversed.photos.map(\.url)) == Set(list.photos.map(\.url)))
            #expect(!media.stage.log.text.contains("signature"))
        }
    }

    @Test func aPhotoThatIsRemovedIsGoneAtOnce() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let (first, second) = (try await media.arrived(person), try await media.arrived(person))
            let list = try await media.ask(PutPhotos(photos: [first, second]), person)
            let left = try await media.ask(DeletePhoto(mediaId: first), person)
            #expect(left.photos.map(\.mediaId) == [second])
            #expect(try await media.get(list.photos[0].url).status == 404)
            #expect(try await media.get(list.photos[1].url).status == 200)
            #expect(try await media.ask(DeletePhoto(mediaId: first), person) == left, "a repetition changes nothing")
            #expect(try await media.ask(PutPhotos(photos: []), person).photos == [])
            #expect(try await media.get(list.photos[1].url).status == 404)
            try await media.untilDestroyed()
            #expect(media.files.isEmpty)
        }
    }

    @Test func aProfileHasAtMostSixPhotos() async throws {
        try await MediaStage.run { media in
            let seven = PutPhotos(photos: (0..<7).map { _ in Identifier.random() })
            let error = await #expect(throws: BusError.self) { _ = try await media.ask(seven, .random()) }
            #expect(error?.code == "invalid_message")
        }
    }

    /// The bus repeats a message whose answer was lost. Meanwhile another device has removed one of the photos.
    @Test func anOrderThatIsSentAgainBringsNoRemovedPhotoBack() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let (first, second) = (try await media.arrived(person), try await media.arrived(person))
            _ = try await media.ask(PutPhotos(photos: [first, second]), person)
            let options = CallOptions(
                timeout: .seconds(10), actor: Actor(userID: person, sessionID: .ordered(), role: .user))
            let order = PutPhotos(photos: [second, first])
            let done = try await media.gateway.call(order, options)
            #expect(try await media.ask(DeletePhoto(mediaId: second), person).photos.map(\.mediaId) == [first])
            #expect(try await media.gateway.call(order, options) == done, "its first answer again")
            #expect(try await media.ask(GetPhotos(), person).photos.map(\.mediaId) == [first])
        }
    }

    @Test func aPersonCannotShowOrRemoveAnothersPhoto() async throws {
        try await MediaStage.run { media in
            let (owner, stranger) = (Identifier.random(), Identifier.random())
            let photo = try await media.arrived(owner)
            let list = try await media.ask(PutPhotos(photos: [photo]), owner)
            await #expect(throws: BusError.self) { _ = try await media.ask(PutPhotos(photos: [photo]), stranger) }
            _ = try await media.ask(DeletePhoto(mediaId: photo), stranger)
            let url = list.photos[0].url
            #expect(try await media.get(url).status == 200)
            #expect(try await media.get(url.replacing("expires=1", with: "expires=2")).status == 403)
            #expect(try await media.get(url.replacing("\(photo)", with: "\(Identifier.random())")).status == 403)
            let waiting = try await media.arrived(owner)
            let unplaced = url.replacing("\(photo)", with: "\(waiting)")
            #expect(try await media.get(unplaced).status == 403, "a picture without a place has no address")
        }
    }

    @Test func theOrderIsOfPicturesThatArrived() throws {
        let ids = (0..<4).map { _ in Identifier.random() }
        let photos = [Photo(media: ids[0], moderation: .refused), Photo(media: ids[1], moderation: .approved)]
        let change = try PhotoOrder.change(
            to: [ids[2], ids[0]], from: photos, arrived: [ids[2], ids[3]], new: .pending)
        #expect(
            change
                == PhotoOrder.Change(
                    removed: [ids[1]], places: [Photo(media: ids[2], moderation: .pending), photos[0]]))
        #expect(throws: BusError.self) {
            try PhotoOrder.change(to: [ids[0], ids[0]], from: photos, arrived: [], new: .approved)
        }
        #expect(throws: BusError.self) {
            try PhotoOrder.change(to: [ids[0]], from: [], arrived: [ids[1]], new: .approved)
        }
    }

    @Test func theFirstApprovedPhotoRepresentsThePerson() {
        let ids = (0..<3).map { _ in Identifier.random() }
        func shown(_ states: Moderation...) -> Identifier? {
            PhotoOrder.shown(zip(ids, states).map { Photo(media: $0, moderation: $1) })
        }
        #expect(shown() == nil && shown(.pending, .refused) == nil)
        #expect(shown(.pending, .approved, .approved) == ids[1] && shown(.approved, .pending) == ids[0])
    }

    @Test func profileReceivesTheFirstPhotoAndCanSignNoOther() async throws {
        try await Verifying.run { verifying in
            let (media, person) = (verifying.media, Identifier.random())
            let (first, second) = (try await media.arrived(person), try await media.arrived(person))
            let list = try await media.ask(PutPhotos(photos: [first, second]), person).photos
            let told = try #require(try await verifying.shown.atLeast(1).first?.photo)
            let query = AddressKey(try #require(Base64URL.decode(told.key))).query(
                until: AddressKey.end(forAllDay: Timestamp.now().microsecondsSinceEpoch / 1_000_000))
            #expect("\(told.address)?\(query)" == list[0].url)
            #expect(try await media.get("\(told.address)?\(query)").status == 200)
            let other = told.address.replacing("\(first)", with: "\(second)")
            #expect(try await media.get("\(other)?\(query)").status == 403)
            // The second photo changes nothing for others, until it is the first.
            _ = try await media.ask(PutPhotos(photos: [first]), person)
            let third = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [third, first]), person)
            _ = try await media.ask(DeletePhoto(mediaId: third), person)
            _ = try await media.ask(PutPhotos(photos: []), person)
            let events = try await verifying.shown.atLeast(4)
            #expect(events.map(\.personSequence) == [1, 2, 3, 4])
            let ids = events.map { event in
                [first, second, third].first { event.photo?.address.hasSuffix("\($0)") ?? false }
            }
            #expect(ids == [first, third, first, nil])
            #expect(!verifying.stage.log.text.contains(told.key))
        }
    }

    @Test func aChangeAndItsEventAreOneEvenIfProfileIsAway() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let first = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [first]), person)
            await #expect(throws: BusError.self) {
                _ = try await media.ask(PutPhotos(photos: [first, .random()]), person)
            }
            #expect(try await media.stage.rows("SELECT count(*) FROM outbox WHERE destination = 'profile'") == "1")
            // An event of a photo that stands no more is followed by that of its end.
            _ = try await media.ask(DeletePhoto(mediaId: first), person)
            let ears = EventRecorder<PhotoChanged>()
            try media.stage.answering(as: .profile, ears)
            #expect(try await ears.atLeast(2).map { $0.photo == nil } == [false, true])
        }
    }

    @Test func profileIsNotifiedAgainWhenPhotosGetAnotherAddress() async throws {
        try await Verifying.run { verifying in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            _ = try await verifying.shown.atLeast(1)
            let container = try #require(media.stage.containers.first)
            let workflow = PhotoWorkflow(
                photos: PhotoStore(media: media.store, keys: container.keys), outbox: container.outbox,
                audit: container.audit, unseen: .approved)
            workflow.photos.media.origin.base = "https://photos.example"
            for _ in 0..<2 {
                while try await workflow.photos.markOtherAddresses() {}
                try await workflow.publishAgain()
            }
            let events = try await verifying.shown.atLeast(2)
            #expect(events.count == 2 && events[1].photo?.address == "https://photos.example/photos/\(photo)")
            #expect(events[1].photo?.key == events[0].photo?.key)
        }
    }

    @Test func reviewersApproveAPhotoBeforeOthersSeeIt() async throws {
        try await Verifying.run(variables: ["VERIFICATION_MODERATION": "staff"]) { verifying in
            let (media, person, staff) = (verifying.media, Identifier.random(), Identifier.random())
            let (first, second) = (try await media.arrived(person), try await media.arrived(person))
            let list = try await media.ask(PutPhotos(photos: [first, second]), person).photos
            #expect(list.map(\.state) == ["pending", "pending"])
            #expect(try await media.get(list[0].url).status == 200, "the owner sees it")
            let queue = try await verifying.ask(ListPhotoReviews(), staff, role: .staff).photos
            #expect(queue.map(\.mediaId) == [first, second] && queue.allSatisfy { $0.photoUrl == nil })
            let review = try await verifying.ask(GetPhotoReview(mediaId: second), staff, role: .staff)
            #expect(try await media.get(try #require(review.photoUrl)).status == 200)
            func decide(_ photo: Identifier, _ verdict: String, by staff: Identifier) async throws -> String? {
                do {
                    _ = try await verifying.ask(
                        DecidePhoto(mediaId: photo, verdict: verdict), staff, role: .staff,
                        key: "\(photo) \(verdict) \(staff)")
                    return nil
                } catch let error as BusError {
                    return error.code
                }
            }
            #expect(try await decide(second, "approved", by: person) == "forbidden", "nobody decides on their own")
            #expect(verifying.shown.heard.isEmpty)
            #expect(try await decide(second, "approved", by: staff) == nil)
            #expect(try await decide(second, "approved", by: staff) == nil, "a repetition changes nothing")
            #expect(try await decide(second, "refused", by: .random()) == "not_found", "it is decided")
            #expect(try await verifying.shown.atLeast(1)[0].photo?.address.hasSuffix("\(second)") == true)
            #expect(try await decide(first, "refused", by: staff) == nil)
            let notices = try await verifying.notices.atLeast(1)
            #expect(notices.map(\.personID) == [person] && notices.map(\.kind) == ["photo_refused"])
            let decided = try await media.ask(PutPhotos(photos: [first, second]), person).photos
            #expect(decided.map(\.state) == ["refused", "approved"], "the order decides nothing")
            #expect(verifying.shown.heard.count == 1)
            let acts = "SELECT string_agg(act, ',' ORDER BY sequence) FROM audit WHERE act LIKE 'photo%'"
            #expect(try await verifying.stage.rows(acts) == "photo_seen,photo_reviewed,photo_reviewed")
            try await verifying.stage.rows(
                "UPDATE media SET expires_at = expires_at - interval '7 days' WHERE moderation = 'refused'")
            try await media.untilDestroyed()
            let left = try await eventually {
                try await media.ask(GetPhotos(), person).photos.map(\.mediaId) == [second]
            }
            #expect(left, "a refused photo goes after a week")
        }
    }

    @Test func theAddressIsTheSameAllDay() {
        let day = Timestamp(microsecondsSinceEpoch: 20_417 * 86_400_000_000)
        let first = PhotoAddress(of: Identifier.random(), at: day)
        let media = first.media
        #expect(PhotoAddress(of: media, at: day + .seconds(86_399)) == first)
        #expect(PhotoAddress(of: media, at: day + .seconds(86_400)) != first)
        #expect(first.expires == day.microsecondsSinceEpoch / 1_000_000 + 2 * 86_400)
    }
}

extension MediaStage {
    func get(_ url: String, ifNoneMatch tag: String? = nil) async throws -> Exchange {
        guard let parts = URLComponents(string: url), let port = parts.port else { throw URLError(.badURL) }
        let condition = tag.map { "If-None-Match: \($0)\r\n" } ?? ""
        return try await Exchange(
            port: port, request: "GET \(target(of: url)) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(condition)\r\n")
    }

    /// Path and query.
    func target(of url: String) -> String {
        let parts = URLComponents(string: url)
        return "\(parts?.percentEncodedPath ?? "")?\(parts?.percentEncodedQuery ?? "")"
    }
}
