import Values

/// The evidence by which a person is verified. Each tier has its own consent, verification session and verdict.
enum Tier: String, Sendable, CaseIterable {
    /// A photo of the face.
    case photo
    /// A document, which only reviewers look at.
    case id
}

/// A person's verification of one tier with its newest session, and what each event changes. Nothing here reads a clock or a
/// table.
struct Verification: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case notStarted = "not_started"
        case declined
        case awaitingCapture = "awaiting_capture"
        case processing
        /// Nobody waits for the verdict any more. It may still come.
        case overdue
        case verified
        case livenessFailed = "liveness_failed"
        case qualityTooLow = "quality_too_low"
        case inconclusive
        /// Reviewers did not accept the document.
        case rejected
        case manualReview = "manual_review"
        /// No capture arrived, or nobody judged it in time.
        case expired
    }

    /// The text to which a person agreed.
    struct Consent: Sendable, Hashable {
        /// The version of the text that the app showed.
        var textVersion: String
        /// The language of that text.
        var locale: String
        /// When the person agreed, by the app's clock.
        var givenAt: Timestamp
    }

    var tier = Tier.photo
    var status = Status.notStarted
    /// The newest session.
    var session: Identifier?
    /// The consent that is in force.
    var consent: Consent?
    /// Sessions that were judged or are being judged since tries last began.
    var tries = 0
    /// The judge refused the last check and left no picture. So the last try is a photo for reviewers, without the judge.
    var needsReviewers = false
    /// Sessions that began since ``countedFrom``.
    var begun = 0
    var countedFrom: Timestamp?
    /// The upload of the newest session: the photo, or the front of the document.
    var media: Identifier?
    /// The upload of the back of the document.
    var back: Identifier?
    /// The check at the judge's provider, which takes the place of an upload.
    var check: String?
    /// When the session's time limit began to run. It begins at the session's start, and again when its check opens and
    /// when it is completed.
    var since: Timestamp?
    /// When the status last changed. A decline without any try left does not count.
    var changedAt: Timestamp?
    var verifiedAt: Timestamp?

    /// How many more sessions may be judged.
    var triesLeft: Int { status == .verified || status == .manualReview ? 0 : max(0, Self.mostTries - tries) }

    /// When the clock alone changes the status; `nil` if it does not.
    var dueAt: Timestamp? {
        guard let since else { return nil }
        switch status {
        case .awaitingCapture: return since + (check == nil ? Self.captureTime : Self.checkTime)
        case .processing: return since + Self.hardStop
        case .overdue, .manualReview: return since + Self.reviewTime
        default: return nil
        }
    }

    static let mostTries = 3
    /// Sessions that may begin within a day, whether or not they are completed.
    static let mostSessions = 20
    static let captureTime = Duration.seconds(900)
    /// After this time, the service asks the provider about a check that the app did not complete. The provider forgets
    /// each check after 180 s.
    static let checkTime = Duration.seconds(170)
    /// How long the app waits for a verdict.
    static let hardStop = Duration.seconds(30)
    /// How long a review may take. A capture is destroyed 24 hours after it arrived, and it arrived within
    /// ``captureTime`` before its completion.
    static let reviewTime = Duration.seconds(86_400) - captureTime - .seconds(60)
    /// How long a person waits for new tries after the last one.
    static let newTriesAfter = Duration.seconds(7 * 86_400)
}

extension Verification {
    /// How long a person waited for the judge after the capture was complete.
    enum Wait: String, Sendable, CaseIterable {
        case onTime = "on_time"
        /// The verdict came later, or not while the person waited.
        case late
    }

    /// The time within which the judge should have a verdict. Source: rule K03, document 004.
    static let judgeTime = Duration.seconds(10)

    /// How long the person waited, once an event has ended the wait. It is `nil` if the wait goes on, or if the judge
    /// did not cause it.
    ///
    /// - Parameter former: the verification before the event.
    func wait(since former: Verification, after event: Event, at now: Timestamp) -> Wait? {
        guard former.status == .processing, status != .processing, let since = former.since else { return nil }
        switch event {
        case .judged: return now - since <= Self.judgeTime ? .onTime : .late
        case .clock, .judgeGaveUp: return .late
        default: return nil
        }
    }
}

/// The verdict of a judge or a reviewer.
enum Verdict: String, Sendable, CaseIterable {
    case verified
    case livenessFailed = "liveness_failed"
    case qualityTooLow = "quality_too_low"
    case inconclusive
    /// Only reviewers reject, and only documents.
    case rejected

