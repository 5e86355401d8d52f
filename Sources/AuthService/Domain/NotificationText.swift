import BusProtocol
import Languages

/// The texts of notifications.
enum NotificationText {
    static func text(kind: NoticeKind, data: [String: String], appName: String) -> (title: Sentence, body: Sentence) {
        switch kind {
        case .newDevice:
            (
                "New sign-in",
                "\(device(data)) signed in to your \(appName) account\(time(data)). If it was not you, remove it from your devices now."
            )
        case .deviceChanged:
            (
                "Device changed",
                "\(device(data)) of your \(appName) account was changed from another one\(time(data)). If it was not you, look at your devices now."
            )
        case .deviceRemoved:
            (
                "Device removed",
                "\(device(data)) was removed from your \(appName) account\(time(data)). If it was not you, sign in and look at your devices now."
            )
        case let kind where kind.isOfRecovery: recovery(kind, data, appName)
        case .nowEligible: (Sentence("Welcome"), "You are old enough for \(appName) now.")
        case .verificationDecided:
            ("Your verification was reviewed", "Open \(appName) to see what came of your verification.")
        case .photoRefused:
            ("Your photo was refused", "Nobody else sees the photo. Open \(appName) and choose another one.")
        case .photoDropped:
            ("Your photo is gone", "\(appName) shows photos only that are uploaded to it. Please upload yours.")
        case .identityLinked:
            (
                "New way to sign in",
                "\(identity(data)) opens your \(appName) account from now on. If it was not you, unlink it now."
            )
        case .identityUnlinked:
            (
                "A way to sign in was removed",
                "\(identity(data)) no longer opens your \(appName) account. If it was not you, sign in and look at it now."
            )
        case .identityRevoked:
            (
                "A way to sign in has ended",
                "\(identity(data)) no longer opens your \(appName) account, as its provider told us. Your other ways to sign in still do."
            )
        case .phoneChanged where data["undoneBy"] == "email":
            (
                "Your account has a number now",
                "Your \(appName) account has its first number now, \(phone(data) ?? Sentence("of another phone")). If it was not you, take it off within 72 hours, with a code to your email address and on a device that you used before."
            )
        case .phoneChanged where data["undoneBy"] == "none":
            (
                "Your account has a number now",
                "Your \(appName) account has its first number now, \(phone(data) ?? Sentence("of another phone")). If it was not you, contact support now."
            )
        case .phoneChanged:
            (
                "Your number was changed",
                "Your \(appName) account has the number \(phone(data) ?? Sentence("of another phone")) now. If it was not you, recover your account with the old one."
            )
        case .phoneChangeUndone where data["phone"] == nil:
            (
                "The number was taken off",
                "Your \(appName) account has no number again. Devices and ways to sign in that came with it were removed."
            )
        case .phoneChangeUndone:
            (
                "Your number is back",
                "Your \(appName) account has the number \(phone(data) ?? Sentence("of another phone")) again. Devices and ways to sign in that came after the change were removed."
            )
        case .phoneDetached:
            (
                "Your number belongs to somebody else",
                "Your \(appName) account was not used for a long time. Somebody else has proved that they have its number now, and started an account of their own with it."
            )
        default: ("\(appName)", "There is news about your account.")
        }
    }

    /// The text of an SMS or an email: that of the push. For a claim, it adds the dispute token and the recovery's id,
    /// which stop it without the app.
    static func message(kind: NoticeKind, data: [String: String], appName: String) -> Sentence {
        let body = text(kind: kind, data: data, appName: appName).body
        guard let token = data["disputeToken"] else { return body }
        let stopped: Sentence = (data["recoveryIds"] ?? data["recoveryId"]).map { Sentence(" Recovery: \($0)") } ?? ""
        return "\(body) What stops it: \(token)\(stopped)"
    }

    /// The text for the number that the account had before a change. Its holder may be the owner, and a thief may have
    /// made the change.
    static func undo(token: String, appName: String) -> Sentence {
        "Your \(appName) account has another phone number now. If it was not you, take the change back within 72 hours with \(token), or recover your account with this number within 90 days."
    }

    /// The text for the email address of an account that has just got its first number. A thief who reads the emails
    /// may have set the number.
    static func undoFirst(token: String, appName: String) -> Sentence {
        "Your \(appName) account has its first phone number now. If it was not you, take it off within 72 hours with \(token), on a device that you used before."
    }

