import BusProtocol
import BusRuntime
import Dispatch
import EventLoop
import Foundation
import JSONText

/// `vestibule bus`: shows the replicas on the bus, and sends them messages.
enum BusCommand {
    /// A replica counts as dead after this long without a reply. The limit keeps a command below 200 ms.
    static let patience = Duration.milliseconds(120)

    private static let commands = CommandGroup(
        name: "bus",
        usages: [
            "ls", "info SERVICE", "ping SERVICE", "stats [SERVICE]", "tail [SERVICE]", "drain REPLICA",
            "call TYPE [JSON]",
        ])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(
            words, options: ["--state"], flags: ["--json", "--as-operator"], mostWords: 3)
        let bus = try BusAccess(state: arguments["--state"])
        switch (arguments.rest.first, arguments.rest.count) {
        case ("ls", 1): try list(bus, asJSON: arguments.has("--json"))
        case ("info", 2): try info(bus, of: arguments.rest[1])
        case ("ping", 2): try ping(bus, arguments.rest[1])
        case ("call", 2...3):
            try call(
                bus, arguments.rest[1], arguments.rest.count == 3 ? arguments.rest[2] : "{}",
                isAsOperator: arguments.has("--as-operator"))
        case ("stats", 1...2):
            try stats(bus, of: arguments.rest.dropFirst().first, asJSON: arguments.has("--json"))
        case ("tail", 1...2): try tail(bus, of: arguments.rest.dropFirst().first, asJSON: arguments.has("--json"))
        case ("drain", 2): try drain(bus, arguments.rest[1])
        default:
            throw commands.misuse(of: arguments.rest.first)
        }
    }

    /// Lists every replica.
    ///
    /// - Throws: ``CommandError`` that names the services without a ready replica.
    private static func list(_ bus: BusAccess, asJSON: Bool) throws {
        let replicas = try waiting { try await look(bus) }
        let ready = Set(replicas.filter { $0.answer?.state == .ready }.map(\.service.rawValue))
        say(
            asJSON
                ? String(decoding: CanonicalJSON.bytes(of: .array(replicas.map(\.json))), as: UTF8.self)
                : table(replicas))
        let missing = StateFolder.services.filter { !ready.contains($0) }
        guard missing.isEmpty else { throw CommandError("no ready replica of \(missing.joined(separator: ", "))") }
    }

    /// Prints the state of each replica of a service.
    private static func info(_ bus: BusAccess, of service: String) throws {
        for replica in try replicas(of: service, bus) {
            guard let answer = replica.answer else { say("\(replica.endpoint)\n  does not answer\n"); continue }
            say(
                """
                \(replica.endpoint)
                  instance   \(answer.instance)
                  state      \(answer.state.rawValue), \(answer.inFlight) in flight, \(answer.queueDepth) queued
                  build      \(answer.build)
                  wire       \(answer.wire.lowerBound) to \(answer.wire.upperBound)
                  messages   \(answer.catalogue)
                  credit     \(answer.credit) requests of one caller at once

                """)
        }
    }

    /// Makes ten round trips to each replica of a service, each over a connection of its own.
    private static func ping(_ bus: BusAccess, _ service: String) throws {
        var isAlive = false
        for turn in 1...10 {
            for replica in try replicas(of: service, bus) {
                let time = replica.answer.map { String(format: "%.2f ms", $0.roundTrip / .milliseconds(1)) }
                isAlive = isAlive || time != nil
                say("\(turn) \(replica.endpoint) \(time ?? "does not answer")")
            }
        }
        guard isAlive else { throw CommandError("no replica of \(service) answers") }
    }

    /// Sends one message as an operator, for no person, and prints its reply.
    private static func call(_ bus: BusAccess, _ type: String, _ body: String, isAsOperator: Bool) throws {
        let sought = MessageType(rawValue: type)
        guard let message = MessageCatalogue.all.filter({ $0.type == sought }).max(by: { $0.version < $1.version })
        else {
            throw CommandError.usage("there is no message \(type): see docs/schema")
        }
        let value: JSONValue
        do throws(JSONTextError) {
            value = try JSONValue.parse(Array(body.utf8))
        } catch {
            throw CommandError.notJSON(Array(body.utf8), of: "the body of \(type)", error)
        }
        guard case .object = value else { throw CommandError.usage("the body of \(type) must be a JSON object") }
        let (version, rules) = (message.version, message.rules)
        do {
            let reply = try waiting {
                try await answer(bus, sought, version, rules, CanonicalJSON.bytes(of: value), isAsOperator)
            }
            say(String(decoding: reply, as: UTF8.self))
        } catch let error as BusError {
            let needsWord =
                error.code == ErrorCode.callerNotAllowed.name && !isAsOperator && !rules.replyCarriesToken
            throw CommandError(
                CommandError(error).message
                    + (needsWord ? " With --as-operator the service does it, and logs it." : ""))
        }
    }

    /// Sends a request as an operator. If it changes something, the service logs it and adds it to its audit trail.
    @Loop static func asOperator<Request: BusRequest>(
        _ request: Request, _ access: BusAccess
    ) async throws -> Request.Reply {
        let reply = try await answer(
            access, Request.type, Request.version, Request.rules, request.jsonBytes,
            Request.rules.effect != .read)
        return try Request.Reply(json: JSONDocument(reply).root)
    }

    @Loop private static func answer(
        _ access: BusAccess, _ type: MessageType, _ version: UInt16, _ rules: MessageRules, _ body: [UInt8],
        _ isAsOperator: Bool
    ) async throws -> [UInt8] {
        let security = try access.security()
        var configuration = BusConfiguration(
            service: security.name ?? .operator, peers: access.peers.filter { $0.key == rules.service })
        configuration.security = security
        let bus = Bus(configuration)
        try bus.start()
        defer { bus.stop() }
        var options = CallOptions(timeout: .seconds(10))
        options.isAsOperator = isAsOperator
        // Each call has its own key, so an operator who sends a message twice gets its effect twice.
        if rules.effect == .once { options.idempotencyKey = "operator-\(Identifier.ordered())" }
        do {
            return try await bus.callRaw(type: type, version: version, rules: rules, body: body, options).body
        } catch {
            guard rules.effect == .once, error.executed == .unknown else { throw error }
            var error = error
            error.detail += " It may have been done: look before you repeat it."
            throw error
        }
    }

    /// The service with the given name.
    ///
    /// - Throws: ``CommandError`` if there is no such service.
    static func known(_ service: String, _ bus: BusAccess) throws -> ServiceName {
        let known = bus.peers.keys.map(\.rawValue).sorted()
        guard known.contains(service) else {
            throw CommandError.usage("there is no service \(service) here: expected \(known.joined(separator: ", "))")
        }
        return ServiceName(rawValue: service)
    }

    private static func replicas(of service: String, _ bus: BusAccess) throws -> [Replica] {
        let service = try known(service, bus)
        let found = try waiting { try await look(bus, at: service) }
        guard !found.isEmpty else { throw CommandError("there is no replica of \(service)") }
        return found
    }

    struct Replica {
        let service: ServiceName
        let endpoint: String
        let verdict: Result<BusProbe.Answer, ServiceAbsence>
        /// The process id; `nil` if it is unknown.
        let process: Int32?

        var answer: BusProbe.Answer? { try? verdict.get() }

        /// `ready`, `starting` or `draining`; the reason if the replica does not answer.
        var state: String {
            switch verdict {
            case .success(let answer): answer.state.rawValue
            case .failure(.noAnswer) where process.map(ProcessTable.isStopped) == true: "stopped"
            case .failure(let absence): absence.rawValue
            }
        }

        var json: JSONValue {
            var members: [String: JSONValue] = [
                "service": .string(service.rawValue), "endpoint": .string(endpoint), "state": .string(state),
                "process": process.map { .integer(Int64($0)) } ?? .null,
            ]
            if let answer {
                members["instance"] = .string(answer.instance.description)
                members["build"] = .string(answer.build)
                members["inFlight"] = .integer(Int64(answer.inFlight))
                members["queueDepth"] = .integer(Int64(answer.queueDepth))
                members["roundTripMicroseconds"] = .integer(Int64(answer.roundTrip / .microseconds(1)))
            }
            return .object(members)
        }
    }

    /// Asks all replicas at once, so that a dead one does not delay the others.
    ///
    /// - Parameters:
    ///   - only: the service to ask; `nil` for every one.
    ///   - limit: how long each replica may take to answer.
    ///   - question: returns the question to the replica at an endpoint.
    @Loop static func look(
        _ bus: BusAccess, at only: ServiceName? = nil, within limit: Duration = patience,
        question: (String) -> BusProbe.Question = { _ in .nothing }
    ) async throws -> [Replica] {
        let security = try bus.security()
        var looks: [Task<Replica, any Error>] = []
        let peers = bus.peers.filter { only == nil || $0.key == only }.sorted { $0.key.rawValue < $1.key.rawValue }
        for (service, discovery) in peers {
            let endpoints = try await Loop.offload { discovery.everyEndpoint(of: service) } ?? []
            for endpoint in endpoints.sorted() {
                let question = question(endpoint)
                looks.append(
                    Loop.spawn {
                        let verdict = await BusProbe.examine(
                            endpoint, of: service, as: security, question: question, within: limit)
                        let told = try? verdict.get().process
                        return Replica(
                            service: service, endpoint: endpoint, verdict: verdict,
                            process: told ?? BusProbe.listener(at: endpoint))
                    })
            }
        }
        var replicas: [Replica] = []
        for look in looks { replicas.append(try await look.value) }
        return replicas
    }

    private static func table(_ replicas: [Replica]) -> String {
        let rows = replicas.map { replica -> [String] in
            let process = replica.process.map { "\($0)" } ?? ""
            guard let answer = replica.answer else {
                return [replica.service.rawValue, replica.state, process, "", "", "", "", replica.endpoint]
            }
            return [
                replica.service.rawValue, replica.state, process, "\(answer.inFlight)", "\(answer.queueDepth)",
                String(format: "%.1f ms", answer.roundTrip / .milliseconds(1)), answer.build, replica.endpoint,
            ]
        }
        return TextTable.text(
            of: [["service", "state", "process", "in flight", "queued", "answers in", "build", "endpoint"]] + rows)
    }

    /// Runs an async body on the loop, and blocks this thread until it ends. The loop has a thread of its own.
    static func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let (done, box) = (DispatchSemaphore(value: 0), ResultBox<Value>())
        Loop.spawn {
            do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
            done.signal()
        }
        done.wait()
        guard let result = box.result else { throw CommandError("the bus did not answer") }
        return try result.get()
    }

    /// The semaphore protects `result`: the task writes it once before the signal, and the thread reads it once after.
    private final class ResultBox<Value: Sendable>: @unchecked Sendable { var result: Result<Value, any Error>? }
}

