import BusProtocol
import Cryptography
import Database
import EventLoop
import JSONText
import Languages
import ServiceRuntime

/// Notifies a person with a push to each device that has a push token, and by SMS or email.
struct PersonNotifier: Sendable {
    let outbox: Outbox
    let secrets: Secrets
    let tokens: PushTokens
    let appName: String
    /// Whether the operator sends emails.
    let sendsEmails: Bool

    /// Writes the pushes, sealed, to the outbox. Call it in the transaction of the change that they are about.
    ///
    /// Notices of a recovery (`recovery_…`) also go to removed devices and replaced tokens, for 30 days.
    ///
    /// Each text is in the language that its device last asked for.
    ///
    /// - Parameters:
    ///   - kind: selects the text (``NotificationText``), and is sent in the push's data.
    ///   - data: may contain a secret, but never a code and never a whole phone number.
    ///   - excluded: the device that made the change. It is not notified.
    ///   - notification: the id that the pushes of one change share.
    @Loop func notify(
        _ person: Identifier, _ kind: NoticeKind, _ data: [String: String], except excluded: Identifier? = nil,
        notification: Identifier = .ordered(), in transaction: Transaction
    ) async throws {
        let (title, body) = NotificationText.text(kind: kind, data: data, appName: appName)
        for target in try await tokens.targets(of: person, isRecovery: kind.isOfRecovery, in: transaction)
        where target.device != excluded {
            let push = PushMessage(
                notificationID: notification, personID: person, deviceID: target.device, token: target.token,
                replacedTokenID: target.replacedID, title: title.text(in: target.language),
                body: body.text(in: target.language),
                data: data.merging(["kind": kind.rawValue]) { $1 })
            outbox.enqueue("push", payload: try WireJSON.encode(push), in: transaction)
        }
    }

    /// Notifies the holder of the account's number by SMS. If the account has no number, it sends an email to the
    /// account's address. A push reaches only people with a device.
    ///
    /// - Parameters:
    ///   - data: as for ``notify(_:_:_:except:notification:in:)``.
    ///   - claimants: references of numbers and addresses. Their holders made the claim, and get no message.
    @Loop func notifyHolder(
        of person: Identifier, _ kind: NoticeKind, _ data: [String: String], unlessHeldBy claimants: [String],
        in transaction: Transaction
    ) async throws {
        let holder: (kind: Contact.Kind, sealed: [UInt8])
        if let phone = try await PhoneStore.phone(of: person, in: transaction) {
            holder = (.phone, phone)
        } else if sendsEmails, let email = try await EmailStore.email(of: person, in: transaction) {
            holder = (.email, email.sealed)
        } else {
            return
        }
        let keys = secrets.keys(of: holder.kind)
        let contact = try keys.open(holder.sealed, for: person)
        guard !claimants.contains(secrets.reference(of: keys.hash.code(for: contact))) else { return }
        let language = try await DeviceStore.language(of: person, in: transaction)
        let message = ContactMessage(
            challengeID: nil, to: String(decoding: contact, as: UTF8.self),
            subject: holder.kind == .email
                ? NotificationText.text(kind: kind, data: data, appName: appName).title.text(in: language) : nil,
            body: NotificationText.message(kind: kind, data: data, appName: appName).text(in: language))
        outbox.enqueue(holder.kind.destination, payload: try WireJSON.encode(message), in: transaction)
    }

    /// Notifies a person of the first number of the account. If the number can be taken off by the account's email address,
    /// an email brings the token for that.
    ///
    /// - Parameters:
    ///   - number: masked.
    ///   - session: the session that sets the number.
    @Loop func notify(
        ofFirstNumber number: String, of person: Identifier, by session: Identifier, in transaction: Transaction
    ) async throws {
        let token = SecretToken.make(prefix: "dt")
        var email: LinkedEmail?
        if sendsEmails {
            email = try await EmailStore.noteFirstNumber(
                of: person, by: session, token: secrets.hash(of: token), in: transaction)
        }
        let data = ["phone": number, "undoneBy": email == nil ? "none" : "email"]
        try await notify(person, .phoneChanged, data, in: transaction)
        guard let email else { return }
        let language = try await DeviceStore.language(of: person, in: transaction)
        let message = ContactMessage(
            challengeID: nil, to: String(decoding: try secrets.emails.open(email.sealed, for: person), as: UTF8.self),
            subject: NotificationText.text(kind: .phoneChanged, data: data, appName: appName).title.text(in: language),
            body: NotificationText.undoFirst(token: token, appName: appName).text(in: language))
        outbox.enqueue(Contact.Kind.email.destination, payload: try WireJSON.encode(message), in: transaction)
    }

    /// Notifies all devices of a person about a change of one of them.
    @Loop func notify(of kind: NoticeKind, _ device: LockedDevice, in transaction: Transaction) async throws {
        let data = [
            "deviceId": device.id.description, "platform": device.platform, "at": Timestamp.now().description,
        ]
        try await notify(device.person, kind, data, in: transaction)
    }
}