    private static func recovery(
        _ kind: NoticeKind, _ data: [String: String], _ appName: String
    ) -> (title: Sentence, body: Sentence) {
        switch kind {
        case .recoveryRequested:
            (
                "Is this you?",
                "\(claim(data)) to recover your \(appName) account. \(inUse(data))If it was not you, say so now and nothing will change."
            )
        case .recoveryReminder:
            (
                "Is this still you?",
                "\(claim(data)) to recover your \(appName) account, and nobody has said no. If it was not you, say so now."
            )
        case .recoveryLastHour:
            (
                "One hour left to say no",
                "\(claim(data)) to recover your \(appName) account. The time to say no ends soon. If it was not you, say so now."
            )
        case .recoveryDisputed:
            ("Recovery stopped", "The request to recover your \(appName) account was stopped. Nothing has changed.")
        case .recoveryContested:
            (
                "Two reviewers will decide",
                "The person who asked to recover your \(appName) account has given some proof. Two reviewers will decide, and nothing changes before that. Please show in the app that the account is yours."
            )
        case .recoveryCancelled:
            (
                "Recovery withdrawn",
                "The person who asked to recover your \(appName) account withdrew the request. Nothing has changed."
            )
        case .recoveryExpired:
            ("Recovery over", "The request to recover your \(appName) account is over. Nothing has changed.")
        case .recoveryApproved where data["disputeToken"] == nil:
            (
                "Recovery approved",
                "Reviewers heard both sides and approved the request to recover your \(appName) account. If it was not you, contact support now."
            )
        case .recoveryApproved:
            (
                "Recovery approved",
                "The request to recover your \(appName) account was approved. If it was not you, say so now, before the account is moved."
            )
        case .recoveryRejected:
            ("Recovery rejected", "The request to recover your \(appName) account was rejected. Nothing has changed.")
        case .recoveryCompleted:
            (
                "Your account was recovered",
                "Your \(appName) account has \(contact(data)) now, and was signed out everywhere else. If it was not you, contact support now."
            )
        case .recoveryLockOn:
            (
                "Recovery lock on",
                "Your \(appName) account can be recovered only with one of its devices, former numbers or linked sign-ins from now on."
            )
        case .recoveryLockOff:
            (
                "Recovery lock switched off",
                "Somebody switched off the recovery lock of your \(appName) account. \(holds(data))If it was not you, switch it on again now."
            )
        default: ("\(appName)", "There is news about your account.")
        }
    }

    /// Says who asked, when, and from what kind of device.
    private static func claim(_ data: [String: String]) -> Sentence {
        let asked = time(["at": data["requestedAt"] ?? ""])
        let claimant = data["claimantPhone"]
        let contact: Sentence
        if let claimant, claimant.contains("@") {
            contact = Sentence("the email address \(claimant)")
        } else {
            contact = Sentence("the number \(claimant.map { "\($0)" } ?? Sentence("of another phone"))")
        }
        switch (data["recoveryIds"]?.split(separator: " ").count ?? 1) - 1 {
        case ...0: return "Somebody with \(contact) asked\(asked)\(origin(data))"
        case 1: return "Somebody with \(contact) and 1 other asked"
        case let others: return "Somebody with \(contact) and \(others) others asked"
        }
    }

    /// Says which contact now opens a recovered account.
    private static func contact(_ data: [String: String]) -> Sentence {
        data["email"].map { Sentence("the email address \($0)") }
            ?? Sentence("the number \(phone(data) ?? Sentence("of another phone"))")
    }

    private static func origin(_ data: [String: String]) -> Sentence {
        switch data["platform"] {
        case "ios": Sentence(" from an iPhone or iPad")
        case "android": Sentence(" from an Android device")
        case "web": Sentence(" from a web browser")
        case nil: ""
        default: Sentence(" from a device")
        }
    }

    private static func inUse(_ data: [String: String]) -> Sentence {
        data["recentSignIn"] == "true" ? "Somebody signed in by its number within the last day. " : ""
    }

    /// Says when a recovery lock ends after it was switched off.
    private static func holds(_ data: [String: String]) -> Sentence {
        let end = time(data)
        return end == "" ? "" : "It ends\(end). "
    }

    private static func phone(_ data: [String: String]) -> Sentence? { data["phone"].map { "\($0)" } }

    /// The kind of the device, never its name: an attacker chooses the name, and could write to the owner with it.
    private static func device(_ data: [String: String]) -> Sentence {
        switch data["platform"] {
        case "ios": "An iPhone or iPad"
        case "android": "An Android device"
        case "web": "A web browser"
        default: "A device"
        }
    }

    /// The time to the minute, in UTC, since the reader's time zone is not known here.
    private static func time(_ data: [String: String]) -> Sentence {
        guard let at = data["at"], Timestamp(at) != nil else { return "" }
        return Sentence(" on \(at.prefix(10)) at \(at.dropFirst(11).prefix(5)) UTC")
    }

    /// For example "Google a…@e…".
    private static func identity(_ data: [String: String]) -> Sentence {
        let known = data["provider"].flatMap { IdentityProviderName(rawValue: $0) }?.title
        let provider: Sentence =
            known.map { "\($0)" } ?? (data["provider"] == "email" ? "A code by email" : "Another account")
        guard let email = data["email"], !email.isEmpty else { return provider }
        return "\(provider) \(email)"
    }
}
