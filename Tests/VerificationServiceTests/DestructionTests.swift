import BusProtocol
import BusRuntime
import Database
import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VerificationService

@Suite @Loop struct DestructionTests {
    /// What a replica leaves that is killed between two steps.
    enum Step: CaseIterable { case nothing, key, bytes }

    @Test(arguments: Step.allCases) func aDestructionResumesAfterAnInterruption(_ step: Step) async throws {
        try await MediaStage.run { media in
            let id = try await media.arrived(.random())
            let (key, blob) = (
                media.files.filter { $0.hasPrefix("keys") }, media.files.filter { $0.hasPrefix("blobs") }
            )
            #expect(key.count == 1 && blob.count == 1)
            if step != .nothing { try FileManager.default.removeItem(atPath: "\(media.folder.path)/\(key[0])") }
            if step == .bytes { try FileManager.default.removeItem(atPath: "\(media.folder.path)/\(blob[0])") }
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            try await media.untilDestroyed()
            #expect(media.files.isEmpty)
            #expect(
                try await media.stage.rows("SELECT act, details FROM audit WHERE chain = 'service'")
                    == #"media_destroyed|{"media":"\#(id)","purpose":"profile_photo","reason":"expired"}"#)
        }
    }

    @Test func theKeyIsDestroyedFirstAndAFailureIsRetried() async throws {
        try await MediaStage.run { media in
            let id = try await media.arrived(.random())
            let blob = "\(media.folder.path)/\(media.files.filter { $0.hasPrefix("blobs") }[0])"
            // A folder in place of the file cannot be unlinked.
            try FileManager.default.removeItem(atPath: blob)
            try FileManager.default.createDirectory(atPath: blob, withIntermediateDirectories: false)
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            #expect(
                try await eventually {
                    media.stage.containers[0].hurry()
                    return media.files.allSatisfy { !$0.hasPrefix("keys") }
                })
            #expect(try await media.stage.rows("SELECT media_id FROM destructions") == "\(id)", "it is still due")
            try FileManager.default.removeItem(atPath: blob)
            try await media.stage.rows("UPDATE destructions SET due_at = now()")
            try await media.untilDestroyed()
        }
    }

    @Test func anUnremovablePictureDoesNotHoldUpOthers() async throws {
        try await MediaStage.run { media in
            _ = try await media.arrived(.random())
            let blob = "\(media.folder.path)/\(media.files.filter { $0.hasPrefix("blobs") }[0])"
            try FileManager.default.removeItem(atPath: blob)
            try FileManager.default.createDirectory(atPath: blob, withIntermediateDirectories: false)
            let other = try await media.arrived(.random())
            try await media.stage.rows("UPDATE media SET expires_at = now() - interval '1 s'")
            #expect(
                try await eventually {
                    media.stage.containers[0].hurry()
                    // One row is left, that of the picture that cannot be removed, and it is to be tried again.
                    return try await media.stage.rows("SELECT due_at > now() FROM destructions") == "t"
                })
            #expect(media.files.allSatisfy { !$0.hasSuffix("\(other)") })
            #expect(media.stage.log.text.contains("media_not_destroyed"))
        }
    }

    @Test func afterAnOutageManyRowsEndAndALockedOneHoldsUpNone() async throws {
        try await MediaStage.run { media in
            let locked = try await media.arrived(.random())
            let other = try await media.arrived(.random())
            try await media.store.database.transaction { transaction in
                _ = try await transaction.query("SELECT 1 FROM media WHERE media_id = $1 FOR UPDATE", [.uuid(locked)])
                try await media.stage.rows(
                    """
                    INSERT INTO media (media_id, person_id, purpose, content_type, length, expires_at)
                    SELECT gen_random_uuid(), gen_random_uuid(), 'profile_photo', 'image/png', 1, now() - interval '1 h'
                    FROM generate_series(1, 2100)
                    """)
                try await media.stage.rows(
                    "UPDATE media SET expires_at = now() WHERE media_id <> '\(locked)' AND state = 'stored'")
                #expect(
                    try await eventually {
                        media.stage.containers[0].hurry()
                        return media.files.allSatisfy { !$0.hasSuffix("\(other)") }
                    })
                #expect(try await media.stage.rows("SELECT media_id FROM media") == "\(locked)")
            }
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            try await media.untilDestroyed()
        }
    }

    @Test func foldersOfAnotherDatabaseAreNotTouched() async throws {
        try await MediaStage.run { media in
            let vault = media.vault
            let home = try await media.stage.rows("SELECT id FROM picture_home")
            #expect(try await vault.belongs(to: home))
            #expect(try await !vault.belongs(to: "\(Identifier.random())"))
            let folder = media.folder.path + "/new"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let other = MediaVault(
                blobs: MediaFolder(path: folder), keyStore: media.keys, arrivals: folder,
                keys: media.stage.containers[0].keys)
            #expect(try await !other.belongs(to: "\(Identifier.random())"), "neither with one new folder of the two")
            #expect(try await other.belongs(to: home), "the new folder was left as it was")
        }
    }

    @Test func aPictureRemovedDuringItsUploadIsDestroyed() async throws {
        try await MediaStage.run { media in
            let upload = try await media.promised(.random())
            try await media.stage.rows(
                "UPDATE media SET state = 'arriving', expires_at = now() + interval '10 minutes'")
            let store = media.store
            try await store.database.transaction { transaction in
                store.destroy(upload.mediaId, because: "removed", in: transaction)
            }
            #expect(try await media.stage.rows("SELECT due_at > now() FROM destructions") == "t", "it is still written")
            // Its key was looked for before it was written.
            try await media.stage.rows("UPDATE destructions SET key_destroyed_at = now()")
            try await media.vault.put(MediaStage.picture, upload.mediaId, .profilePhoto)
            #expect(try await !store.store(upload.mediaId, .profilePhoto, length: MediaStage.picture.count))
            try await media.untilDestroyed()
            #expect(media.files.isEmpty)
        }
    }

    @Test func theDeletionOfAnAccountDestroysItsPictures() async throws {
        try await MediaStage.run { media in
            let (person, other) = (Identifier.random(), Identifier.random())
            _ = try await media.arrived(person)
            let kept = try await media.arrived(other)
            _ = try await media.promised(person)
            let deleted = AccountDeleted(personID: person, personSequence: 1, deletedAt: .now())
            var rules = AccountDeleted.rules
            rules.service = .verification
            _ = try await media.stage.asking(as: .auth).callRaw(
                type: AccountDeleted.type, version: 1, rules: rules, body: try WireJSON.encode(deleted),
                CallOptions(timeout: .seconds(10)))
            try await media.untilDestroyed()
            #expect(try await media.stage.rows("SELECT media_id FROM media") == "\(kept)")
            #expect(media.files.count == 2)
        }
    }

    @Test func theRowOfARestoredDatabaseShowsNothing() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let photo = try await media.arrived(person)
            let shown = try await media.ask(PutPhotos(photos: [photo]), person)
            let backup = try await media.stage.rows("SELECT row_to_json(m) FROM media m")
            _ = try await media.ask(DeletePhoto(mediaId: photo), person)
            try await media.untilDestroyed()
            try await media.stage.rows(
                "INSERT INTO media SELECT (json_populate_record(NULL::media, '\(backup)')).*")
            #expect(try await media.ask(GetPhotos(), person) == shown)
            #expect(try await media.get(shown.photos[0].url).status == 404)
            #expect(try await media.get(shown.photos[0].url, ifNoneMatch: "\"\(photo)\"").status == 404)
        }
    }

    @Test func aFileThatNoRowKnowsIsDestroyed() async throws {
        try await MediaStage.run { media in
            let kept = try await media.arrived(.random())
            _ = try await media.arrived(.random())
            try await media.stage.rows("DELETE FROM media WHERE media_id <> '\(kept)'")
            media.stage.containers[0].hurry()
            #expect(media.files.count == 4, "it may still be arriving")
            for file in media.files {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -7200)],
                    ofItemAtPath: "\(media.folder.path)/\(file)")
            }
            #expect(
                try await eventually {
                    media.stage.containers[0].hurry()
                    return media.files.count == 2
                })
            #expect(media.files.allSatisfy { $0.hasSuffix("\(kept)") })
        }
    }
}

extension MediaStage {
    var store: MediaStore {
        let container = stage.containers[0]
        return MediaStore(database: container.database, keys: container.keys, origin: MediaOrigin(base: ""))
    }

    var vault: MediaVault {
        MediaVault(
            blobs: MediaFolder(path: blobs), keyStore: keys, arrivals: blobs, keys: stage.containers[0].keys)
    }

    /// Waits until no destruction is due any more.
    func untilDestroyed() async throws {
        let done = try await eventually {
            stage.containers[0].hurry()
            return try await stage.rows(
                "SELECT (SELECT count(*) FROM destructions) + (SELECT count(*) FROM media WHERE expires_at <= now())")
                == "0"
        }
        #expect(done)
    }
}