/// The addresses and the key of a bus. They come from the environment, as in a container, or from a state folder.
struct BusAccess: Sendable {
    let peers: [ServiceName: Discovery]
    private let secret: String
    private let list: String

    init(state: String?, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        if state == nil, let list = environment["BUS_ALLOWED"] {
            self.list = list
            secret = try environment["BUS_KEY"] ?? Self.contents(of: environment["BUS_KEY_FILE"] ?? "")
            peers = try StateFolder.services.reduce(into: [:]) { peers, service in
                guard let text = environment["BUS_\(service.variablePrefix)"] else { return }
                peers[ServiceName(rawValue: service)] = try Discovery(text)
            }
        } else {
            let folder = try StateFolder(state, create: false)
            let keys = BusKeyFolder(path: folder.keys)
            list = keys.list
            secret = try Self.contents(of: keys.secret(of: ServiceName.operator.rawValue))
            peers = try StateFolder.services.reduce(into: [:]) {
                $0[ServiceName(rawValue: $1)] = try Discovery("ipc:\(folder.bus)")
            }
        }
    }

    private static func contents(of file: String) throws -> String {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw CommandError(
                "the bus key \(file) cannot be read: was a system started here, and by you?", code: 73)
        }
        return text.trimmingCharacters(in: .newlines)
    }

    @Loop func security() throws -> BusSecurity { try BusSecurity(secret: secret, allowList: list) }
}
