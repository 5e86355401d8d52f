import BusProtocol
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

    @Test func nobodyShowsOrRemovesWhatIsNotTheirs() async throws {
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
        let change = try PhotoOrder.change(to: [ids[2], ids[0]], from: [ids[0], ids[1]], arrived: [ids[2], ids[3]])
        #expect(change == PhotoOrder.Change(removed: [ids[1]], places: [ids[2], ids[0]]))
        #expect(throws: BusError.self) { try PhotoOrder.change(to: [ids[0], ids[0]], from: [ids[0]], arrived: []) }
        #expect(throws: BusError.self) { try PhotoOrder.change(to: [ids[0]], from: [], arrived: [ids[1]]) }
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
