import BusProtocol
import BusRuntime
import Database
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VerificationService

/// The second tier: a document, which reviewers look at.
@Suite @Loop struct IDVerificationTests {
    @Test func withoutTheConsentToADocumentNothingIsKept() async throws {
        try await Verifying.run { verifying in
            let person = Identifier.random()
            for consent in [nil, DocumentConsent(document: false, textVersion: "8", at: .now())] {
                let begun = try await verifying.beginDocument(person, consent)
                #expect(begun.status == "declined" && begun.sessionId == nil && begun.prompts.isEmpty)
                #expect(begun.message == "Din legitimation är inte verifierad. Du kan verifiera den när som helst.")
            }
            let decided = try await verifying.decided.atLeast(2)
            #expect(decided.map(\.outcome) == ["declined", "declined"] && decided.map(\.level) == ["id", "id"])
            for table in ["id_verifications", "verifications", "media"] {
                #expect(try await verifying.stage.rows("SELECT count(*) FROM \(table)") == "0", "\(table)")
            }
        }
    }

    @Test func aVerifiedDocumentsPicturesAreDestroyedKeysFirst() async throws {
        try await Verifying.run(replicas: 2) { verifying in
            let person = Identifier.random()
            let begun = try await verifying.beginDocument(person)
            let session = try #require(begun.sessionId)
            #expect(begun.status == "awaiting_capture" && begun.prompts.map(\.key) == ["light", "front", "back"])
            await #expect(throws: BusError.self, "nothing has arrived") {
                try await verifying.complete(session, person)
            }
            try await verifying.send(session, person)
            let back = try await verifying.promised(session, person, side: "back")
            await #expect(throws: BusError.self, "the back was announced") {
                try await verifying.complete(session, person)
            }
            #expect(try await verifying.media.send(MediaStage.picture, to: back).status == 204)
            let view = try await verifying.complete(session, person)
            #expect(view.status == "manual_review" && view.message.hasPrefix("Vi granskar din legitimation"))
            #expect(verifying.media.files.count == 4)

