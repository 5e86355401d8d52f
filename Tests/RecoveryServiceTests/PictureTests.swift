import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import RecoveryService

@Suite("pictures of both sides") struct PictureTests {
    @Test func eachSideHasItsLimitsAndItsTime() {
        typealias Refusal = PicturePolicy.Refusal
        for status in CaseStatus.allCases {
            let isOpen = [.identityRequired, .inReview, .contested].contains(status)
            let refusal: Refusal? = isOpen ? nil : status == .held ? .tooEarly : .tooLate
            #expect(
                refused { () throws(Refusal) in
                    try PicturePolicy.admitClaimant(seeing: status, isProven: true)
                } == refusal, "\(status)")
            let ofOwner: Refusal? = status == .contested ? nil : status.isClosed ? .tooLate : .tooEarly
            #expect(refused { () throws(Refusal) in try PicturePolicy.admitOwner(in: status) } == ofOwner, "\(status)")
        }
        #expect(
            refused { () throws(Refusal) in
                try PicturePolicy.admitClaimant(seeing: .inReview, isProven: false)
            } == .notProven)
        for (all, today, refusal) in [(30, 10, nil), (31, 1, Refusal.tooMany), (11, 11, .tooManyToday)] {
            #expect(
                refused { () throws(Refusal) in
                    try PicturePolicy.count(all: Int64(all), today: Int64(today))
                } == refusal)
        }
    }

    private func refused(_ body: () throws(PicturePolicy.Refusal) -> Void) -> PicturePolicy.Refusal? {
        do throws(PicturePolicy.Refusal) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func aClaimantSendsPicturesForAWhileAfterACode() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "recovery_not_ready")
            #expect(recovery.codes.used.isEmpty, "no code is used up in vain")
            try await recovery.endHolds()
            #expect(await recovery.outcome(ofPicture: claim) == "reauthentication_required")
            #expect(await recovery.outcome(ofPicture: claim, code: RecoveryStage.wrongCode) == "otp_invalid")
            #expect(await recovery.outcome(ofPicture: claim) == "reauthentication_required")
            #expect(recovery.pictures.promised.isEmpty, "a refusal promises nothing")
            #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "promised")
            #expect(await recovery.outcome(ofPicture: claim) == "promised")
            #expect(recovery.codes.used.map(\.caseID) == [claim.recoveryId])
            #expect(recovery.pictures.promised.map(\.side) == ["claimant", "claimant"])
            #expect(Set(recovery.pictures.promised.map(\.caseID)) == [claim.recoveryId])
            try await recovery.stage.rows("UPDATE cases SET proven_until = now()")
            #expect(await recovery.outcome(ofPicture: claim) == "reauthentication_required")
            // Auth repeats an answer of a while ago.
            recovery.codes.at = .now() - .seconds(901)
            #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "reauthentication_required")
        }
    }

    @Test func anotherCasesTokenGetsNothing() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            var other = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002")
            try await recovery.endHolds()
            other.recoveryToken = claim.recoveryToken
            #expect(await recovery.outcome(ofPicture: other, code: "042917") == "unauthorized")
            #expect(recovery.pictures.promised.isEmpty && recovery.codes.used.isEmpty)
        }
    }

    @Test func aRepetitionGetsTheSameAddressAndCountsOnce() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            try await recovery.endHolds()
            let key = "key-\(Identifier.random())"
            let request = recovery.picture(of: claim, code: "042917")
            let first = try await recovery.gateway.call(request, recovery.options(key: key))
            let second = try await recovery.gateway.call(request, recovery.options(key: key))
            #expect(first == second && recovery.codes.used.count == 1)
            #expect(try await recovery.stage.rows("SELECT side, uploads FROM pictures") == "claimant|1")
        }
    }

    /// A case without an account, and one whose owner said no, must not be told from a real one.
    @Test(arguments: ["decoy", "disputed"])
    func picturesOfADecoyOrDisputedCaseAreHandledAlike(_ kind: String) async throws {
        try await RecoveryStage.run { recovery in
            let real = try await recovery.claim(claimant: "000001")
            let other = try await recovery.claim(
                kind == "decoy" ? RecoveryStage.unknownPhone : RecoveryStage.accountPhone, claimant: "000002")
            try await recovery.endHolds()
            if kind == "disputed" { _ = try await recovery.dispute(other.recoveryId, as: recovery.owner) }
            var seen: [[String]] = []
            for claim in [real, other] {
                var outcomes = [await recovery.outcome(ofPicture: claim)]
                for number in 0..<11 {
                    outcomes.append(await recovery.outcome(ofPicture: claim, code: number == 0 ? "042917" : nil))
                }
                _ = try await recovery.give("undecided", for: claim)
                try await recovery.stage.rows("UPDATE pictures SET day = day - 1")
                outcomes.append(await recovery.outcome(ofPicture: claim))
                try await recovery.stage.rows("UPDATE pictures SET uploads = 30, day = day - 1")
                outcomes.append(await recovery.outcome(ofPicture: claim))
                _ = try await recovery.cancel(claim)
                outcomes.append(await recovery.outcome(ofPicture: claim, code: "042917"))
                seen.append(outcomes)
            }
            #expect(seen[0] == seen[1])
            #expect(seen[0].filter { $0 == "promised" }.count == 11)
            #expect(
                Set(seen[0]) == [
                    "reauthentication_required", "promised", "rate_limited", "too_many_pictures", "recovery_closed",
                ])
            // Each promise is followed by the word that nobody is to read it.
            let ended = try await recovery.pictures.ended.atLeast(13)
            #expect(ended.filter { $0.personID == real.recoveryId }.count == 1, "at its end alone")
            #expect(ended.filter { $0.personID == other.recoveryId }.count >= 11)
        }
    }

    /// Whatever ends a case.
    enum End: CaseIterable { case withdrawn, disputed, rejected, approved, neglected, completed, voided, deleted }

    @Test(arguments: End.allCases) func theEndOfACaseEndsItsPictures(_ end: End) async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claimInReview("yes")
            #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "promised")
            #expect(recovery.pictures.ended.heard.isEmpty)
            switch end {
            case .withdrawn: _ = try await recovery.cancel(claim)
            case .disputed: _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner)
            case .rejected: try await recovery.reject(claim)
            case .approved: try await recovery.approve(claim)
            case .neglected:
                try await recovery.stage.rows("UPDATE cases SET expires_at = now()")
                try await recovery.fire(CaseWorkflow.neglectTimer)
            case .completed:
                try await recovery.approve(claim)
                _ = try await recovery.complete(claim)
            case .voided:
                let other = try await recovery.claimInReview("yes", claimant: "000002")
                try await recovery.approve(other)
                _ = try await recovery.complete(other)
            case .deleted: try await recovery.deleteAccount()
            }
            #expect(
                try await eventually { recovery.pictures.ended.heard.contains { $0.personID == claim.recoveryId } })
            // Verification, for which the test stands in, has none to show of an approved case.
            guard end != .approved else { return }
            #expect(try await recovery.seenPictures(of: claim.recoveryId) == nil)
        }
    }

    /// The case ends while verification makes the promise. Without another word the picture would stay.
    @Test func anUploadPromisedAfterTheEndIsRevoked() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            try await recovery.endHolds()
            recovery.pictures.before = { promise in
                _ = try await recovery.dispute(promise.caseID, as: recovery.owner)
                _ = try await recovery.pictures.ended.atLeast(1)
            }
            #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "promised")
            #expect(
                try await recovery.pictures.ended.atLeast(2).map(\.personID) == [claim.recoveryId, claim.recoveryId])
        }
    }

    @Test func anOwnerSendsPicturesWhileACaseIsContested() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = "device"
            let claim = try await recovery.claim()
            #expect(await recovery.outcome(ofOwnersPicture: claim.recoveryId) == "recovery_not_ready")
            _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner)
            for _ in 0..<10 { #expect(await recovery.outcome(ofOwnersPicture: claim.recoveryId) == "promised") }
            #expect(await recovery.outcome(ofOwnersPicture: claim.recoveryId) == "rate_limited")
            #expect(await recovery.outcome(ofOwnersPicture: claim.recoveryId, as: .random()) == "not_found")
            // One side cannot use up what the other one may send.
            try await recovery.endHolds()
            #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "promised")
            #expect(
                try await recovery.page(of: claim.recoveryId).pictures?.map(\.side).suffix(2) == ["owner", "claimant"])
            let page = try await recovery.gateway.call(ExportCases(after: nil), recovery.options(recovery.owner))
            let text = page.records.joined()
            #expect(text.contains("\"hasOwnEvidence\":true") || text.contains("\"hasOwnEvidence\": true"), "\(text)")
            #expect(recovery.pictures.promised.allSatisfy { !text.contains($0.mediaID.description) })
            _ = try await recovery.cancel(claim)
            #expect(await recovery.outcome(ofOwnersPicture: claim.recoveryId) == "recovery_closed")
        }
    }

    @Test func aReviewerSeesTheKnownFactsOfTheAccount() async throws {
        try await RecoveryStage.run { recovery in
            let claim = try await recovery.claim()
            let account = try await recovery.page(of: claim.recoveryId).account
            #expect(account?.firstName == "Zoë" && account?.ageBand == "25-34")
            #expect(account?.badges == ["photo_verified"] && account?.devices.map(\.platform) == ["android"])
            _ = try await recovery.cancel(claim)
            #expect(try await recovery.page(of: claim.recoveryId).account == nil, "nobody decides about it any more")
        }
    }

    @Test func aReviewerSeesAPictureOfEachSideAndEachLookIsOnRecord() async throws {
        try await RecoveryStage.run { recovery in
            recovery.auth.facts.proof = "device"
            let claim = try await recovery.claim()
            let decoy = try await recovery.claim(RecoveryStage.unknownPhone, claimant: "000002")
            _ = try await recovery.dispute(claim.recoveryId, as: recovery.owner)
            try await recovery.endHolds()
            #expect(await recovery.outcome(ofOwnersPicture: claim.recoveryId) == "promised")
            for claim in [claim, decoy] {
                #expect(await recovery.outcome(ofPicture: claim, code: "042917") == "promised")
            }
            let pictures = try #require(try await recovery.seenPictures(of: claim.recoveryId))
            #expect(pictures.map(\.side) == ["owner", "claimant"])
            for picture in pictures {
                let shown = try await recovery.ask(
                    SeePicture(recoveryId: claim.recoveryId, mediaId: picture.mediaId), as: recovery.staff)
                #expect(shown.url == "/photos/\(picture.mediaId)")
            }
            let looks = "SELECT details::jsonb->>'media' FROM audit WHERE act = 'picture_seen' ORDER BY sequence"
            #expect(
                try await recovery.stage.rows(looks)
                    == pictures.map(\.mediaId.description).joined(separator: "\n"))
            let chain = "SELECT count(DISTINCT chain) FROM audit WHERE act = 'picture_seen' AND chain <> 'service'"
            #expect(try await recovery.stage.rows(chain) == "1")

            // Nobody sees a picture in their own case, of a hidden case, or with a session that has ended.
            let hidden = recovery.pictures.promised.filter { $0.caseID == decoy.recoveryId }.map(\.mediaID)
            for (id, media, person, code) in [
                (claim.recoveryId, pictures[0].mediaId, recovery.owner, "forbidden"),
                (claim.recoveryId, hidden[0], recovery.staff, "not_found"),
                (decoy.recoveryId, hidden[0], recovery.staff, "not_found"),
            ] {
                let refusal = await #expect(throws: BusError.self) {
                    try await recovery.ask(SeePicture(recoveryId: id, mediaId: media), as: person)
                }
                #expect(refusal?.code == code)
            }
            recovery.bearers.isActive = false
            let ended = await #expect(throws: BusError.self) {
                try await recovery.ask(
                    SeePicture(recoveryId: claim.recoveryId, mediaId: pictures[0].mediaId), as: recovery.staff)
            }
            #expect(ended?.code == "unauthorized")
            #expect(try await recovery.stage.rows("SELECT count(*) FROM audit WHERE act = 'picture_seen'") == "2")
        }
    }
}

