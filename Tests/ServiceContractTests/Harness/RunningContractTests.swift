import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

/// Checks that hold for every message type of a running service.
///
/// Every check runs for every contract, so that no pair can be left out.
@Suite("running services") struct RunningContractTests {
    /// The checks in the order in which they run. A refusal may need a service that no longer serves anybody.
    enum Check: String, CaseIterable {
        case answersTheEverydayRequest, takesANewersBody, doesARepetitionOnce, leavesAnExpiredRequest, answersNobodyElse
        case refusesEveryMalformedBody, refusesWithEachDeclaredError, tellsTheLogNothing
    }

    @Test(arguments: AnyContract.examined)
    func holds(contract: AnyContract) async throws { try await hold(contract.contract) }

    /// Each check uses its own people. The service starts once, because a start takes longer than most checks.
    private func hold<C: MessageContract>(_ contract: C.Type) async throws {
        try await C.Answering.run { provider in
            #expect(provider.stage.definition.name == C.rules.service)
            let examination = Examination<C>(provider)
            for check in Check.allCases {
                do {
                    try await examination.make(check)
                } catch {
                    Issue.record(error, "\(check)")
                }
            }
        }
    }
}

/// The checks of one contract against its provider.
@Loop private final class Examination<C: MessageContract> {
    private let provider: C.Answering
    /// The sensitive texts of requests and replies, which no log may contain, with the names of their members.
    private var secrets: [String: String] = [:]
    /// The errors that callers got.
    private var shown = ""

    init(_ provider: C.Answering) { self.provider = provider }

    func make(_ check: RunningContractTests.Check) async throws {
        switch check {
        case .answersTheEverydayRequest: try await everyday()
        case .takesANewersBody: try await newerBody()
        case .doesARepetitionOnce: try await repetition()
        case .leavesAnExpiredRequest: try await expiredBudget()
        case .answersNobodyElse: try await strangers()
        case .refusesEveryMalformedBody: try await malformedBodies()
        case .refusesWithEachDeclaredError: try await refusals()
        case .tellsTheLogNothing: log()
        }
    }

    /// Sets up the everyday state and returns the request, with a digest of the tables.
    private func begin() async throws -> (asked: Asked<C>, before: String) {
        let asked = try await C.everyday(provider)
        return (asked, try await provider.tables())
    }

    private func everyday() async throws {
        let (asked, before) = try await begin()
        let reply = try await provider.reply(to: asked)
        #expect(try await (provider.tables() != before) == C.hasEffect)
        try keepSecret(asked.message.jsonBytes, C.schema)
        try keepSecret(reply.jsonBytes, C.Reply.schema)
        // All other allowed callers get a reply, too.
        for caller in C.rules.callers where caller != asked.caller {
            var other = try await C.everyday(provider)
            other.caller = caller
            try await provider.reply(to: other)
        }
    }

    private func newerBody() async throws {
        let asked = try await begin().asked
        let body = try JSONValue.parse(try WireJSON.encode(asked.message))
        for newer in Mutation.unknownMembers(in: body, by: C.schema).prefix(1) {
            _ = try await provider.raw(asked, body: CanonicalJSON.bytes(of: newer))
        }
    }

    private func repetition() async throws {
        let asked = try await begin().asked
        let body = try WireJSON.encode(asked.message)
        let first = try await provider.raw(asked, body: body)
        let after = try await provider.tables()
        let second = try await provider.raw(asked, body: body)
        #expect(try lasting(second) == lasting(first))
        #expect(try await provider.tables() == after, "the second one had an effect")
    }

    /// The reply without the members that depend on the clock.
    private func lasting(_ reply: RawReply) throws -> JSONValue {
        guard case .object(let members) = try JSONValue.parse(reply.body) else { return .null }
        return .object(members.filter { !C.clockMembers.contains($0.key) })
    }

