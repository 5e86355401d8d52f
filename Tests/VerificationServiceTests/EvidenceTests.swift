import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VerificationService

@Suite("evidence in recovery cases") @Loop struct EvidenceTests {
    @Test func evidenceBelongsToNoPersonAndIsDestroyedAfter30Days() async throws {
        try await MediaStage.run { media in
            let (caseID, other) = (Identifier.ordered(), Identifier.ordered())
            let sent = try await media.sentEvidence(caseID, "claimant")
            _ = try await media.sentEvidence(caseID, "owner")
            let pictures = try await media.evidence(of: caseID)
            #expect(pictures.map(\.side) == ["claimant", "owner"] && pictures[0].mediaID == sent)
            #expect(try await media.evidence(of: other).isEmpty)
            #expect(media.files.filter { $0.hasPrefix("keys/captures/") }.count == 2, "no backup has their keys")
            let shown = try await media.get(pictures[0].url)
            #expect(shown.status == 200 && shown.headers["cache-control"] == "no-store")
            #expect(shown.body.firstRange(of: Array(MediaStage.canary.utf8)) == nil)
            // Neither the comment in the picture nor an address is written down.
            let kept = try await media.everything() + media.stage.log.text
            let picture = Data(MediaStage.small.suffix(60).prefix(30)).map { String(format: "%02x", $0) }.joined()
            let signature = try #require(pictures[0].url.split(separator: "signature=").last).description
            for canary in [MediaStage.canary, picture, signature] { #expect(!kept.contains(canary)) }
            #expect(
                try await media.stage.rows(
                    "SELECT DISTINCT person_id IS NULL, expires_at > now() + interval '29 days',"
                        + " expires_at <= now() + interval '30 days' FROM media") == "t|t|t")
            for person in [caseID, sent, other] {
                #expect(try await media.ask(ExportVerification(after: nil), person).records.isEmpty)
            }
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            try await media.untilDestroyed()
            #expect(media.files.isEmpty)
            #expect(try await media.get(pictures[0].url).status == 404)
        }
    }

    /// How far an upload was when the case ended.
    enum Progress: CaseIterable { case promised, arriving, stored }

    /// The sender must not notice that the case ended. A replica may be killed at these stages too, since rows hold
    /// each step.
    @Test(arguments: Progress.allCases) func aPictureIsDestroyedAtEachStageWhenItsCaseEnds(_ progress: Progress)
        async throws
    {
        try await MediaStage.run { media in
            let caseID = Identifier.ordered()
            let kept = try await media.sentEvidence(.ordered(), "claimant")
            let upload = try await media.promisedEvidence(caseID, "claimant")
            switch progress {
            case .promised: try await media.end(caseID)
            case .arriving:
                try await media.stage.rows("UPDATE media SET state = 'arriving' WHERE case_id = '\(caseID)'")
                try await media.end(caseID)
                try await media.vault.put(MediaStage.picture, upload.id, .recoveryEvidence)
                let length = MediaStage.picture.count
                #expect(try await media.store.store(upload.id, .recoveryEvidence, length: length))
            case .stored: #expect(try await media.send(MediaStage.picture, to: upload.url).status == 204)
            }
            if progress == .promised {
                #expect(try await media.send(MediaStage.picture, to: upload.url).status == 204, "as in any other case")
            }
            if progress == .stored {
                let seen = try await media.evidence(of: caseID)
                try await media.end(caseID)
                #expect(try await media.get(seen[0].url).status == 404, "at once")
            }
            #expect(try await media.evidence(of: caseID).isEmpty)
            try await media.untilDestroyed()
            #expect(media.files.count == 2 && media.files.allSatisfy { $0.hasSuffix("\(kept)") })
            let reason = progress == .stored ? "case_over" : "expired"
            #expect(
                try await media.stage.rows("SELECT details::jsonb->>'media', details::jsonb->>'reason' FROM audit")
                    == "\(upload.id)|\(reason)")
        }
    }

    @Test func aRepeatedRequestGetsTheSameUpload() async throws {
        try await MediaStage.run { media in
            let request = PromiseEvidence(
                mediaID: .random(), caseID: .ordered(), side: "owner", contentType: "image/png", length: 10)
            let recovery = try media.stage.asking(as: .recovery)
            let first = try await recovery.call(request, CallOptions(timeout: .seconds(10)))
            #expect(try await recovery.call(request, CallOptions(timeout: .seconds(10))) == first)
            #expect(try await media.stage.rows("SELECT count(*) FROM media") == "1")
        }
    }
}

extension MediaStage {
    /// An upload whose address is at the listener of a replica.
    func promisedEvidence(_ caseID: Identifier, _ side: String) async throws -> (id: Identifier, url: String) {
        // This waits for the listener, which starts a moment after the replica is ready.
        _ = try await promised(.random())
        try await stage.rows("DELETE FROM media WHERE person_id IS NOT NULL; DELETE FROM upload_counts")
        let request = PromiseEvidence(
            mediaID: .random(), caseID: caseID, side: side, contentType: "image/png",
            length: Int64(MediaStage.picture.count))
        let upload = try await stage.asking(as: .recovery).call(request, CallOptions(timeout: .seconds(10)))
        return (request.mediaID, upload.uploadURL)
    }

    func sentEvidence(_ caseID: Identifier, _ side: String) async throws -> Identifier {
        let upload = try await promisedEvidence(caseID, side)
        guard try await send(Self.picture, to: upload.url).status == 204 else { throw URLError(.badServerResponse) }
        return upload.id
    }

    func evidence(of caseID: Identifier) async throws -> [EvidenceList.Picture] {
        try await stage.asking(as: .recovery).call(
            ListEvidence(caseID: caseID), CallOptions(timeout: .seconds(10))
        ).pictures
    }

    /// Recovery's word that nobody may see the pictures of a case any more.
    func end(_ caseID: Identifier) async throws {
        _ = try await stage.asking(as: .recovery).call(
            EvidenceEnded(personID: caseID, personSequence: 1), CallOptions(timeout: .seconds(10)))
    }
}
