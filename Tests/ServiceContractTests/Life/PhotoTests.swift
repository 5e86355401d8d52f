import BusProtocol
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

/// A photo from its upload to the profile and back, in the whole system.
@Suite struct PhotoLifeTests {
    @Test func aPhotoIsInTheProfileUntilItIsRemoved() async throws {
        try await TestSystem.run { system in
            let (person, other) = (
                try await system.signIn("+14155550161"), try await system.signIn("+14155550162")
            )
            _ = try await system.ask(UpdateMe(fields: ["displayName": "Zoë"]), as: person)
            let opened = try await system.send(
                "POST", "/questionnaires/realsingles-profile/sessions", as: person)
            let session = "/questionnaires/realsingles-profile/sessions/" + (opened.json["id"]?.stringValue ?? "")
            let view = try await system.send("GET", session + "/view", as: person).json
            let question = (view["screens"]?.arrayValue ?? []).flatMap { $0["questions"]?.arrayValue ?? [] }
                .first { $0["key"] == "photo" }
            #expect(question?["control"] == "upload" && question?["upload"]?["kind"] == "profile_photo")
            let (href, places) = (
                question?["upload"]?["href"]?.stringValue, question?["upload"]?["placesHref"]?.stringValue
            )

            let media = try await system.uploaded(at: try #require(href), as: person)
            let list = try await system.send(
                "PUT", try #require(places), ["photos": [.string(media)]], as: person)
            let url = try #require(list.json["photos"]?.arrayValue?.first?["url"]?.stringValue)
            let isThere = try await eventually {
                try await system.send("GET", "/users/me", as: person).json["profile"]?["photo"] == .string(url)
            }
            #expect(isThere, "the profile signs the address as verification does")
            let seen = try await system.ask(GetPerson(personId: person.user.id), as: other)
            let shown = try #require(seen.profile["photo"]?.stringValue)
            let served = try await system.picture(shown)
            #expect(served.status == 200 && served.body.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            let answered = try await system.send(
                "PUT", session + "/answers/photo",
                [
                    "mutationId": .string(Identifier.ordered().description), "state": "answered",
                    "value": .string(media),
                ], as: person)
            #expect(answered.status == 200)

            let tag = try #require(try await system.send("GET", "/users/me", as: person).headers["etag"])
            let patched = try await system.send(
                "PATCH", "/users/me", ["bio": "Fika är livet"], as: person, headers: ["If-Match": tag])
            #expect(patched.status == 200, "the tag of a profile with a photo is taken")
            let refused = try await system.send(
                "PATCH", "/users/me", ["photo": "https://cdn.example/a.jpg"], as: person)
            #expect(refused.status == 422 && refused.json["errors"]?.arrayValue?.first?["code"] == "upload_required")

            let removed = try await system.send("DELETE", "/users/me/photos/\(media)", as: person)
            #expect(removed.status == 200)
            #expect(try await system.picture(shown).status == 404, "at once")
            let isEmpty = try await eventually {
                try await system.ask(GetPerson(personId: person.user.id), as: other).profile["photo"] == nil
            }
            #expect(isEmpty)
        }
    }

    @Test func aPhotoReachesAProfileServiceThatWasAway() async throws {
        try await TestSystem.run { system in
            let person = try await system.signIn("+14155550163")
            let media = try await system.uploaded(as: person)
            await system.stop(.profile)
            let list = try await system.send("PUT", "/users/me/photos", ["photos": [.string(media)]], as: person)
            #expect(list.status == 200)
            // Verification ends before it has sent its event. Its successor sends it.
            await system.stop(.verification)
            for service in [ServiceName.verification, .profile] { try await system.start(service) }
            let isThere = try await eventually {
                let me = try await system.send("GET", "/users/me", as: person)
                guard let url = me.json["profile"]?["photo"]?.stringValue else { return false }
                // At first, profile may know the former port, where nobody listens.
                return (try? await system.picture(url))?.status == 200
            }
            #expect(isThere, "the listener has another port now, and profile was told")
        }
    }
}

extension TestSystem {
    /// Uploads a picture.
    ///
    /// - Returns: the ID of the picture.
    fileprivate func uploaded(at href: String = "/media", as person: Session) async throws -> String {
        let picture = [UInt8](
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGOIqjiBFTEMLQkA8ZFmgc2UfccAAAAASUVORK5CYII="
            ) ?? Data())
        while true {
            let promised = try await send(
                "POST", href,
                ["kind": "profile_photo", "contentType": "image/png", "length": .integer(Int64(picture.count))],
                as: person, headers: ["Idempotency-Key": "key-\(Identifier.random())"]
            ).json
            // The listener starts a moment after the service is ready.
            guard let url = promised["uploadUrl"]?.stringValue, url.hasPrefix("http"),
                let parts = URLComponents(string: url), let port = parts.port
            else { continue }
            let head =
                "PUT \(parts.percentEncodedPath)?\(parts.percentEncodedQuery ?? "") HTTP/1.1\r\nHost: h\r\n"
                + "Connection: close\r\nContent-Type: image/png\r\nContent-Length: \(picture.count)\r\n\r\n"
            #expect(try await Exchange(port: port, bytes: Array(head.utf8) + picture).status == 204)
            return promised["mediaId"]?.stringValue ?? ""
        }
    }

    fileprivate func picture(_ url: String) async throws -> Exchange {
        let parts = URLComponents(string: url)
        let target = "\(parts?.percentEncodedPath ?? "")?\(parts?.percentEncodedQuery ?? "")"
        return try await Exchange(
            port: parts?.port ?? 0, request: "GET \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    }
}
