import BusProtocol
import Testing

@testable import RecoveryService

@Suite("what becomes of a claim") struct ClaimDecisionTests {
    private static let policy = RecoveryPolicy(hold: 100, riskyHold: 200, perPhone: 3)

    private func decide(
        account: Bool = true, proof: String? = nil, _ change: (inout ClaimHistory) -> Void = { _ in }
    ) -> ClaimDecision {
        var history = ClaimHistory(
            ofClaimant: 0, ofName: 0, ofAccount: 0, coolingSeconds: 0, isBarred: false, isLocked: false,
            dormantPercent: 0)
        change(&history)
        let begun = RecoveryBegun(
            caseID: .ordered(), accountID: account ? .ordered() : nil, accountReference: "account",
            claimantReference: "claimant", maskedClaimantPhone: "+1 (***) ***-1234", proof: proof)
        return Self.policy.decision(on: begun, after: history)
    }

    @Test func aNumberMayAskThreeTimesInThirtyDays() {
        #expect(decide { $0.ofClaimant = 2 } == .made(isDecoy: false, hold: 100))
        #expect(decide { $0.ofClaimant = 3 } == .tooMany(wait: 2_592_000))
    }

    @Test func onlyAProvenClaimantIsBarredByTheProofs() {
        func barred(hasProof: Bool) -> [String] {
            RecoveryPolicy.barred(contact: ["number", nil], proofs: ["device"], hasProof: hasProof)
        }
        #expect(barred(hasProof: false) == ["number"] && barred(hasProof: true) == ["number", "device"])
    }

    @Test func aRejectedClaimantWaits() {
        #expect(decide { $0.coolingSeconds = 60 } == .tooMany(wait: 60))
        #expect(decide { $0.coolingSeconds = -60 } == .made(isDecoy: false, hold: 100))
    }

    @Test func aClaimThatMustNotOpenTheAccountBecomesADecoy() {
        #expect(decide(account: false) == .made(isDecoy: true, hold: 100))
        #expect(decide(proof: "device") { $0.isBarred = true } == .made(isDecoy: true, hold: 100))
        #expect(decide { $0.isLocked = true } == .made(isDecoy: true, hold: 100))
        #expect(decide(proof: "device") { $0.isLocked = true } == .made(isDecoy: false, hold: 100))
    }

    @Test func aNumberThatIsClaimedOftenIsHeldLonger() {
        #expect(decide { $0.ofName = RecoveryPolicy.manyClaims } == .made(isDecoy: false, hold: 200))
        #expect(decide(account: false) { $0.dormantPercent = 100 } == .made(isDecoy: true, hold: 200))
    }

    /// A longer hold would reveal that two names belong to one account, and so that the account exists.
    @Test func anAccountThatIsClaimedOftenByOtherNamesIsDecidedLater() {
        let often = RecoveryPolicy.manyClaims
        #expect(decide { $0.ofAccount = often - 1 } == .made(isDecoy: false, hold: 100))
        #expect(decide { $0.ofAccount = often } == .made(isDecoy: false, hold: 100, decidedAfter: 200))
        #expect(decide { ($0.ofName, $0.ofAccount) = (often, often) } == .made(isDecoy: false, hold: 200))
    }
}
