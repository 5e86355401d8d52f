import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import ProfileService

@Suite("the photo that stands for a person") struct ProfilePhotoTests {
    @Test func anEventSetsThePhotoAndAnOlderOneIsIgnored() async throws {
        try await ProfileStage.run { profile in
            try await profile.update(["displayName": "Zoë"])
            let before = try await profile.ask(GetMe())
            #expect(before.profile["photo"] == nil && before.entityTag == EntityTag(revision: before.revision))
            try await profile.showPhoto("https://h/photos/2", sequence: 2)
            let me = try await profile.ask(GetMe())
            let url = try #require(me.profile["photo"]?.stringValue)
            #expect(url.hasPrefix("https://h/photos/2?expires=") && me.revision == before.revision + 1)
            #expect(url == ProfilePhoto(address: "https://h/photos/2", key: ProfileStage.photoKey).url(at: .now()))
            #expect(try await profile.ask(GetPerson(personId: profile.person)).profile["photo"] == .string(url))
            #expect(try await profile.ask(GetRequirements()).match.eventuallyDue == ["bio"], "the plan has its photo")
            try await profile.showPhoto("https://h/photos/1", sequence: 1)
            try await profile.showPhoto(nil, sequence: 2)
            #expect(try await profile.ask(GetMe()) == me)
            try await profile.showPhoto(nil, sequence: 3)
            #expect(try await profile.ask(GetRequirements()).match.eventuallyDue == ["photo", "bio"])
            #expect(try await profile.ask(GetMe()).profile["photo"] == nil)
            #expect(try await profile.ask(GetPerson(personId: profile.person)).profile["photo"] == nil)
        }
    }

    @Test func theAddressAndTheEntityTagAreThoseOfTheDay() throws {
        let photo = ProfilePhoto(address: "/photos/1", key: ProfileStage.photoKey)
        let day = Timestamp(microsecondsSinceEpoch: 20_417 * 86_400_000_000)
        #expect(photo.url(at: day) == photo.url(at: day + .seconds(86_399)))
        let next = photo.url(at: day + .seconds(86_400))
        #expect(photo.url(at: day) != next && photo.url(at: day).contains("expires=\(20_419 * 86_400)&"))
        var record = ProfileRecord(personID: .random(), createdAt: day, updatedAt: day)
        record.show(photo, at: day)
        #expect(record.fields["photo"] == .answered(.string(photo.url(at: day))))
        record.show(nil, at: day)
        #expect(record.fields["photo"] == nil)
    }

    @Test func noAddressIsTakenAndOnlyTheUploadFillsTheField() async throws {
        try await ProfileStage.run { profile in
            for value in ["https://cdn.example/a.jpg", .string(Identifier.random().description), 7] as [JSONValue] {
                let refused = try await profile.refusal(of: UpdateMe(fields: ["photo": value]))
                #expect(refused.code == "validation_failed")
                #expect(refused.errors?.map { "\($0.field) \($0.code)" } == ["photo upload_required"])
            }
            #expect(try await profile.update(["photo": nil]).profile["photo"] == nil)
            _ = try await profile.ask(SkipField(field: "photo"))
            try await profile.showPhoto("https://h/photos/1", sequence: 1)
            let me = try await profile.ask(GetMe())
            #expect(me.skippedFields.isEmpty)
            let echoed = try await profile.update(
                ["photo": me.profile["photo"] ?? .null, "bio": "Hej"], ifMatch: me.entityTag?.quoted)
            #expect(echoed.profile["bio"] == "Hej", "an app may send the whole profile back")
            #expect(try await profile.refusal(of: UpdateMe(fields: ["photo": nil])).code == "validation_failed")
            let skip = SkipField(field: "photo", clear: true)
            #expect(try await profile.refusal(of: skip).code == "has_value")
            let stale = UpdateMe(fields: ["bio": "Nej"], ifMatch: me.entityTag?.quoted)
            #expect(try await profile.refusal(of: stale).code == "precondition_failed")
        }
    }

    @Test func anAnswerMayNameAnUploadAndFillsNothing() async throws {
        try await ProfileStage.run { profile in
            let questionnaire = try profile.stage.asking(as: .questionnaire)
            let upload = ProfileExtract(field: "photo", value: .string(Identifier.random().description))
            let judged = try await questionnaire.call(
                JudgeAnswers(personID: profile.person, answers: [upload]), CallOptions(timeout: .seconds(10)))
            #expect(judged.refused.isEmpty)
            let record = ProfileRecord(personID: profile.person, createdAt: .now(), updatedAt: .now())
            let fields = ExtractedFields(
                [upload, ProfileExtract(field: "photo", value: "https://cdn.example/a.jpg")], to: record, .shipped,
                today: Timestamp.now().date)
            #expect(fields.change.isEmpty && fields.leftOut.isEmpty)
        }
    }

    @Test func formerPhotoAddressesAreHiddenAndDroppedWithANotice() async throws {
        try await ProfileStage.run { profile in
            let recorder = EventRecorder<NotifyPerson>()
            try profile.stage.answering(as: .auth, recorder)
            try await profile.update(["displayName": "Zoë"])
            let skipping = Identifier.random()
            try await profile.stage.rows(
                """
                UPDATE profiles SET fields = fields
                    || '{"photo": {"state": "answered", "value": "https://cdn.example/a.jpg"}}';
                INSERT INTO profiles (person_id, fields) VALUES ('\(skipping)', '{"photo": {"state": "skipped"}}')
                """)
            let hidden = try await profile.ask(GetMe())
            #expect(hidden.profile["photo"] == nil && hidden.profile["displayName"] == "Zoë")
            #expect(try await profile.ask(GetPerson(personId: profile.person)).profile["photo"] == nil)
            let container = profile.stage.containers[0]
            let former = FormerPhotos(database: container.database, outbox: container.outbox)
            for _ in 0..<2 { try await former.drop() }
            let heard = try await recorder.atLeast(1)
            #expect(heard.map(\.personID) == [profile.person] && heard.map(\.kind) == ["photo_dropped"])
            #expect(try await profile.stage.rows("SELECT last FROM outbox_sequences") == "1", "told once")
            let left = "SELECT count(*) FROM profiles WHERE fields::text LIKE '%cdn.example%'"
            #expect(try await profile.stage.rows(left) == "0")
            let skipped = "SELECT count(*) FROM profiles WHERE fields -> 'photo' ->> 'state' = 'skipped'"
            #expect(try await profile.stage.rows(skipped) == "1")
            #expect(try await profile.ask(GetMe()).revision == hidden.revision + 1)
        }
    }
}

extension ProfileStage {
    nonisolated static let photoKey = AddressKey([UInt8](repeating: 7, count: 32))

    /// Tells the service which photo stands for the person, as verification does.
    func showPhoto(_ address: String?, sequence: Int64) async throws {
        let event = PhotoChanged(
            personID: person, personSequence: sequence,
            photo: address.map { .init(address: $0, key: Base64URL.encode(Self.photoKey.bytes)) }, at: .now())
        _ = try await stage.asking(as: .verification).call(event, CallOptions(timeout: .seconds(10)))
    }
}