    /// The verdicts that a judge may give on a photo.
    static let ofPhotos = allCases.filter { $0 != .rejected }

    /// Reads a judge's verdict on a photo; `nil` if it is not one of those that are allowed.
    init?(ofPhoto word: String) {
        guard let verdict = Self.ofPhotos.first(where: { $0.rawValue == word }) else { return nil }
        self = verdict
    }

    fileprivate var status: Verification.Status {
        switch self {
        case .verified: .verified
        case .livenessFailed: .livenessFailed
        case .qualityTooLow: .qualityTooLow
        case .inconclusive: .inconclusive
        case .rejected: .rejected
        }
    }
}

extension Verification {
    enum Event: Sendable, Equatable {
        /// The person agreed. The ID is that of a session to begin.
        case agreed(Consent, Identifier)
        /// The person did not agree.
        case declined
        /// The person withdraws the consent.
        case withdrawn
        /// The app announced an upload: a photo, or one side of a document.
        case uploadReserved(Identifier, isBack: Bool = false)
        /// The judge's provider opened a check for the newest session, which the app runs in place of an upload. The first one
        /// of a session stays.
        case checkOpened(String)
        /// The app says that the capture is complete. The service asks a judge, or reviewers only. Reviewers alone
        /// decide on documents.
        case completed(byReviewersOnly: Bool)
        /// A judge has a verdict on this session. After a final refusal another photo would change nothing.
        case judged(Identifier, Verdict, isFinal: Bool = false)
        /// The judge found no capture, and will not find one later.
        case captureMissing(Identifier)
        /// The judge gave no verdict, and will not give one later.
        case judgeGaveUp(Identifier)
        /// A reviewer decided on this session.
        case reviewed(Identifier, Verdict)
        /// Time passed.
        case clock
    }

    enum Effect: Hashable, Sendable {
        /// This upload is destroyed.
        case destroy(Identifier)
        case askJudge
        /// Send this outcome to profile.
        case publish(Outcome)
        /// Send the person a push, since they no longer wait.
        case notify
    }

    /// An outcome as profile reads it.
    enum Outcome: String, Sendable {
        case verified, failed, declined
        case inReview = "in_review"
    }

    enum Refusal: Error, Equatable {
        /// There is no such session, or it no longer exists.
        case unknown
        /// The session's status no longer allows the event.
        case over
        case tooManySessions(wait: Duration)
    }

    /// Applies an event.
    ///
    /// - Returns: the effects to carry out; empty if the event changes nothing.
    /// - Throws: ``Refusal``. Then nothing has changed.
    mutating func apply(_ event: Event, at now: Timestamp) throws(Refusal) -> Set<Effect> {
        switch event {
        case .agreed(let consent, let id): return try begin(consent, id, now)
        case .declined: return decline(now)
        case .withdrawn: return withdraw(now)
        case .uploadReserved(let id, let isBack):
            guard status == .awaitingCapture, check == nil else { throw .over }
            let side = isBack ? \Self.back : \Self.media
            let former = self[keyPath: side]
            self[keyPath: side] = id
            return former.map { [.destroy($0)] } ?? []
        case .checkOpened(let id):
            guard status == .awaitingCapture, !needsReviewers else { throw .over }
            guard check == nil else { return [] }
            let effects = destroyed
            (media, check, since) = (nil, id, now)
            return effects
        case .completed(let byReviewersOnly): return try complete(byReviewersOnly || tier == .id, now)
        case .judged(let id, let verdict, let isFinal): return judge(id, verdict, isFinal, now)
        case .captureMissing(let id):
            guard id == session, status == .processing || status == .overdue else { return [] }
            return expire(now, status == .overdue ? [.publish(.failed), .notify] : [.publish(.failed)])
        case .judgeGaveUp(let id):
            guard id == session, status == .processing || status == .overdue else { return [] }
            tries -= 1
            return end(.inconclusive, now, [.publish(.failed)])
        case .reviewed(let id, let verdict):
            guard id == session else { throw .unknown }
            guard status == .manualReview else { throw .over }
            needsReviewers = false
            return end(verdict.status, now, [.publish(verdict == .verified ? .verified : .failed), .notify])
        case .clock: return tick(now)
        }
    }

    /// The uploads of the newest session.
    var pictures: [Identifier] { [media, back].compactMap { $0 } }

    private var destroyed: Set<Effect> { Set(pictures.map { .destroy($0) }) }

