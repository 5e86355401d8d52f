import BusProtocol
import JSONText
import ProcessRuntime

/// Limits of one-time codes.
struct ChallengeLimits: Sendable {
    /// Seconds that a code lives.
    var lifetime: Int64 = 300
    /// Seconds between two sends to a phone.
    var resendAfter: Int64 = 60
    /// Sends to a phone: those that strangers ask for together, and those of each device of its account by itself.
    var perHour: Int64 = 5
    var perDay: Int64 = 10
    /// Sends to a phone that all devices of its account ask for together, as many times what one may: who holds the number
    /// makes a new device with each sign-in, and none of them has asked for anything yet.
    static let sharesOfDevices: Int64 = 2
    /// Sends that strangers ask for from a client address within an hour; from the site of an IPv6 address
    /// ``NetworkAddress/siteShares`` times as many.
    var perAddressHour: Int64 = 30
    /// Seconds that a principal is locked for a phone after the third wrong code.
    var lock: Int64 = 900
    /// Wrong codes for a phone within a day, over all challenges: those of strangers together, and those of each device of
    /// its account by itself.
    var wrongPerDay: Int64 = 10
    /// Numbers of one prefix that strangers get codes for within an hour until it matters whether codes of it are verified
    /// at all; `nil` where that is not looked at.
    var perPrefixHour: Int64? = 50
    /// Codes that leave within an hour, whoever asks for them.
    var budget = SMSBudget()

    static let tries: Int64 = 3
    /// Challenges of one phone that are alive at once.
    static let mostAlive: Int64 = 3
}

/// What is known of a phone and of who asks when a code is asked for, as one query read it. It counts what strangers did
/// where a stranger asks, and what the device itself did where one asks that proved itself: nobody else can use up the
/// owner's share.
struct SendHistory: Sendable, Equatable {
    var now: Timestamp
    /// A device that once signed in to the phone's account, and showed the secret that it got then.
    var isKnownDevice = false
    var lastSend: Timestamp?
    var sendsInHour: Int64 = 0
    var oldestInHour: Timestamp?
    var sendsInDay: Int64 = 0
    var oldestInDay: Timestamp?
    /// Of all devices of the account together; nothing where a stranger asks.
    var devicesInHour: Int64 = 0
    var oldestOfDevicesInHour: Timestamp?
    var devicesInDay: Int64 = 0
    var oldestOfDevicesInDay: Timestamp?
    var addressInHour: Int64 = 0
    var siteInHour: Int64 = 0
    var wrongInDay: Int64 = 0
    /// When the oldest of those no longer counts.
    var wrongFreeAt: Timestamp?
    var lockedUntil: Timestamp?
    /// Of the number's prefix.
    var closedUntil: Timestamp?
    /// Of the number, ISO 3166-1 alpha-2.
    var country = ""
    /// Codes that left in this hour of the clock, whoever asked for them.
    var smsInHour: Int64 = 0
    /// Those of them that went to the number's country.
    var smsToCountry: Int64 = 0
    /// When that hour is over.
    var hourEnds: Timestamp?
}

/// Whether a code may be sent and what an attempt at one means. No clock and no table in here.
enum ChallengePolicy {
    enum SendDecision: Equatable, Sendable {
        case allow
        /// Whole seconds to wait.
        case wait(Int64)
        case locked(Int64)
    }

    /// What a stranger is told with a refusal: the ways in that strangers cannot use up, and the one that is left to who has no
    /// account. They are the same for every phone, so that they tell nothing of an account.
    static let alternatives: [String: JSONValue] = [
        "alternatives": ["known_device", "linked_identity", "try_later"]
    ]

    static func send(_ history: SendHistory, _ limits: ChallengeLimits) -> SendDecision {
        if let until = history.lockedUntil, until > history.now {
            return .locked(seconds(from: history.now, to: until))
        }
        var waits: [Int64] = []
        if let last = history.lastSend {
            waits.append(seconds(from: history.now, to: last + .seconds(limits.resendAfter)))
        }
        if history.sendsInHour >= limits.perHour, let oldest = history.oldestInHour {
            waits.append(seconds(from: history.now, to: oldest + .seconds(3600)))
        }
        if history.sendsInDay >= limits.perDay, let oldest = history.oldestInDay {
            waits.append(seconds(from: history.now, to: oldest + .seconds(86_400)))
        }
        if history.devicesInHour >= ChallengeLimits.sharesOfDevices * limits.perHour,
            let oldest = history.oldestOfDevicesInHour
        {
            waits.append(seconds(from: history.now, to: oldest + .seconds(3600)))
        }
        if history.devicesInDay >= ChallengeLimits.sharesOfDevices * limits.perDay,
            let oldest = history.oldestOfDevicesInDay
        {
            waits.append(seconds(from: history.now, to: oldest + .seconds(86_400)))
        }
        // Somebody behind the same address, or at the same prefix, is no reason to turn the owner away.
        if !history.isKnownDevice {
            let perSiteHour = limits.perAddressHour * Int64(NetworkAddress.siteShares)
            if history.addressInHour >= limits.perAddressHour || history.siteInHour >= perSiteHour {
                waits.append(3600)
            }
            if let until = history.closedUntil { waits.append(seconds(from: history.now, to: until)) }
        }
        if limits.budget.isSpent(history), let end = history.hourEnds {
            waits.append(seconds(from: history.now, to: end))
        }
        if history.wrongInDay >= limits.wrongPerDay, let free = history.wrongFreeAt {
            waits.append(seconds(from: history.now, to: free))
        }
        let longest = waits.max() ?? 0
        return longest > 0 ? .wait(longest) : .allow
    }

    /// Rounded up; zero when it is over.
    static func seconds(from now: Timestamp, to end: Timestamp) -> Int64 {
        max(0, (end.microsecondsSinceEpoch - now.microsecondsSinceEpoch + 999_999) / 1_000_000)
    }

    enum Verdict: Equatable, Sendable {
        case right
        /// Wrong, with so many tries left.
        case wrong(triesLeft: Int64)
        /// The third wrong one, or the last that the phone had left: the challenge is dead and its principal locked out.
        case dead
        /// The phone has no wrong try left, so that no code is tried.
        case spent
        case expired
    }

    /// - Parameters:
    ///   - state: of the challenge's row; `nil` where only a newer release knows it.
    ///   - phoneTriesLeft: wrong codes that the phone has left for now, over all challenges.
    static func verdict(
        state: ChallengeState?, wrongTries: Int64, phoneTriesLeft: Int64, expiresAt: Timestamp, now: Timestamp,
        isRight: Bool
    ) -> Verdict {
        switch state {
        case .open: break
        case .dead: return .dead
        case .used, .superseded, .undelivered, nil: return .expired
        }
        guard now < expiresAt else { return .expired }
        guard phoneTriesLeft > 0 else { return .spent }
        if isRight { return .right }
        let left = min(ChallengeLimits.tries - wrongTries, phoneTriesLeft) - 1
        return left > 0 ? .wrong(triesLeft: left) : .dead
    }
}
