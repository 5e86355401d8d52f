import BusProtocol
import BusRuntime
import EventLoop
import HTTPServer
import JSONText
import Languages
import ProcessRuntime

/// Answers requests: finds the route, lets the gatekeeper check the caller, sends one message, and maps the reply back.
@Loop final class Dispatcher {
    /// The most requests in progress. The gateway refuses further ones at once, except those for health.
    private static let largestLoad = 4096

    private let configuration: GatewayConfiguration
    private let table: RouteTable
    private let bus: Bus
    private let gatekeeper: Gatekeeper
    private let local: LocalAnswers
    private let webSessions: WebSessions
    private let webApp: WebApp?
    private let codes: DevelopmentCodes?
    private let meter: HTTPMeter
    private let crossOrigin: CrossOrigin
    private let clientAddress: ClientAddress
    private var byAddress: RateLimiter<[UInt8]>?
    private var byPerson: RateLimiter<Identifier>?
    private var load = 0
    /// Called after every response, for the log.
    var onAnswer: @Loop (RequestRecord) -> Void = { _ in }

    init(
        _ configuration: GatewayConfiguration, table: RouteTable, bus: Bus, gatekeeper: Gatekeeper, local: LocalAnswers,
        meter: HTTPMeter
    ) {
        (self.configuration, self.table, self.bus) = (configuration, table, bus)
        (self.gatekeeper, self.local, self.meter) = (gatekeeper, local, meter)
        webSessions = WebSessions(bus: bus, gatekeeper: gatekeeper)
        webApp = configuration.webApp.map { WebApp($0) }
        codes = webApp == nil ? nil : configuration.developmentCodes
        crossOrigin = CrossOrigin(origins: Set(configuration.corsOrigins))
        clientAddress = ClientAddress(trustedProxies: configuration.trustedProxies)
        // One address may be a whole office or a mobile network, so its limit is five times that of a person.
        byAddress = configuration.rateLimit.map { RateLimiter(perMinute: $0 * 5) }
        byPerson = configuration.rateLimit.map { RateLimiter(perMinute: $0) }
    }

    /// Decides how to read the body of a request. For a staff route, the token is checked before the body is read.
    func admission(of head: HTTPRequestHead, from peer: String) -> BodyAdmission {
        guard case .route(let route, _) = table.match(method: head.method, path: head.path) else {
            return .read(limit: 65_536)
        }
        guard route.access == .staff || route.access == .admin else { return .read(limit: route.bodyLimit) }
        return .check({ [self] in await refusal(before: head, peer, route) }, limit: route.bodyLimit)
    }

    /// The response that refuses a request before its body is read; `nil` if the body may be read.
    private func refusal(before head: HTTPRequestHead, _ peer: String, _ route: Route) async -> HTTPResponse? {
        let (began, trace) = (MonotonicClock.now(), Self.trace(head))
        do throws(Problem) {
            let address = try address(of: head, from: peer)
            do throws(Problem) {
                _ = try await gatekeeper.admit(head.headers, to: route.access, from: address)
                return nil
            } catch {
                try charge(address)
                throw error
            }
        } catch {
            let response = Self.response(to: error, head, trace)
            log(
                RequestRecord(
                    method: head.method, route: route.path.text, status: response.status, trace: trace, began: began))
            return decorated(response, head, trace)
        }
    }

    /// The limits of connections for this address. A trusted proxy has none, since it connects for all clients.
    func shares(of peer: String) -> [ConnectionShare] {
        guard !clientAddress.isTrusted(peer), let address = NetworkAddress(peer) else { return [] }
        return address.sharers.map {
            ConnectionShare(key: $0.key, most: configuration.connectionsPerAddress * $0.shares)
        }
    }

