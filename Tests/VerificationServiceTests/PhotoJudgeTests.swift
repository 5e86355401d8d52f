import BusProtocol
import Database
import EventLoop
import Foundation
import HTTPServer
import JSONText
import ProviderHTTP
import ServiceRuntime
import TestSupport
import Testing

@testable import VerificationService

@Suite("judges of photos of profiles") @Loop struct PhotoJudgeTests {
    private static let key = "a key that only the test has, 32+"

    /// The service with a judge of photos.
    nonisolated private static func run(
        _ manner: ProviderServer.Manner, replicas: Int = 1,
        _ body: @escaping @Loop @Sendable (Verifying, ProviderServer) async throws -> Void
    ) async throws {
        let server = try await ProviderServer(manner)
        let variables = await [
            "VERIFICATION_MODERATION": "webhook", "VERIFICATION_MODERATION_URL": server.url + "/photos",
            "VERIFICATION_MODERATION_KEY": key,
        ]
        try await Verifying.run(replicas: replicas, variables: variables) { try await body($0, server) }
        await server.stop()
    }

    nonisolated private static func says(_ verdict: String) -> ProviderServer.Manner {
        .answers(status: 200, body: #"{"verdict": "\#(verdict)"}"#)
    }
    nonisolated private static let later = ProviderServer.Manner.answers(status: 202, body: "")

    @Test func theJudgeGetsASignedQuestionAndItsApprovalShowsThePhoto() async throws {
        try await Self.run(Self.later) { verifying, server in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            let list = try await media.ask(PutPhotos(photos: [photo]), person).photos
            #expect(list.map(\.state) == ["pending"])
            #expect(try await eventually { !server.requests.isEmpty })
            let request = try #require(server.requests.first)
            let headers = request.head.headers
            #expect(request.head.method == "POST" && request.head.path == "/photos")
            #expect(headers.first("idempotency-key") == photo.description)
            let timestamp = try #require(headers.first("vestibule-timestamp"))
            let signed = Array("\(timestamp).".utf8) + request.body
            let code = try OpenSSL.run(["dgst", "-sha256", "-hmac", Self.key, "-r"], signed).prefix(64)
            #expect(headers.first("vestibule-signature") == "v1=\(code)")
            let question = try JSONValue.parse(request.body)
            #expect(question["media"]?.stringValue == photo.description)
            #expect(question["contentType"]?.stringValue == "image/png")
            #expect(!String(decoding: request.body, as: UTF8.self).contains(person.description))
            let picture = try await media.get(try #require(question["pictureUrl"]?.stringValue))
            #expect(picture.status == 200 && picture.headers["content-type"] == "image/png")
            // Reviewers are not asked as long as the judge is.
            #expect(try await verifying.ask(ListPhotoReviews(), .random(), role: .staff).photos.isEmpty)
            #expect(verifying.shown.heard.isEmpty)
            server.manner = Self.says("approved")
            #expect(try await verifying.soon { !verifying.shown.heard.isEmpty })
            #expect(try await media.ask(GetPhotos(), person).photos.map(\.state) == ["approved"])
            #expect(server.requests.allSatisfy { $0.head.headers.first("idempotency-key") == photo.description })
            #expect(
                try await verifying.stage.rows("SELECT details FROM audit WHERE act = 'photo_judged'")
                    == #"{"media":"\#(photo)","verdict":"approved"}"#)
            #expect(!verifying.stage.log.text.contains("signature="))
            // The verdict is told before its question is deleted.
            #expect(try await eventually { try await verifying.stage.rows(Self.waiting) == "0" })
            // The order is no question.
            let count = server.requests.count
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            #expect(try await verifying.stage.rows(Self.waiting) == "0" && server.requests.count == count)
        }
    }

    @Test func aRejectedPhotoIsSeenByItsOwnerAlone() async throws {
        try await Self.run(Self.says("rejected")) { verifying, _ in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            let notices = try await verifying.notices.atLeast(1)
            #expect(notices.map(\.personID) == [person] && notices.map(\.kind) == ["photo_refused"])
            let refused = try #require(try await media.ask(GetPhotos(), person).photos.first)
            #expect(refused.state == "refused" && verifying.shown.heard.isEmpty)
            #expect(try await media.get(refused.url).status == 200)
            // Its owner could pass the address on.
            let query = SignedQuery(refused.url.split(separator: "?").last.map { String($0) })
            let expires = try #require(query["expires"].flatMap { Int64($0) })
            #expect(expires <= Timestamp.now().microsecondsSinceEpoch / 1_000_000 + 600)
        }
    }

    /// What the judge does, and how often it is asked.
    nonisolated static let undecided: [(ProviderServer.Manner, Int)] = [
        (says("review"), 1), (.answers(status: 503, body: "the person's face"), 9), (says("verified"), 9),
    ]

    @Test(arguments: undecided.indices) func reviewersDecidePhotosThatTheJudgeLeavesUndecided(_ index: Int) async throws
    {
        let (manner, asked) = Self.undecided[index]
        try await Self.run(manner) { verifying, server in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            let isListed = try await verifying.soon {
                try await verifying.ask(ListPhotoReviews(), .random(), role: .staff).photos.map(\.mediaId) == [photo]
            }
            #expect(isListed && server.requests.count == asked)
            // Not `face` alone, which the random ids of traces may contain.
            #expect(!verifying.stage.log.text.contains("the person"))
            let decision = DecidePhoto(mediaId: photo, verdict: "approved")
            _ = try await verifying.ask(decision, .random(), role: .staff, key: "a decision of staff")
            #expect(try await verifying.shown.atLeast(1).count == 1)
        }
    }

    @Test func aReplicaKilledDuringAJudgeRequestLosesNone() async throws {
        try await Self.run(.hangs, replicas: 0) { verifying, server in
            let media = verifying.media
            let environment = verifying.stage.environment.merging(["LOG_LEVEL": "error"]) { $1 }
            let victim = try ServiceProgram("VerificationService", environment)
            let person = Identifier.random()
            #expect(try await eventually { (try? await media.ask(GetPhotos(), person)) != nil })
            let photo = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            #expect(try await eventually { !server.requests.isEmpty })
            victim.killAtOnce()
            server.manner = Self.says("approved")
            try await verifying.stage.addReplica()
            try await verifying.stage.untilReady()
            // What the killed one had in hand is free at once, and not when its thirty seconds are over.
            try await verifying.stage.rows("UPDATE outbox SET locked_until = NULL")
            #expect(try await verifying.soon { !verifying.shown.heard.isEmpty })
            #expect(server.requests.count == 2)
        }
    }

    @Test func aPhotoUnjudgedFor25HoursIsListedForReviewers() async throws {
        try await Self.run(Self.later) { verifying, server in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            #expect(try await eventually { !server.requests.isEmpty })
            let statistics = VerificationStatistics(verifying.stage.containers[0].database)
            for (hours, waiting) in [(24, []), (26, [photo])] {
                try await verifying.stage.rows(
                    "UPDATE media SET judge_asked_at = now() - interval '\(hours) hours'")
                let list = try await verifying.ask(ListPhotoReviews(), .random(), role: .staff).photos
                #expect(list.map(\.mediaId) == waiting)
                try await statistics.look()
                #expect(statistics.measures["reviews"] == Double(waiting.count))
            }
        }
    }

    @Test func aDeletedPhotosQuestionToTheJudgeIsDropped() async throws {
        try await Self.run(Self.later) { verifying, server in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            _ = try await media.ask(PutPhotos(photos: [photo]), person)
            #expect(try await eventually { !server.requests.isEmpty })
            _ = try await media.ask(DeletePhoto(mediaId: photo), person)
            #expect(try await verifying.soon { try await verifying.stage.rows(Self.waiting) == "0" })
            #expect(verifying.shown.heard.isEmpty && verifying.notices.heard.isEmpty)
        }
    }

    @Test func withoutAJudgeItsPendingPhotosGoToReviewers() async throws {
        try await Verifying.run(variables: ["VERIFICATION_MODERATION": "staff"]) { verifying in
            let (media, person) = (verifying.media, Identifier.random())
            let photo = try await media.arrived(person)
            let container = try #require(verifying.stage.containers.first)
            let photos = PhotoStore(media: media.store, keys: container.keys)
            // As the replica of another configuration would.
            var workflow = PhotoWorkflow(
                photos: photos, outbox: container.outbox, audit: container.audit, unseen: .pending)
            let url = try #require(URL(string: "http://127.0.0.1:1"))
            workflow.judge = PhotoJudge(webhook: PictureWebhook(webhook: Webhook(url: url, key: [1]), photos: photos))
            _ = try await container.outbox.awaitingDelivery { watch in
                try await container.database.transaction {
                    try await workflow.setOrder(of: person, watch: watch, in: $0) { _ in [photo] }
                }
            }
            let isListed = try await verifying.soon {
                try await verifying.ask(ListPhotoReviews(), .random(), role: .staff).photos.map(\.mediaId) == [photo]
            }
            #expect(isListed)
        }
    }

    @Test func aJudgeUndecidedForADayGivesThePhotoToReviewers() {
        let asked = Timestamp.now()
        #expect(PhotoOpinion.later.after(asked, at: asked + .seconds(86_399)) == .later)
        #expect(PhotoOpinion.later.after(asked, at: asked + .seconds(86_400)) == .review)
        #expect(PhotoOpinion.decided(.refused).after(asked, at: asked + .seconds(90_000)) == .decided(.refused))
        #expect(PhotoOpinion(verdict: "rejected") == .decided(.refused))
        #expect(PhotoOpinion(verdict: "approved") == .decided(.approved))
        #expect(PhotoOpinion(verdict: "review") == .review)
        for word in ["pending", "refused", "later", ""] { #expect(PhotoOpinion(verdict: word) == nil) }
    }

    @Test func anUnsafeConfigurationIsRefused() async throws {
        let (url, media) = ("VERIFICATION_MODERATION_URL", "VERIFICATION_MEDIA")
        let right = [
            "VESTIBULE_PROFILE": "production", url: "https://judge.example/", media: "https://api.example",
            "VERIFICATION_MODERATION_KEY": Self.key, "VERIFICATION_JUDGE": "staff",
        ]
        try await Self.run(Self.later) { verifying, _ in
            let wrong = [url: "http://judge.example/", media: "", "VERIFICATION_MODERATION_KEY": "short"]
            for change in wrong.map({ [$0.key: $0.value] }) + [[url: ""]] {
                let environment = verifying.stage.environment.merging(right) { $1 }.merging(change) { $1 }
                let error = #expect(throws: ConfigurationError.self) {
                    _ = try ServiceContainer(verifying.stage.definition, environment: environment) { _ in }
                }
                #expect(error?.description.contains(change.keys.first ?? "") == true)
            }
        }
    }

    private static let waiting = "SELECT count(*) FROM outbox WHERE destination = 'photo-judge'"
}
