import BusProtocol
import JSONText
import ProcessRuntime

/// The limits of one-time codes.
struct ChallengeLimits: Sendable {
    /// The life of a code in seconds.
    var lifetime: Int64 = 300
    /// The seconds between two codes to a phone or an address. Here, a phone also means an email address, except where
    /// the text is about SMS.
    var resendAfter: Int64 = 60
    /// Codes to a phone within an hour. One limit holds for all strangers together, and one for each device of its
    /// account.
    var perHour: Int64 = 5
    /// Codes to a phone within a day, counted in the same way.
    var perDay: Int64 = 10
    /// All devices of an account together may ask for this many times the codes of one device. Without this limit, each
    /// sign-in would add a device with a limit of its own.
    static let sharesOfDevices: Int64 = 2
    /// Codes that strangers ask for from a client address within an hour. The site of an IPv6 address may ask for
    /// ``NetworkAddress/siteShares`` times as many.
    var perAddressHour: Int64 = 30
    /// After the third wrong code, the seconds for which the caller is locked out for the phone.
    var lock: Int64 = 900
    /// Wrong codes for a phone within a day, over all challenges. One limit holds for all strangers together, and one
    /// for each device of its account.
    var wrongPerDay: Int64 = 10
    /// Numbers of one prefix to which strangers ask for codes within an hour. Beyond it, the prefix is closed if too
    /// few codes of it are verified; `nil` switches the check off.
    var perPrefixHour: Int64? = 50
    /// Codes sent by SMS within an hour, to all callers together.
    var budget = SMSBudget()
    /// Codes sent by email within an hour, to all callers together; `nil` if there is no limit.
    var emailsPerHour: Int64? = 5000

    static let tries: Int64 = 3
    /// The number of digits in a code.
    static let codeLength: Int64 = 6
    /// The most challenges of one phone that are alive at once.
    static let mostAlive: Int64 = 3
}

extension ChallengeLimits {
    /// Whether no code may be sent any more in this hour of the clock.
    func isHourSpent(_ history: SendHistory) -> Bool {
        guard let country = history.country else {
            return SMSBudget.isSpent(history.sentInHour, of: emailsPerHour, history)
        }
        return budget.isSpent(history, for: country)
    }
}

/// The earlier codes of a phone when another is asked for, read by one query.
///
/// For a stranger, it counts the codes of all strangers. For a known device, it counts those of the device. So nobody
/// else can use up the owner's limit.
struct SendHistory: Sendable, Equatable {
    var now: Timestamp
    /// Whether the caller is a device that signed in to the phone's account before, and proved it with its secret.
    var isKnownDevice = false
    var lastSend: Timestamp?
    var sendsInHour: Int64 = 0
    var oldestInHour: Timestamp?
    var sendsInDay: Int64 = 0
    var oldestInDay: Timestamp?
    /// Codes of all devices of the account together. For a stranger, this and the next three are empty.
    var devicesInHour: Int64 = 0
    var oldestOfDevicesInHour: Timestamp?
    var devicesInDay: Int64 = 0
    var oldestOfDevicesInDay: Timestamp?
    var addressInHour: Int64 = 0
    var siteInHour: Int64 = 0
    var wrongInDay: Int64 = 0
    /// When the oldest wrong code no longer counts.
    var wrongFreeAt: Timestamp?
    var lockedUntil: Timestamp?
    /// Until when the number's prefix is closed.
    var closedUntil: Timestamp?
    /// The number's country, ISO 3166-1 alpha-2; `nil` for an email address.
    var country: String?
    /// Codes sent in this hour of the clock to all callers together. For a phone they are those by SMS, for an email
    /// address those by email.
    var sentInHour: Int64 = 0
    /// Those of them that went to the number's country.
    var sentToCountry: Int64 = 0
    /// When this hour of the clock ends.
    var hourEnds: Timestamp?
}

/// Decides whether a code may be sent, and what an attempt at a code means. It uses no clock and no table.
enum ChallengePolicy {
    enum SendDecision: Equatable, Sendable {
        case allow
        /// Wait this many whole seconds.
        case wait(Int64)
        case locked(Int64)
    }

    /// The ways to go on that a refusal lists for strangers: two that others cannot block, and to wait. They are the
    /// same for every phone, so they do not reveal whether there is an account.
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
        // Limits of an address and of a prefix do not hold for a known device: others may have used them up.
        if !history.isKnownDevice {
            let perSiteHour = limits.perAddressHour * Int64(NetworkAddress.siteShares)
            if history.addressInHour >= limits.perAddressHour || history.siteInHour >= perSiteHour {
                waits.append(3600)
            }
            if let until = history.closedUntil { waits.append(seconds(from: history.now, to: until)) }
        }
        if limits.isHourSpent(history), let end = history.hourEnds {
            waits.append(seconds(from: history.now, to: end))
        }
        if history.wrongInDay >= limits.wrongPerDay, let free = history.wrongFreeAt {
            waits.append(seconds(from: history.now, to: free))
        }
        let longest = waits.max() ?? 0
        return longest > 0 ? .wait(longest) : .allow
    }

    /// The seconds until `end`, rounded up; zero if it is over.
    static func seconds(from now: Timestamp, to end: Timestamp) -> Int64 {
        max(0, (end.microsecondsSinceEpoch - now.microsecondsSinceEpoch + 999_999) / 1_000_000)
    }

    enum Verdict: Equatable, Sendable {
        case right
        /// The code is wrong.
        case wrong(triesLeft: Int64)
        /// The code is wrong, and no try is left: it was the third for the challenge, or the phone's last of the day.
        /// The challenge is dead, and the caller is locked out.
        case dead
        /// The phone has no tries left, so the code is not compared.
        case spent
        case expired
    }

    /// - Parameters:
    ///   - state: of the challenge's row.
    ///   - phoneTriesLeft: the tries that the phone has left today, over all challenges.
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