            let staff = Identifier.random()
            let queue = try await verifying.ask(ListVerificationReviews(), staff, role: .staff).reviews
            #expect(queue.map(\.sessionId) == [session] && queue.map(\.tier) == ["id"])
            let review = try await verifying.ask(GetVerificationReview(sessionId: session), staff, role: .staff)
            for url in [review.captureUrl, review.backUrl] {
                #expect(try await verifying.media.get(try #require(url)).status == 200)
            }
            #expect(try await verifying.stage.rows("SELECT count(*) FROM audit WHERE act = 'capture_seen'") == "1")
            let byPhoto = DecideVerification(sessionId: session, verdict: "verified")
            await #expect(throws: BusError.self, "a document is no photo") {
                try await verifying.ask(byPhoto, staff, role: .staff, key: "1")
            }
            let statistics = VerificationStatistics(verifying.stage.containers[0].database)
            try await statistics.look()
            #expect(statistics.measures["reviews"] == 1 && statistics.measures["captures"] == 2)
            let decision = DecideDocument(sessionId: session, verdict: "verified")
            await #expect(throws: BusError.self, "nobody decides on their own document") {
                try await verifying.ask(decision, person, role: .admin, key: "2")
            }

            // A folder in place of a file cannot be unlinked, so the bytes stay for a while.
            for blob in verifying.media.files where blob.hasPrefix("blobs") {
                let path = "\(verifying.media.folder.path)/\(blob)"
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            _ = try await verifying.ask(decision, staff, role: .staff, key: "a decision of staff")
            let keysAreGone = try await eventually {
                for container in verifying.stage.containers { container.hurry() }
                return verifying.media.files.allSatisfy { !$0.hasPrefix("keys") }
            }
            #expect(keysAreGone && verifying.media.files.count == 2)
            #expect(try await verifying.captures(.document) == 0)
            try await statistics.look()
            #expect(statistics.measures["reviews"] == 0 && statistics.measures["captures"] == 0)
            let decided = try await verifying.decided.atLeast(2)
            #expect(decided.map(\.outcome) == ["in_review", "verified"] && decided.map(\.level) == ["id", "id"])
            #expect(try await verifying.notices.atLeast(1).map(\.kind) == ["verification_decided"])
            #expect(try await verifying.ask(GetVerification(sessionId: session), person).status == "verified")
            #expect(try await verifying.beginDocument(person).status == "verified")
            let row = try await verifying.stage.rows(
                "SELECT consent_version, consent_locale, media_id, back_media_id, verified_at IS NOT NULL FROM id_verifications"
            )
            #expect(row == "8|sv|||t")
            let records = try await verifying.ask(ExportVerification(after: nil), person).records
            #expect(records.contains { $0.contains("id_verifications") })
            #expect(records.count == 2, "the verification, and how many uploads there were today")
        }
    }

    @Test func aRejectionCostsATryAndTheClockGivesItBack() async throws {
        try await Verifying.run { verifying in
            let (person, session) = try await verifying.documentInReview()
            let decision = DecideDocument(sessionId: session, verdict: "rejected")
            _ = try await verifying.ask(decision, .random(), role: .staff, key: "a decision of staff")
            let view = try await verifying.ask(GetVerification(sessionId: session), person)
            #expect(view.status == "rejected" && view.attemptsLeft == 2)
            let again = try await verifying.documentInReview(person).session
            try await verifying.passTime("24 h", .id)
            #expect(
                try await verifying.decided.atLeast(4).map(\.outcome) == ["in_review", "failed", "in_review", "failed"])
            let late = try await verifying.ask(GetVerification(sessionId: again), person)
            #expect(late.status == "expired" && late.attemptsLeft == 2)
            #expect(try await verifying.captures(.document) == 0)
        }
    }

    @Test func aWithdrawalOfOneTierLeavesTheOtherAlone() async throws {
        try await Verifying.run { verifying in
            let (person, photo) = try await verifying.uploaded()
            _ = try await verifying.complete(photo, person)
            _ = try await verifying.decided.atLeast(1)
            let document = try await verifying.documentInReview(person).session
            _ = try await verifying.ask(WithdrawDocumentConsent(), person)
            let decided = try await verifying.decided.atLeast(3).map { "\($0.level) \($0.outcome)" }
            #expect(decided == ["photo verified", "id in_review", "id declined"])
            #expect(try await verifying.captures(.document) == 0)
            #expect(try await verifying.ask(GetVerification(sessionId: document), person).status == "declined")
            #expect(try await verifying.ask(GetVerification(sessionId: photo), person).status == "verified")
            let consents = try await verifying.stage.rows(
                "SELECT v.is_consent_in_force, i.is_consent_in_force FROM verifications v JOIN id_verifications i USING (person_id)"
            )
            #expect(consents == "t|f")
            _ = try await verifying.documentInReview(person)
            _ = try await verifying.ask(WithdrawVerificationConsent(), person)
            #expect(try await verifying.captures(.document) == 2, "and so does that of a photo")
        }
    }

    @Test func theStatementsOfTheFormerReleaseStillWork() async throws {
        try await Verifying.run(judge: "staff") { verifying in
            let (person, session) = try await verifying.documentInReview()
            for tries in 1...2 {
                try await verifying.stage.rows(
                    """
                    INSERT INTO verifications AS v (person_id, session_id, status, is_consent_in_force, consent_version,
                        consent_locale, consent_given_at, tries, begun, counted_from, media_id, since, changed_at, verified_at,
                        provider_session)
                    SELECT '\(person)', '\(person)', 'verified', true, '7', 'sv', now(), \(tries), 1, now(), NULL, NULL, now(),
                        now(), NULL WHERE NOT is_erased('\(person)')
                    ON CONFLICT (person_id) DO UPDATE SET session_id = excluded.session_id, status = excluded.status,
                        tries = excluded.tries, verified_at = excluded.verified_at
                    """)
            }
            let kept = "SELECT tries FROM verifications WHERE person_id = '\(person)' AND status = 'verified'"
            #expect(try await verifying.stage.rows(kept) == "2")
            #expect(try await verifying.ask(GetVerification(sessionId: person), person).status == "verified")
            #expect(try await verifying.ask(GetVerification(sessionId: session), person).status == "manual_review")
        }
    }
}
