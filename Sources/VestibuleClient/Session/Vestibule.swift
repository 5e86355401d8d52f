import Foundation

/// The client of one app on one device. It holds the session and carries out calls in it.
///
/// A call that signs in (``VestibuleAPI/verifyOTP(_:)``, ``VestibuleAPI/verifyEmailCode(_:)``, and those of Apple, Google and a
/// completed recovery) opens the session. From then on each call has its access token. The client renews the tokens
/// itself, once for all calls that wait for it. It saves new tokens before it uses them.
///
/// A session ends only when the server says so, or at ``logout()``. It stays without a network, while the server is busy, and while
/// the store cannot be read.
public actor Vestibule: VestibuleAPI {
    private static let item = "session"

    private var api: APIClient
    private let store: any ClientStore
    private let retries: RetryPolicy
    private let clock: ClientClock
    /// The content of the store; `nil` until it was read.
    private var known: SavedSession?
    /// The renewals in progress, by the generation that they replace.
    private var renewals: [Int: Task<Result<Void, VestibuleError>, Never>] = [:]
    private let states = Broadcast<SessionState>()
    private var queues: [QueueKey: WeakQueue] = [:]

    /// - Parameters:
    ///   - address: the address of the server, such as `https://api.example.org`.
    ///   - language: the languages to answer in, as `Accept-Language` has them; `nil` for the server's default.
    ///   - store: keeps the session and unsent answers.
    ///   - transport: carries the requests.
    ///   - retries: when a call is repeated.
    ///   - clock: the device's clock, except in tests.
    public init(
        _ address: URL, language: String? = nil, store: any ClientStore,
        transport: any Transport = URLSessionTransport(), retries: RetryPolicy = RetryPolicy(),
        clock: ClientClock = .system
    ) {
        api = APIClient(address, language: language, transport: transport)
        (self.store, self.retries, self.clock) = (store, retries, clock)
    }

    // MARK: Session

    /// Whether somebody is signed in.
    ///
    /// - Throws: ``VestibuleError/store(_:)`` while that cannot be known.
    public func state() throws(VestibuleError) -> SessionState {
        let saved = try saved()
        return states.last ?? Self.state(of: saved, because: nil)
    }

    /// The present state, and each later state. The first one arrives as soon as the store can be read.
    public func stateChanges() -> AsyncStream<SessionState> {
        _ = try? saved()
        return states.listen()
    }

    /// The device as the server knows it, for calls that take it as a proof; `nil` before the first sign-in.
    ///
    /// - Throws: ``VestibuleError/store(_:)``.
    public func device() throws(VestibuleError) -> SendOTPProof? { try saved().device }

    /// The access token, renewed if that is due. Use it for requests to other servers, which check it with
    /// ``VestibuleAPI/getSigningKeys()``. Calls of this client have it already.
    ///
    /// - Throws: ``VestibuleError``.
    public func accessToken() async throws(VestibuleError) -> String {
        guard let person = try saved().tokens?.person else { throw .signedOut }
        return try await usable(by: person).accessToken
    }

    /// Renews the tokens now, before they are due. Call it before the app sleeps for long.
    ///
    /// - Throws: ``VestibuleError``.
    public func renew() async throws(VestibuleError) {
        guard try saved().tokens != nil else { throw .signedOut }
        try await renewed(try saved().generation)
    }

    /// Asks for texts in other languages from now on, as `Accept-Language` has them; `nil` for the server's default.
    public func setLanguage(_ language: String?) { api.language = language }

    /// Signs out: on this device at once, and then at the server. The proof of the device stays.
    ///
    /// - Throws: ``VestibuleError/store(_:)``. Then the person is still signed in. With any other ``VestibuleError``,
    ///   the session may still be active at the server. The person can end it on another device, and it ends after 30
    ///   days by itself.
    public func logout() async throws(VestibuleError) {
        let saved = try saved()
        guard let tokens = saved.tokens else { return }
        try keep(saved.signedOut, because: nil)
        do throws(VestibuleError) {
            do throws(VestibuleError) {
                try await end(with: tokens.accessToken)
            } catch  where error.code == .tokenExpired {
                try await end(with: try await repeated(renewalCall(tokens, saved.device), token: nil).accessToken)
            }
        } catch  where SessionRules.ending(of: error.outcome) != nil {
            // It had ended before.
        }
    }

    /// Forgets the session and the proof of the device, and tells the server nothing. Call it after
    /// ``VestibuleAPI/deleteAccount()``, and ``AnswerQueue/discard()`` of each queue.
    ///
    /// - Throws: ``VestibuleError/store(_:)``. Then nothing was forgotten.
    public func forget() throws(VestibuleError) {
        try keep(SavedSession(generation: saved().generation + 1), because: nil)
    }

    private func end(with token: String) async throws(VestibuleError) {
        _ = try await repeated(Call<NoContent>(.post, "/auth/logout", access: .session).withKey(), token: token)
    }

    /// The queue of answers of a questionnaire's session. Each session has one queue, which later calls return again.
    /// It sends only while the person who is signed in now is signed in.
    public func answers(questionnaire: String, session: UUID) -> AnswerQueue {
        let person = (try? saved())?.tokens?.person
        let key = QueueKey(session: session, person: person)
        if let queue = queues[key]?.queue { return queue }
        let queue = AnswerQueue(
            questionnaire: questionnaire, session: session, api: CallsOfPerson(client: self, person: person),
            store: store,
            clock: clock)
        queues[key] = WeakQueue(queue: queue)
        return queue
    }

    // MARK: Calls

    public func send<Reply>(_ call: Call<Reply>) async throws(VestibuleError) -> Answer<Reply> {
        try await send(call, as: nil)
    }

    /// - Parameter bound: the person whose call it is; `nil` for the person who is signed in.
    fileprivate func send<Reply>(
        _ call: Call<Reply>, as bound: UUID?
    ) async throws(VestibuleError) -> Answer<Reply> {
        var call = call.withKey()
        if call.isOfDevice, let device = try saved().device { call = call.from(device) }
        let person = try call.access.usesSession ? saved().tokens?.person : nil
        if call.access == .session, person == nil { throw .signedOut }
        if let bound, person != bound { throw .signedOut }
        var isRenewed = false
        while true {
            let tokens = if let person { try await usable(by: person) } else { SavedTokens?.none }
            do throws(VestibuleError) {
                let answer = try await repeated(call, token: tokens?.accessToken)
                try take(answer.value, of: call)
                return answer
            } catch {
                guard let tokens, let outcome = error.outcome, outcome.status == 401 else { throw error }
                let saved = try saved()
                let isCurrent = saved.tokens?.accessToken == tokens.accessToken
                switch SessionRules.refusal(outcome.code, isCurrent: isCurrent, isRenewed: isRenewed) {
                case .none: throw error
                case .signedOut:
                    forget(saved.generation, because: outcome.code)
                    throw error
                case .renew: try await renewed(saved.generation)
                case .repeat: break
                }
                isRenewed = true
            }
        }
    }

    /// Sends a call until it has an answer, or until a repetition cannot help.
    private func repeated<Reply>(_ call: Call<Reply>, token: String?) async throws(VestibuleError) -> Answer<Reply> {
        var client = api
        client.accessToken = token
        var (attempt, waited) = (1, 0.0)
        while true {
            do throws(VestibuleError) {
                return try await client.send(call)
            } catch {
                let wait = error.outcome.flatMap {
                    retries.wait(
                        after: $0, attempt: attempt, waited: waited, isSafe: call.isSafeToRepeat, random: clock.random()
                    )
                }
                guard let wait, !Task.isCancelled else { throw error }
                do { try await clock.sleep(wait) } catch { throw .noAnswer(error) }
                attempt += 1
                waited += wait
            }
        }
    }

    /// Opens the session, if the reply of a call has one.
    private func take<Reply>(_ reply: Reply, of call: Call<Reply>) throws(VestibuleError) {
        guard let session = (reply as? any SigningInReply)?.opened else { return }
        let claimed = (call.body as? any SigningIn)?.device.secret
        try keep(try saved().taking(session, claimed: claimed, at: clock.now()), because: nil)
    }

    // MARK: Tokens

    /// The tokens for a call of a person, renewed if that is due.
    private func usable(by person: UUID) async throws(VestibuleError) -> SavedTokens {
        let saved = try saved()
        guard let tokens = saved.tokens, tokens.person == person else { throw .signedOut }
        let state = SessionRules.state(ofTokenUntil: tokens.endsAt, at: clock.now())
        if state == .fresh { return tokens }
        do throws(VestibuleError) {
            try await renewed(saved.generation)
            guard let new = try self.saved().tokens, new.person == person else { throw VestibuleError.signedOut }
            return new
        } catch {
            guard state == .soon, try self.saved().generation == saved.generation else { throw error }
            return tokens
        }
    }

    /// Replaces the tokens of a generation. All simultaneous callers wait for one renewal.
    private func renewed(_ generation: Int) async throws(VestibuleError) {
        guard try saved().generation == generation else { return }
        let running =
            renewals[generation]
            ?? Task {
                defer { renewals[generation] = nil }
                do throws(VestibuleError) {
                    try await renew(generation)
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
        renewals[generation] = running
        return try await running.value.get()
    }

    private func renew(_ generation: Int) async throws(VestibuleError) {
        // Another process of the app may have renewed them.
        known = nil
        let old = try saved()
        let found = SessionRules.found(
            held: generation, kept: old.generation, until: old.tokens?.endsAt, at: clock.now())
        guard found != .signedOut, let tokens = old.tokens else { throw .signedOut }
        if found == .take { return }
        let session: Session
        do throws(VestibuleError) {
            session = try await repeated(renewalCall(tokens, old.device), token: nil).value
        } catch {
            if let code = SessionRules.ending(of: error.outcome) { forget(old.generation, because: code) }
            throw error
        }
        // Meanwhile the person may have signed out, or another person may have signed in.
        guard try saved().generation == old.generation else { throw .signedOut }
        try keep(old.taking(session, claimed: nil, at: clock.now()), because: nil)
    }

    private func renewalCall(_ tokens: SavedTokens, _ device: SendOTPProof?) -> Call<Session> {
        Call<Session>(
            .post, "/auth/token/refresh",
            body: RefreshTokenRequest(refreshToken: tokens.refreshToken, deviceSecret: device?.secret)
        ).withKey()
    }

    // MARK: Store

    private func saved() throws(VestibuleError) -> SavedSession {
        if let known { return known }
        let item: Data?
        do { item = try store.read(Self.item) } catch { throw .store(error) }
        // An item that cannot be decoded now never can be, so the person signs in again.
        let saved = item.flatMap { try? WireJSON.decoder().decode(SavedSession.self, from: $0) } ?? SavedSession()
        known = saved
        states.send(Self.state(of: saved, because: nil))
        return saved
    }

    private func keep(_ session: SavedSession, because code: ProblemCode?) throws(VestibuleError) {
        do { try store.write(try WireJSON.encoder().encode(session), as: Self.item) } catch { throw .store(error) }
        known = session
        states.send(Self.state(of: session, because: code))
    }

    /// Ends the session on the device, if it is still the one that the server refused.
    private func forget(_ generation: Int, because code: ProblemCode?) {
        // Another process of the app may have signed in.
        known = nil
        guard let saved = try? saved(), saved.generation == generation, saved.tokens != nil else { return }
        // If the store cannot be written, the server refuses the same tokens again after the next start.
        if (try? keep(saved.signedOut, because: code)) == nil {
            known = saved.signedOut
            states.send(Self.state(of: saved.signedOut, because: code))
        }
    }

    private static func state(of saved: SavedSession, because code: ProblemCode?) -> SessionState {
        saved.tokens.map { .signedIn(person: $0.person) } ?? .signedOut(because: code)
    }
}

/// Calls of one person. They fail while another person is signed in.
private struct CallsOfPerson: VestibuleAPI {
    let client: Vestibule
    let person: UUID?

    func send<Reply>(_ call: Call<Reply>) async throws(VestibuleError) -> Answer<Reply> {
        try await client.send(call, as: person)
    }
}

private struct QueueKey: Hashable {
    let session: UUID
    let person: UUID?
}

/// A weak reference to a queue, which lives as long as the app uses it.
private struct WeakQueue { weak var queue: AnswerQueue? }

extension CallAccess {
    fileprivate var usesSession: Bool { self == .session || self == .sessionIfAny }
}
