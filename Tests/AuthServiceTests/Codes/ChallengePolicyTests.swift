import BusProtocol
import Testing

@testable import AuthService

@Suite("limits of codes") struct ChallengePolicyTests {
    private static let now = Timestamp("2026-02-20T09:00:00Z")!
    private static let limits = ChallengeLimits()

    private func decide(_ change: (inout SendHistory) -> Void) -> ChallengePolicy.SendDecision {
        var history = SendHistory(now: Self.now)
        change(&history)
        return ChallengePolicy.send(history, Self.limits)
    }

    @Test func aFirstCodeIsSent() { #expect(decide { _ in } == .allow) }

    @Test(
        "sixty seconds between two codes",
        arguments: [(0, 60), (1, 59), (59, 1), (60, 0), (61, 0)] as [(Int64, Int64)])
    func resend(ago: Int64, wait: Int64) {
        let decision = decide { $0.lastSend = Self.now - .seconds(ago) }
        #expect(decision == (wait == 0 ? .allow : .wait(wait)))
    }

    @Test func aWaitIsRoundedUpToWholeSeconds() {
        #expect(decide { $0.lastSend = Self.now - .milliseconds(59_001) } == .wait(1))
        #expect(decide { $0.lastSend = Self.now - .milliseconds(58_999) } == .wait(2))
    }

    @Test(
        "five within an hour, ten within a day",
        arguments: [
            (4, 3000, 9, 80_000, .allow), (5, 3000, 9, 80_000, .wait(600)), (4, 3000, 10, 80_000, .wait(6400)),
            // The longest of all waits counts.
            (5, 3000, 10, 80_000, .wait(6400)), (5, 100, 10, 86_399, .wait(3500)), (7, 3599, 7, 3599, .wait(1)),
        ] as [(Int64, Int64, Int64, Int64, ChallengePolicy.SendDecision)])
    func counts(
        inHour: Int64, oldestInHour: Int64, inDay: Int64, oldestInDay: Int64, decision: ChallengePolicy.SendDecision
    ) {
        let decided = decide {
            ($0.sendsInHour, $0.oldestInHour) = (inHour, Self.now - .seconds(oldestInHour))
            ($0.sendsInDay, $0.oldestInDay) = (inDay, Self.now - .seconds(oldestInDay))
            $0.lastSend = Self.now - .seconds(100)
        }
        #expect(decided == decision)
    }

    @Test func allDevicesTogetherHaveTwoShares() {
        func devices(_ inHour: Int64, _ inDay: Int64) -> ChallengePolicy.SendDecision {
            decide {
                $0.isKnownDevice = true
                ($0.devicesInHour, $0.oldestOfDevicesInHour) = (inHour, Self.now - .seconds(3000))
                ($0.devicesInDay, $0.oldestOfDevicesInDay) = (inDay, Self.now - .seconds(80_000))
            }
        }
        #expect(devices(9, 19) == .allow)
        #expect(devices(10, 19) == .wait(600))
        #expect(devices(10, 20) == .wait(6400))
    }

    @Test func anAddressAndWrongCodesHaveTheirLimits() {
        #expect(decide { $0.addressInHour = 29 } == .allow)
        #expect(decide { $0.addressInHour = 30 } == .wait(3600))
        #expect(decide { $0.siteInHour = 239 } == .allow)
        #expect(decide { $0.siteInHour = 240 } == .wait(3600))
        func wrong(_ count: Int64) -> ChallengePolicy.SendDecision {
            decide { ($0.wrongInDay, $0.wrongFreeAt) = (count, Self.now + .seconds(70_000)) }
        }
        #expect(wrong(9) == .allow)
        #expect(wrong(10) == .wait(70_000))
    }

    @Test func aClosedPrefixIsRefusedWithAWait() {
        #expect(decide { $0.closedUntil = Self.now + .seconds(1800) } == .wait(1800))
        #expect(decide { $0.closedUntil = Self.now } == .allow)
    }

    @Test func aSpentBudgetIsRefusedWithAWaitForTheHoursEnd() throws {
        var (limits, history) = (ChallengeLimits(), SendHistory(now: Self.now))
        limits.budget = try SMSBudget(perHour: "10", perCountry: ["off"])
        (history.country, history.sentInHour, history.hourEnds) = ("SE", 8, Self.now + .seconds(600))
        #expect(ChallengePolicy.send(history, limits) == .wait(600))
        history.isKnownDevice = true
        #expect(ChallengePolicy.send(history, limits) == .allow)
    }

    @Test func codesByEmailHaveALimitOfTheirOwnForTheHour() throws {
        var (limits, history) = (ChallengeLimits(), SendHistory(now: Self.now))
        limits.budget = try SMSBudget(perHour: "1", perCountry: ["1"])
        limits.emailsPerHour = 10
        (history.sentInHour, history.hourEnds) = (7, Self.now + .seconds(600))
        #expect(ChallengePolicy.send(history, limits) == .allow)
        history.sentInHour = 8
        #expect(ChallengePolicy.send(history, limits) == .wait(600))
        history.isKnownDevice = true
        #expect(ChallengePolicy.send(history, limits) == .allow)
        history.sentInHour = 10
        #expect(ChallengePolicy.send(history, limits) == .wait(600))
        limits.emailsPerHour = nil
        #expect(ChallengePolicy.send(history, limits) == .allow)
    }

    @Test func aKnownDeviceIsExemptFromAddressAndPrefixLimits() {
        let decision = decide {
            ($0.isKnownDevice, $0.addressInHour, $0.closedUntil) = (true, 30, Self.now + .seconds(1800))
            $0.siteInHour = 240
        }
        #expect(decision == .allow)
    }

    @Test func aLockOverridesEveryWait() {
        let locked = decide {
            $0.lockedUntil = Self.now + .seconds(30)
            $0.wrongInDay = 10
        }
        #expect(locked == .locked(30))
        #expect(decide { $0.lockedUntil = Self.now } == .allow)
    }

    @Test(
        "each state of a challenge has its verdict on an attempt",
        arguments: [
            (.open, 0, 1, true, .right), (.open, 2, 1, true, .right), (.open, 0, 1, false, .wrong(triesLeft: 2)),
            (.open, 1, 1, false, .wrong(triesLeft: 1)), (.open, 2, 1, false, .dead),
            (.open, 0, 0, true, .expired), (.open, 0, -1, false, .expired), (.open, 2, -1, false, .expired),
            (.used, 0, 1, true, .expired), (.superseded, 0, 1, true, .expired),
            (.dead, 3, 1, true, .dead), (.dead, 3, -1, true, .dead),
        ] as [(ChallengeState, Int64, Int64, Bool, ChallengePolicy.Verdict)])
    func verdict(
        state: ChallengeState, tries: Int64, secondsLeft: Int64, isRight: Bool, expected: ChallengePolicy.Verdict
    ) {
        let verdict = ChallengePolicy.verdict(
            state: state, wrongTries: tries, phoneTriesLeft: 10, expiresAt: Self.now + .seconds(secondsLeft),
            now: Self.now, isRight: isRight)
        #expect(verdict == expected)
    }

    @Test(
        "the phone's remaining tries cap the challenge's",
        arguments: [
            (0, 3, false, .wrong(triesLeft: 2)), (0, 2, false, .wrong(triesLeft: 1)), (0, 1, false, .dead),
            (0, 1, true, .right), (0, 0, true, .spent), (0, -2, false, .spent), (2, 5, false, .dead),
        ] as [(Int64, Int64, Bool, ChallengePolicy.Verdict)])
    func phoneTries(tries: Int64, left: Int64, isRight: Bool, expected: ChallengePolicy.Verdict) {
        let verdict = ChallengePolicy.verdict(
            state: .open, wrongTries: tries, phoneTriesLeft: left, expiresAt: Self.now + .seconds(1), now: Self.now,
            isRight: isRight)
        #expect(verdict == expected)
    }
}