    /// The response to a message that the HTTP server could not read as a request.
    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead?, _ peer: String) -> HTTPResponse {
        let trace = Self.trace(head)
        let response = Self.response(to: Problem(refusal), head, trace)
        log(RequestRecord(method: head?.method, route: nil, status: response.status, trace: trace, began: nil))
        return decorated(response, head, trace)
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let (began, trace) = (MonotonicClock.now(), Self.trace(request.head))
        load += 1
        defer { load -= 1 }
        var (response, path, hidesItsTime) = (HTTPResponse(status: 500), String?.none, false)
        do throws(Problem) {
            switch table.match(method: request.head.method, path: request.head.path) {
            case .unknown where request.head.path != "*":
                try charge(try address(of: request.head, from: request.peer))
                (response, path) = try await file(request.head)
            case .unknown: response = HTTPResponse(status: 204)
            case .otherMethods(let methods): response = try otherMethod(request, methods)
            case .route(let route, let parameters):
                (path, hidesItsTime) = (route.path.text, route.hidesItsTime)
                response = try await answer(request, route, parameters, trace, began: began)
            }
        } catch {
            response = Self.response(to: error, request.head, trace)
        }
        log(
            RequestRecord(method: request.head.method, route: path, status: response.status, trace: trace, began: began)
        )
        if hidesItsTime { await Loop.sleep(until: departure(after: began)) }
        return decorated(response, request.head, trace)
    }

    /// The response for a path that is no operation. It is a file of the web app, the development codes, or a redirect
    /// to the new address of a page.
    ///
    /// - Returns: the response, and the path for logs and metrics.
    private func file(_ head: HTTPRequestHead) async throws(Problem) -> (HTTPResponse, String?) {
        if let page = GuidePages.moved[head.path] {
            return (HTTPResponse(status: 308, headers: ["location": page]), nil)
        }
        if let file = webApp?.answer(head) { return (file, "/app/") }
        if let codes, head.path == DevelopmentCodes.path, head.method == "GET",
            let contact = RequestBody.parameters(of: head.query ?? "")["to"]?.first,
            let answer = try? await Loop.offload({ codes.answer(to: contact) })
        {
            return (answer, DevelopmentCodes.path)
        }
        throw Problem(.notFound, "There is nothing here.")
    }

    /// The time to send the response: the next multiple of `answerStep` after the arrival of the request.
    private func departure(after arrival: UInt64) -> UInt64 {
        let step = configuration.answerStep.nanoseconds
        return arrival + ((MonotonicClock.now() - arrival) / step + 1) * step
    }

    private func log(_ record: RequestRecord) {
        meter.note(record)
        onAnswer(record)
    }

    private static func trace(_ head: HTTPRequestHead?) -> TraceContext {
        let given = head?.headers.all("traceparent") ?? []
        guard given.count == 1, let trace = TraceContext(traceparent: given[0]) else { return .fresh() }
        return trace.child()
    }

    private func decorated(_ response: HTTPResponse, _ head: HTTPRequestHead?, _ trace: TraceContext) -> HTTPResponse {
        var response = response
        response.headers.set("trace-id", trace.traceID)
        response.headers.set("x-content-type-options", "nosniff")
        if let head {
            for (name, value) in crossOrigin.headers(for: head) { response.headers.set(name, value) }
        }
        return response
    }

    /// The problem document, in the language that the client prefers. If it prefers none, the document is in English and
    /// names no language.
    private static func response(to problem: Problem, _ head: HTTPRequestHead?, _ trace: TraceContext) -> HTTPResponse {
        let language = head.flatMap { Self.language(of: $0) }
        return (language.map { problem.told(in: $0) } ?? problem).response(traceID: trace.traceID)
    }

    /// The language for a client; `nil` if it prefers none, or lists too many to read.
    private static func language(of head: HTTPRequestHead) -> Language? {
        let header = head.headers.all("accept-language").joined(separator: ",")
        guard (1...1000).contains(header.utf8.count) else { return nil }
        let tag = LanguagePreference(header).choose(
            from: Language.all.map(\.tag), fallback: Language.english.tag)
        return .named(tag)
    }

    private func otherMethod(_ request: HTTPRequest, _ methods: [String]) throws(Problem) -> HTTPResponse {
        let allow = methods.joined(separator: ", ")
        guard request.head.method == "OPTIONS" else {
            try charge(try address(of: request.head, from: request.peer))
            var problem = Problem(.methodNotAllowed, "This path takes \(allow).")
            problem.headers.set("allow", allow)
            throw problem
        }
        var response = HTTPResponse(status: 204, headers: ["allow": allow])
        for (name, value) in crossOrigin.preflight(for: request.head, methods: methods) {
            response.headers.set(name, value)
        }
        return response
    }

    private func answer(
        _ request: HTTPRequest, _ route: Route, _ parameters: [String: String], _ trace: TraceContext, began: UInt64
    ) async throws(Problem) -> HTTPResponse {
        if case .local(let answer) = route.target {
            if route.access == .ops {
                try admitOperator(request)
            } else if !answer.isProbe {
                try charge(try address(of: request.head, from: request.peer))
            }
            return try await local.answer(answer, parameters)
        }
        guard load <= Self.largestLoad else {
            throw Problem(.overloaded, "Too many requests right now. Please try again.")
        }
        let address = try address(of: request.head, from: request.peer)
        try charge(address)
        guard let binding = route.binding else {
            guard case .webSession(let act) = route.target else {
                return try await export(request, route, address, trace)
            }
            let body = try RequestBody(route: route, parameters: parameters, request: request, recoveryToken: nil)
                .build()
            var options = CallOptions(timeout: try remaining(since: began), trace: trace, clientAddress: address)
            options.language = Self.language(of: request.head)?.tag
            return try await webSessions.answer(act, request.head.headers, body: body, options)
        }
        let caller = try await gatekeeper.admit(request.head.headers, to: route.access, from: address)
        if let actor = caller.actor { try charge(actor) }
        let key = try idempotencyKey(of: request, route)
        let message = RequestBody(
            route: route, parameters: parameters, request: request, recoveryToken: caller.recoveryToken)
        let body = message.isShort ? try message.build() : try await message.buildOffLoop()
        if case .userOrMember(let member) = route.access, caller.actor == nil, !Self.has(member, in: body) {
            throw Credentials.access.missing(or: member)
        }
        var options = CallOptions(
            timeout: try remaining(since: began), trace: trace, actor: caller.actor, clientAddress: address,
            idempotencyKey: key)
        options.language = Self.language(of: request.head)?.tag
        if route.carriesToken, caller.actor != nil {
            options.accessToken = try Gatekeeper.accessToken(in: request.head.headers)
        }
        let response = try await call(route, binding, body, options)
        return route.isRevalidated ? revalidated(response, request.head) : response
    }

    private func export(
        _ request: HTTPRequest, _ route: Route, _ address: String, _ trace: TraceContext
    ) async throws(Problem) -> HTTPResponse {
        guard let actor = try await gatekeeper.admit(request.head.headers, to: route.access, from: address).actor else {
            throw Gatekeeper.unauthorized
        }
        try charge(actor)
        // The timeout holds for each page, since a whole export may take longer.
        let document = ExportDocument(of: actor.userID, bus: bus) { [timeout = configuration.timeout] in
            CallOptions(timeout: timeout, trace: trace.child(), actor: actor, clientAddress: address)
        }
        do {
            return HTTPResponse(
                status: 200, headers: ["content-type": "application/json", "cache-control": "no-store"],
                body: try await document.begin(), rest: HTTPBodyRest { try await document.next() })
        } catch {
            throw Problem(error)
        }
    }

    /// Only callers without the key count against the rate limit. So an attacker cannot guess keys without end, and
    /// other callers cannot use up the operator's limit.
    private func admitOperator(_ request: HTTPRequest) throws(Problem) {
        guard !configuration.operators.admits(request.head.headers, peer: request.peer) else { return }
        try charge(try address(of: request.head, from: request.peer))
        throw Gatekeeper.operatorsOnly
    }

    /// The time that is left for the request after the token check.
    private func remaining(since began: UInt64) throws(Problem) -> Duration {
        let remaining = configuration.timeout - .nanoseconds(Int64(MonotonicClock.now() - began))
        guard remaining > .zero else { throw Problem(.deadlineExceeded, "The request took too long to answer.") }
        return remaining
    }

    private static func has(_ member: String, in body: [UInt8]) -> Bool {
        (try? JSONDocument(body).root[member]?.string) != nil
    }

    private func call(
        _ route: Route, _ binding: MessageBinding, _ body: [UInt8], _ options: CallOptions
    ) async throws(Problem) -> HTTPResponse {
        let reply: RawReply
        do {
            reply = try await bus.callRaw(
                type: binding.type, version: binding.version, rules: binding.rules, body: body, options)
        } catch {
            throw Problem(error)
        }
        var response = HTTPResponse(
            status: reply.hasOtherSuccess ? route.otherSuccess ?? route.success : route.success,
            headers: ["cache-control": "no-store"])
        if !binding.replyIsEmpty {
            response.headers.set("content-type", "application/json")
            response.body = reply.body
        }
        if reply.isReplay { response.headers.set("idempotency-replayed", "true") }
        if let tag = reply.entityTag ?? reply.entityRevision.map(EntityTag.init(revision:)) {
            response.headers.set("etag", tag.quoted)
        }
        if let language = reply.contentLanguage { response.headers.set("content-language", language) }
        return response
    }

    /// The response itself, or 304 without a body if the client already has this version.
    private func revalidated(_ response: HTTPResponse, _ head: HTTPRequestHead) -> HTTPResponse {
        let tag = response.headers.first("etag")
        var response = response
        if head.headers.knows(tag ?? "") {
            response = HTTPResponse(status: 304)
            if let tag { response.headers.set("etag", tag) }
        }
        response.headers.set("cache-control", "no-cache")
        response.headers.set("vary", "Accept-Language")
        return response
    }

    private func address(of head: HTTPRequestHead, from peer: String) throws(Problem) -> String {
        do {
            return try clientAddress.find(peer: peer, headers: head.headers)
        } catch {
            throw Problem(.malformedRequest, "X-Forwarded-For does not name the client.")
        }
    }

    private func idempotencyKey(of request: HTTPRequest, _ route: Route) throws(Problem) -> String? {
        guard route.method == .post else { return nil }
        let values = request.head.headers.all("idempotency-key")
        guard let value = values.first else { return "\(IdempotencyKey.gatewayPrefix)\(Identifier.ordered())" }
        guard values.count == 1, (1...255).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw Problem(.malformedRequest, "Idempotency-Key must be 1 to 255 visible ASCII characters.") }
        return value
    }

    private func charge(_ address: String) throws(Problem) {
        guard byAddress != nil, let address = NetworkAddress(address) else { return }
        let now = MonotonicClock.now()
        for sharer in address.sharers {
            try Self.pass(byAddress?.refusal(for: sharer.key, shares: sharer.shares, now: now))
        }
    }

    private func charge(_ actor: Actor) throws(Problem) {
        try Self.pass(byPerson?.refusal(for: actor.userID, now: MonotonicClock.now()))
    }

    private static func pass(_ seconds: Int64??) throws(Problem) {
        guard let seconds = seconds ?? nil else { return }
        throw Problem(
            .rateLimited, "Please wait \(seconds.counted("second")) before retrying", retryAfterSeconds: seconds)
    }
}

extension HTTPHeaders {
    /// Whether the client already has the version with this entity tag (RFC 9110, section 13.1.2).
    func knows(_ tag: String) -> Bool {
        EntityTag.listed(in: all("if-none-match").joined(separator: ","))
            .contains { $0 == "*" || $0.trimmingPrefix("W/") == tag }
    }
}