    private func refusals() async throws {
        #expect(difference(between: C.provocations.keys, and: C.errors.map(\.code)) == [])
        for sample in C.errors {
            let asked = try #require(C.provocations[sample.code])
            let request = try await asked(provider)
            let before = try await provider.tables()
            let body = try WireJSON.encode(request.message)
            try keepSecret(body, C.schema)
            let refusal = await refusal(of: request, body: body)
            let error = try #require(refusal, "\(sample.code) was not provoked")
            #expect(ErrorShape(error) == ErrorShape(sample))
            if error.executed == .no { #expect(try await provider.tables() == before, "\(sample.code) had an effect") }
            shown += String(decoding: try WireJSON.encode(error), as: UTF8.self)
        }
    }

    private func expiredBudget() async throws {
        let (asked, before) = try await begin()
        let peer = try #require(try provider.stage.rawPeer(as: asked.caller))
        var header = FrameHeader(kind: .request, correlationID: 0)
        header.messageType = C.type
        header.messageVersion = C.version
        header.messageID = asked.options.messageID
        header.actor = asked.options.actor
        header.budgetMs = 0
        var error: BusError
        repeat {
            header.correlationID += 1
            try await peer.greet(as: asked.caller)
            peer.send(header, try WireJSON.encode(asked.message))
            let (_, body) = try #require(try await peer.receive(.error, .reply))
            error = try WireJSON.decode(BusError.self, from: body)
            // A replica that stood still in the meantime no longer knows a peer that greeted it before.
        } while error.code == "service_unavailable" && error.executed == .no
        #expect(error.code == "deadline_exceeded" && error.executed == .no)
        #expect(try await provider.tables() == before)
    }

    private func strangers() async throws {
        let (asked, before) = try await begin()
        let body = try WireJSON.encode(asked.message)
        let everybody = ServiceName.services + [.gateway, .operator, BusKeys.nobody]
        for caller in everybody where !C.rules.callers.contains(caller) {
            // An operator may send every request that only reads.
            if caller == .operator, C.rules.effect == .read { continue }

            let error = await refusal(of: asked, body: body, as: caller)
            #expect(error?.code == "caller_not_allowed" && error?.executed == .no, "\(caller)")
        }
        #expect(try await provider.tables() == before)
    }

    private func malformedBodies() async throws {
        let (asked, before) = try await begin()
        let body = try JSONValue.parse(try WireJSON.encode(C.maximal))
        for mutation in Mutation.all(of: body, by: C.schema) {
            guard let field = mutation.refusedField else { continue }
            let error = await refusal(of: asked, body: CanonicalJSON.bytes(of: mutation.body))
            #expect(error?.code == "invalid_message" && error?.executed == .no, "\(mutation.label)")
            #expect(error?.errors?.contains { $0.field == field } == true, "\(mutation.label)")
        }
        for text in ["", "{", "[]", "{}{}", "\u{feff}{}", #"{"a":1,"a":2}"#] {
            let error = await refusal(of: asked, body: Array(text.utf8))
            #expect(error?.code == "invalid_message" && error?.executed == .no, "\(text)")
        }
        #expect(try await provider.tables() == before)
    }

    private func keepSecret(_ body: [UInt8], _ schema: JSONSchema) throws {
        secrets.merge(try Sensitive.texts(in: try JSONValue.parse(body), by: schema)) { first, _ in first }
    }

    private func log() {
        shown += LogBook.told(in: provider.stage.log.text)
        for (text, member) in secrets where text.count >= 5 {
            #expect(!shown.contains(text), "\(member): \(text)")
        }
    }

    private func refusal(
        of asked: Asked<C>, body: [UInt8], as caller: ServiceName? = nil
    ) async -> BusError? {
        do throws(BusError) {
            _ = try await provider.raw(asked, body: body, as: caller)
            return nil
        } catch {
            return error
        }
    }
}

/// The parts of an error that do not vary: all but its numbers and the lengths of its lists.
private struct ErrorShape: Equatable {
    private let status: BusStatus
    private let code: String
    private let detail: String
    private let executed: Executed
    private let saysWhenToRetry: Bool
    private let problems: Set<String>
    private let members: Set<String>

    init(_ error: BusError) {
        (status, code, executed) = (error.status, error.code, error.executed)
        detail = error.detail.replacing(/[0-9]+/, with: "0")
        saysWhenToRetry = error.retryAfterMs != nil
        problems = Set((error.errors ?? []).map(\.code))
        members = Set((error.details ?? [:]).keys)
    }
}

/// Texts that no log and no error may contain: free texts, days and codes.
private enum Sensitive {
    /// Members with keys of documents and names of things, which the house writes itself. A text there that does not
    /// look like one, such as a sentence, is sensitive.
    static let words: Set<String> = [
        "app", "apps", "definition", "document", "key", "kid", "kind", "library", "nextQuestion", "onboardingStep",
        "outcome", "plan", "pointer", "question", "questionnaire", "resumeAt", "state", "step",
    ]

    /// Each text with the name of its member.
    ///
    /// - Parameter isWord: whether the body is in one of the ``words``.
    static func texts(
        in body: JSONValue, by schema: JSONSchema, of member: String = "", isWord: Bool = false
    ) throws -> [String: String] {
        func union(_ found: [[String: String]]) -> [String: String] {
            found.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
        func within(_ body: JSONValue, _ schema: JSONSchema, _ name: String? = nil) throws -> [String: String] {
            try texts(
                in: body, by: schema, of: name ?? member, isWord: isWord || name.map { words.contains($0) } ?? false)
        }
        switch (schema, body) {
        case (.named(_, let inner), _), (.nullable(let inner), _): return try within(body, inner)
        case (.anyOf(let schemas), _):
            let node = try JSONDocument(CanonicalJSON.bytes(of: body)).root
            return try schemas.first { $0.problems(in: node).isEmpty }.map { try within(body, $0) } ?? [:]
        case (.any, .string(let text)): return isWord && looksLikeKey(text) ? [:] : [text: member]
        case (.any, .array(let elements)): return try union(elements.map { try within($0, .any) })
        case (.any, .object(let members)): return try union(members.map { try within($0.value, .any, $0.key) })
        case (.string(let rule), .string(let text)):
            return isFree(rule) && !(isWord && looksLikeKey(text)) ? [text: member] : [:]
        case (.array(let element, _), .array(let elements)):
            return try union(elements.map { try within($0, element) })
        case (.map(let element, _), .object(let members)):
            return try union(members.values.map { try within($0, element) })
        case (.object(let known), .object(let members)):
            return try union(known.map { try within(members[$0.name] ?? .null, $0.schema, $0.name) })
        default: return [:]
        }
    }

    private static func isFree(_ rule: JSONSchema.StringRule) -> Bool {
        rule.values == nil && rule.known == nil && ![.uuid, .dateTime, .key].contains(rule.format)
    }

    private static func looksLikeKey(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9_.:\/-]+/) != nil }
}