    private mutating func begin(_ consent: Consent, _ id: Identifier, _ now: Timestamp) throws(Refusal) -> Set<Effect> {
        switch status {
        case .verified, .processing, .manualReview: return []
        default: break
        }
        var counted = self
        if counted.countedFrom.map({ $0 + .seconds(86_400) <= now }) ?? true {
            (counted.countedFrom, counted.begun) = (now, 0)
        }
        guard let from = counted.countedFrom, counted.begun < Self.mostSessions else {
            throw .tooManySessions(wait: counted.countedFrom.map { ($0 + .seconds(86_400)) - now } ?? .zero)
        }
        counted.countedFrom = from
        // A session for which the judge gave no verdict in time costs no try.
        if status == .overdue { counted.tries -= 1 }
        if let changedAt, changedAt + Self.newTriesAfter <= now { (counted.tries, counted.needsReviewers) = (0, false) }
        guard counted.tries < Self.mostTries else { return [] }
        let effects = destroyed
        self = counted
        begun += 1
        (session, media, back, check, self.consent) = (id, nil, nil, nil, consent)
        (status, since, changedAt) = (.awaitingCapture, now, now)
        return effects
    }

    private mutating func decline(_ now: Timestamp) -> Set<Effect> {
        switch status {
        case .verified, .processing, .manualReview, .declined: return []
        case .overdue: tries -= 1
        default: break
        }
        return endDeclined(now)
    }

    private mutating func withdraw(_ now: Timestamp) -> Set<Effect> {
        guard consent != nil else { return [] }
        consent = nil
        guard status != .verified else { return destroyed }
        return endDeclined(now)
    }

    /// Declines, and does not move the time at which a person without tries gets new ones.
    private mutating func endDeclined(_ now: Timestamp) -> Set<Effect> {
        let former = changedAt
        let effects = end(.declined, now, [.publish(.declined)])
        if tries >= Self.mostTries { changedAt = former }
        return effects
    }

    private mutating func complete(_ byReviewersOnly: Bool, _ now: Timestamp) throws(Refusal) -> Set<Effect> {
        switch status {
        case .awaitingCapture: break
        case .notStarted, .declined, .expired: throw .over
        default: return []
        }
        // A former replica may have opened a check for a session that reviewers decide.
        guard !byReviewersOnly, !needsReviewers || check != nil else {
            tries += 1
            (status, since, changedAt) = (.manualReview, now, now)
            return [.publish(.inReview)]
        }
        return process(now)
    }

    private mutating func process(_ now: Timestamp) -> Set<Effect> {
        tries += 1
        (status, since, changedAt) = (.processing, now, now)
        return [.askJudge]
    }

    /// Only the first verdict on the newest session counts. No judge alone shuts a person out: reviewers see the
    /// capture of the last failure and of a final refusal. If a check left no capture, they see that of one more
    /// session.
    private mutating func judge(
        _ id: Identifier, _ verdict: Verdict, _ isFinal: Bool, _ now: Timestamp
    ) -> Set<Effect> {
        guard id == session, status == .processing || status == .overdue else { return [] }
        let late: Set<Effect> = status == .overdue ? [.notify] : []
        if verdict != .verified, isFinal || tries >= Self.mostTries {
            guard media == nil else {
                (status, changedAt) = (.manualReview, now)
                return late.union([.publish(.inReview)])
            }
            (tries, needsReviewers) = (Self.mostTries - 1, true)
        }
        return end(verdict.status, now, late.union([.publish(verdict == .verified ? .verified : .failed)]))
    }

    private mutating func tick(_ now: Timestamp) -> Set<Effect> {
        guard let dueAt, dueAt <= now else { return [] }
        switch status {
        case .processing:
            (status, changedAt) = (.overdue, now)
            return []
        case .overdue, .manualReview:
            return expire(now, [.publish(.failed), .notify])
        case .awaitingCapture where check != nil:
            return process(now)
        default:
            return end(.expired, now, [])
        }
    }

    /// Nobody judged the capture, so the person gets the try back.
    private mutating func expire(_ now: Timestamp, _ effects: Set<Effect>) -> Set<Effect> {
        tries -= 1
        return end(.expired, now, effects)
    }

    /// Ends the session and its capture.
    private mutating func end(_ status: Status, _ now: Timestamp, _ effects: Set<Effect>) -> Set<Effect> {
        let all = effects.union(destroyed)
        (self.status, media, back, check, since, changedAt) = (status, nil, nil, nil, nil, now)
        if status == .verified { verifiedAt = now }
        return all
    }
}
