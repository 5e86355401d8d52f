import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import VestibuleCLI

/// Whether a stranger learns from an answer, or from its time, if a number has an account.
@Suite("answers about a number") struct AnswerTimeTests {
    /// The time of one request about a number with an account, and of one about a number without.
    typealias Pair = (with: UInt64, without: UInt64)

    private static let lanes = 16
    /// Microseconds between the medians, as the product promises.
    private static let bound: UInt64 = 2000

    @Test(.timed) func answersAndTheirTimesRevealNoAccount() throws {
        let asked = Rounds.count(100, prove: 1000)
        // Three to four times the statistic's standard deviation, where time tells nothing.
        let bound = asked < 1000 ? 0.14 : 0.05
        let system = try RunningSystem(
            scale: "auth=1",
            variables: [
                "AUTH_OTP_PER_ADDRESS_HOUR": "100000", "AUTH_OTP_PREFIX_BREAKER": "off", "AUTH_OTP_RESEND_AFTER": "1s",
                "AUTH_SMS_PER_HOUR": "off", "AUTH_SMS_PER_HOUR_COUNTRY": "off", "GATEWAY_RATE_LIMIT": "off",
                "RECOVERY_PER_ADDRESS_DAY": "100000",
            ])
        defer { system.stop() }
        let client = try HTTPClient(system.address)
        let claimants = (0..<asked).flatMap { [Stranger.claimant($0, true), Stranger.claimant($0, false)] }
        let stranger = Stranger(codes: try prepare(asked, claimants, system, client))
        let measured = Mutex<[String: [Pair]]>([:])
        func compare(_ look: @escaping @Sendable (Int, Bool, KeptConnection) throws -> [Stranger.Look]) throws {
            try Self.inLanes(asked) { number in
                let connection = try KeptConnection(client)
                let first = Bool.random()
                let one = try look(number, first, connection)
                let other = try look(number, !first, connection)
                // So many at once may be more than a debug build takes. Whose case did not begin has nothing to show later.
                guard one.count == other.count, !(one + other).contains(where: { $0.seen.word == "overloaded" })
                else { return }
                guard one.map(\.seen) == other.map(\.seen) else { throw CommandError("\(one) and \(other)") }
                measured.withLock {
                    for (one, other) in zip(one, other) {
                        let (with, without) = first ? (one, other) : (other, one)
                        $0[one.what, default: []].append((with.nanoseconds, without.nanoseconds))
                    }
                }
            }
        }
        try compare { try stranger.ask($0, hasAccount: $1, $2) }
        try endHolds(system)
        let codes = try send(claimants.map { ($0, "recovery") }, system, client)
        try compare { try stranger.sendPictures($0, hasAccount: $1, codes, $2) }
        for (what, pairs) in measured.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            let chance = Self.chanceThatWithIsSlower(pairs)
            let medians = [pairs.map(\.with), pairs.map(\.without)].map { $0.sorted()[pairs.count / 2] / 1000 }
            print("\(what): chance \(chance), medians \(medians) µs of \(pairs.count) pairs")
            #expect(pairs.count >= asked * 9 / 10, .time("\(what): \(pairs.count) pairs"))
            #expect(
                max(medians[0], medians[1]) - min(medians[0], medians[1]) < Self.bound, .time("\(what): \(medians)"))
            #expect(abs(chance - 0.5) <= bound, .time("\(what): \(chance)"))
        }
    }

    /// Opens the accounts, and has every claimant's code sent.
    ///
    /// - Returns: the codes of the claimants' numbers with their challenges.
    private func prepare(
        _ pairs: Int, _ claimants: [String], _ system: RunningSystem, _ client: HTTPClient
    ) throws -> [String: Stranger.Challenge] {
        let owners = (0..<pairs).map { Stranger.account($0, exists: true) }
        let codes = try send(
            owners.map { ($0, "login") } + claimants.map { ($0, "recovery") }, system, client)
        try Self.inLanes(pairs) { number in
            let verified = try client.send(
                "POST", "/auth/otp/verify", body: try #require(codes[owners[number]]).verification(right: true))
            guard verified.status == 200 else { throw CommandError("otp/verify: \(verified.body)") }
        }
        return codes
    }

    /// Ends the hold of every case, and waits until its claimant may show who they are.
    private func endHolds(_ system: RunningSystem) throws {
        try system.sql("UPDATE recovery.cases SET hold_until = now()")
        try system.sql("UPDATE auth.freezes SET hold_until = now()")
        try system.sql("UPDATE recovery.outbox SET due_at = now() WHERE destination = 'timer:hold-ended'")
        try system.installation.wait("the end of every hold") {
            try system.sql("SELECT id FROM recovery.cases WHERE status = 'held'").isEmpty
        }
    }

    /// Has codes sent to numbers, each for a purpose.
    private func send(
        _ all: [(phone: String, purpose: String)], _ system: RunningSystem, _ client: HTTPClient
    ) throws -> [String: Stranger.Challenge] {
        let challenges = Mutex<[String: String]>([:])
        let spool = VestibuleCLI.Spool(file: "\(system.installation.state.spool)/sms.jsonl")
        let former = spool.lines().count
        try Self.inLanes(all.count) { number in
            let (phone, purpose) = all[number]
            var sent: HTTPAnswer
            repeat {
                sent = try client.send(
                    "POST", "/auth/otp/send", body: ["phone": .string(phone), "purpose": .string(purpose)])
            } while sent.body["code"] == "overloaded"
            guard sent.status == 202 else { throw CommandError("otp/send: \(sent.body)") }
            challenges.withLock { $0[phone] = sent.body["challengeId"]?.stringValue }
        }
        var codes: [String: Stranger.Challenge] = [:]
        try system.installation.wait("every code") {
            for line in spool.lines().dropFirst(former) {
                guard let phone = line["to"]?.stringValue, let text = line["body"]?.stringValue,
                    let challenge = challenges.withLock({ $0[phone] })
                else { continue }
                codes[phone] = Stranger.Challenge(id: challenge, code: String(text.prefix(6)))
            }
            return codes.count == all.count
        }
        return codes
    }

    /// Calls `body` with each number below `count`, some at the same time.
    private static func inLanes(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let next = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
        let group = DispatchGroup()
        for lane in 0..<lanes {
            DispatchQueue(label: "lane \(lane)").async(group: group) {
                while true {
                    let number = next.add(1, ordering: .relaxed).oldValue
                    guard number < count, failure.withLock({ $0 == nil }) else { return }
                    do { try body(number) } catch { failure.withLock { $0 = error } }
                }
            }
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// The chance that a request with an account takes longer than one without, both chosen at random. It is the
    /// statistic U of Mann and Whitney divided by the number of pairs. 0.5 reveals nothing.
    static func chanceThatWithIsSlower(_ pairs: [Pair]) -> Double {
        let wins = pairs.reduce(0.0) { sum, one in
            pairs.reduce(sum) { $0 + (one.with > $1.without ? 1 : one.with == $1.without ? 0.5 : 0) }
        }
        return wins / Double(pairs.count * pairs.count)
    }
}

/// Asks what anybody may ask about a number, with an account or without.
private final class Stranger: Sendable {
    struct Challenge: Sendable {
        let id: String
        let code: String

        func verification(right isRight: Bool) -> JSONValue {
            let wrong = code == "000000" ? "000001" : "000000"
            return [
                "challengeId": .string(id), "code": .string(isRight ? code : wrong),
                "device": ["name": "Pixel 9", "platform": "android"],
            ]
        }
    }

    /// What an answer shows, without what differs between any two calls.
    struct Seen: Equatable {
        let status: Int
        /// The problem's code or the case's status.
        let word: String?
        let headers: [String: String]
        let members: [String]
        /// Bytes of the body without fractions of seconds, which end at their last digit that is not zero.
        let size: Int

        init(_ answer: HTTPAnswer) {
            status = answer.status
            word = (answer.body["code"] ?? answer.body["status"])?.stringValue
            headers = answer.headers.merging(["trace-id", "date", "retry-after", "content-length"].map { ($0, "") }) {
                $1
            }
            members = (answer.body.objectValue ?? [:]).keys.sorted()
            size =
                String(decoding: CanonicalJSON.bytes(of: answer.body), as: UTF8.self).replacing(/\.[0-9]+Z/, with: "Z")
                .count
        }
    }

    /// One request: what it was, what its answer showed, and how long that took.
    typealias Look = (what: String, seen: Seen, nanoseconds: UInt64)

    let codes: [String: Challenge]
    /// The path and the token of each claimant's case.
    private let claims = Mutex<[String: (path: String, token: String)]>([:])

    init(codes: [String: Challenge]) { self.codes = codes }

    static func account(_ number: Int, exists: Bool) -> String { "+1415555\(exists ? 1000 + number : 3000 + number)" }
    static func claimant(_ number: Int, _ exists: Bool) -> String {
        "+1415555\(exists ? 5000 + number : 7000 + number)"
    }

    func ask(_ number: Int, hasAccount: Bool, _ connection: KeptConnection) throws -> [Look] {
        let phone = Self.account(number, exists: hasAccount)
        var looks: [Look] = []
        func look(
            _ what: String, _ method: String, _ path: String, token: String? = nil, body: JSONValue? = nil
        ) throws -> JSONValue {
            let (look, answer) = try Self.look(what, method, path, token, body, connection)
            looks.append(look)
            return answer
        }
        let sent = try look("otp/send", "POST", "/auth/otp/send", body: ["phone": .string(phone)])
        // A second has not passed.
        _ = try look("otp/send again", "POST", "/auth/otp/send", body: ["phone": .string(phone)])
        let login = Challenge(id: sent["challengeId"]?.stringValue ?? "", code: "000001")
        _ = try look("otp/verify", "POST", "/auth/otp/verify", body: login.verification(right: false))
        let claimant = Self.claimant(number, hasAccount)
        guard let claim = codes[claimant] else { return looks }
        let requested = try look(
            "request", "POST", "/auth/recovery/request",
            body: [
                "accountPhone": .string(phone), "challengeId": .string(claim.id), "code": .string(claim.code),
                "device": ["name": "Pixel 9", "platform": "android"],
            ])
        let path = "/auth/recovery/\(requested["recoveryId"]?.stringValue ?? "")"
        let token = requested["recoveryToken"]?.stringValue
        _ = try look("status", "GET", path, token: token)
        _ = try look(
            "identity", "POST", "\(path)/identity", token: token, body: ["evidenceReference": "passport-1"])
        let wrong = JSONValue.string("dt_" + String(repeating: "0", count: 43))
        _ = try look("dispute", "POST", "\(path)/dispute", body: ["disputeToken": wrong])
        _ = try look("pictures in the hold", "POST", "\(path)/pictures", token: token, body: Self.picture)
        if let token { claims.withLock { $0[claimant] = (path, token) } }
        return looks
    }

    /// Shows who the claimant is, once the hold is over, and ends the case.
    func sendPictures(
        _ number: Int, hasAccount: Bool, _ codes: [String: Challenge], _ connection: KeptConnection
    ) throws -> [Look] {
        let claimant = Self.claimant(number, hasAccount)
        guard let code = codes[claimant], let claim = claims.withLock({ $0[claimant] }) else { return [] }
        let proven: JSONValue = [
            "contentType": "image/png", "length": 1000, "challengeId": .string(code.id), "code": .string(code.code),
        ]
        let steps: [(String, String, JSONValue?)] = [
            ("pictures without a code", "pictures", Self.picture), ("pictures with a code", "pictures", proven),
            ("pictures again", "pictures", Self.picture),
            ("identity after the hold", "identity", ["evidenceReference": "passport-1"]), ("cancel", "cancel", nil),
        ]
        return try steps.map { what, step, body in
            try Self.look(what, "POST", "\(claim.path)/\(step)", claim.token, body, connection).look
        }
    }

    private static let picture: JSONValue = ["contentType": "image/png", "length": 1000]

    private static func look(
        _ what: String, _ method: String, _ path: String, _ token: String?, _ body: JSONValue?,
        _ connection: KeptConnection
    ) throws -> (look: Look, answer: JSONValue) {
        let (answer, nanoseconds) = try connection.send(method, path, token: token, body: body)
        return ((what, Seen(answer), nanoseconds), answer.body)
    }
}