extension RecoveryStage {
    func picture(of claim: RecoveryRequested, code: String? = nil) -> AddClaimantPicture {
        AddClaimantPicture(
            recoveryId: claim.recoveryId, recoveryToken: claim.recoveryToken, contentType: "image/png", length: 100,
            challengeId: code == nil ? nil : .ordered(), code: code)
    }

    /// `promised`, or the code of the refusal.
    func outcome(ofPicture claim: RecoveryRequested, code: String? = nil) async -> String {
        await outcome {
            try await gateway.call(picture(of: claim, code: code), options(key: "key-\(Identifier.random())"))
        }
    }

    func outcome(ofOwnersPicture id: Identifier, as person: Identifier? = nil) async -> String {
        let request = AddOwnerPicture(recoveryId: id, contentType: "image/png", length: 100)
        return await outcome {
            try await gateway.call(request, options(person ?? owner, key: "key-\(Identifier.random())"))
        }
    }

    private func outcome(_ body: @Loop () async throws -> UploadCreated) async -> String {
        do {
            _ = try await patiently(body)
            return "promised"
        } catch {
            return (error as? BusError)?.code ?? "\(error)"
        }
    }

    /// The pictures of a case that a reviewer is shown; `nil` if there is nothing to see.
    func seenPictures(of id: Identifier) async throws -> [ReviewPage.Picture]? {
        do {
            return try await page(of: id).pictures
        } catch let error as BusError where error.code == "not_found" {
            return nil
        }
    }

    /// Sends auth's event that the owner deleted the account.
    func deleteAccount() async throws {
        var rules = AccountDeleted.rules
        rules.service = .recovery
        _ = try await stage.asking(as: .auth).callRaw(
            type: AccountDeleted.type, version: 1, rules: rules,
            body: try WireJSON.encode(AccountDeleted(personID: owner, personSequence: 1, deletedAt: .now())), options())
    }
}
