import BusProtocol
import BusRuntime
import EventLoop
import JSONText
import TestSupport
import Testing

/// A request that is passed on from service to service, over three hops.
private protocol Hop: BusRequest where Reply == Echoed {
    init()
}

@Message
private struct FirstHop: Hop {
    typealias Reply = Echoed
    static let type: MessageType = "auth.hop"
    static let rules = MessageRules(service: .auth, callers: [.gateway], effect: .read)
}

@Message
private struct SecondHop: Hop {
    typealias Reply = Echoed
    static let type: MessageType = "profile.hop"
    static let rules = MessageRules(service: .profile, callers: [.auth], effect: .read)
}

@Message
private struct ThirdHop: Hop {
    typealias Reply = Echoed
    static let type: MessageType = "questionnaire.hop"
    static let rules = MessageRules(service: .questionnaire, callers: [.profile], effect: .read)
}

/// Records when the call ended for each participant.
@Loop private final class Ends {
    var start: UInt64 = 0
    private(set) var times: [String: Duration] = [:]

    func note(_ what: String) { times[what] = .nanoseconds(MonotonicClock.now() - start) }
}

/// Calls the next service with its own remaining time, and records when that call ended.
private struct PassingHandler<Request: Hop, Next: Hop>: RequestHandler {
    let bus: Bus
    let next: Next.Type
    let ends: Ends

    func handle(_ request: Request, context: RequestContext) async throws -> Echoed {
        do {
            return try await bus.call(Next(), CallOptions(timeout: context.remaining))
        } catch {
            ends.note("\(Request.type) \(error.code)")
            throw error
        }
    }
}

private struct LastHandler: RequestHandler {
    let ends: Ends

    func handle(_ request: ThirdHop, context: RequestContext) async throws -> Echoed {
        do {
            try await Loop.sleep(for: .seconds(60))
        } catch {
            ends.note("\(ThirdHop.type) cancelled")
            throw error
        }
        return Echoed(text: "")
    }
}

@Suite("A budget over three hops") struct HopTests {
    @Test(.timed) func aDeadlineEndsAllHopsAtTheSameTime() async throws {
        try await BusLab.run { lab in
            let ends = Ends()
            let last = try lab.hop(.questionnaire, asks: [])
            last.register(LastHandler(ends: ends))
            let second = try lab.hop(.profile, asks: [.questionnaire])
            second.register(PassingHandler<SecondHop, ThirdHop>(bus: second, next: ThirdHop.self, ends: ends))
            let first = try lab.hop(.auth, asks: [.profile])
            first.register(PassingHandler<FirstHop, SecondHop>(bus: first, next: SecondHop.self, ends: ends))
            let client = try lab.client()
            #expect(
                try await eventually {
                    client.hasReadyReplica(of: .auth) && first.hasReadyReplica(of: .profile)
                        && second.hasReadyReplica(of: .questionnaire)
                })
            ends.start = MonotonicClock.now()
            let error = await failure { () throws(BusError) in
                try await client.call(FirstHop(), .within(.milliseconds(300)))
            }
            ends.note("gateway \(error?.code ?? "ok")")
            #expect(try await eventually { last.inFlight + second.inFlight + first.inFlight == 0 })
            let times = ends.times
            print("300 ms over three hops: \(times)")
            #expect(times["gateway deadline_exceeded"] != nil && times.values.allSatisfy { $0 >= .milliseconds(280) })
            // On a slow machine, the request may reach a service too late to begin.
            #expect(times.count == 4 && times["questionnaire.hop cancelled"] != nil, .time("\(times)"))
            #expect(times.values.allSatisfy { $0 <= .milliseconds(320) }, .time("\(times)"))
        }
    }
}

extension BusLab {
    /// A service that answers calls and calls other services.
    fileprivate func hop(_ service: ServiceName, asks others: [ServiceName]) throws -> Bus {
        try server { configuration in
            configuration.bind = configuration.bind.map { $0.replacing("/auth-", with: "/\(service)-") }
            configuration.service = service
            configuration.peers = Dictionary(uniqueKeysWithValues: others.map { ($0, .directory(directory)) })
            configuration.discoveryInterval = .milliseconds(20)
        }
    }
}
