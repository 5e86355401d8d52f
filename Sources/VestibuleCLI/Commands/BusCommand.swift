import BusProtocol
import BusRuntime
import Dispatch
import EventLoop
import Foundation
import JSONText

/// `vestibule bus`: what stands on the bus right now.
enum BusCommand {
    /// A replica that did not answer by then is dead to whoever asks.
    private static let patience = Duration.milliseconds(150)

    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"])
        guard arguments.rest == ["ls"] else { throw CommandError.usage("expected vestibule bus ls") }
        let bus = try BusAccess(state: arguments["--state"])
        let replicas = try waiting { try await look(bus) }
        let dead = Set(replicas.map(\.service)).filter { service in
            !replicas.contains { $0.service == service && $0.answer?.state == .ready }
        }
        let missing = StateFolder.services.filter { service in !replicas.contains { $0.service.rawValue == service } }
        if arguments.has("--json") {
            say(String(decoding: CanonicalJSON.bytes(of: .array(replicas.map(\.json))), as: UTF8.self))
        } else {
            say(table(replicas))
        }
        guard dead.isEmpty, missing.isEmpty else {
            let names = (dead.map(\.rawValue) + missing).sorted().joined(separator: ", ")
            throw CommandError("no replica is ready of \(names)")
        }
    }

    private struct Replica {
        let service: ServiceName
        let endpoint: String
        let answer: BusProbe.Answer?

        var json: JSONValue {
            var members: [String: JSONValue] = [
                "service": .string(service.rawValue), "endpoint": .string(endpoint),
                "state": .string(answer?.state.rawValue ?? "dead"),
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

    /// All at once, so that one that is dead keeps nobody waiting.
    @Loop private static func look(_ bus: BusAccess) async throws -> [Replica] {
        let security = try bus.security()
        var looks: [Task<Replica, any Error>] = []
        for (service, discovery) in bus.peers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let endpoints = try await Loop.offload { discovery.everyEndpoint(of: service) } ?? []
            for endpoint in endpoints.sorted() {
                looks.append(
                    Loop.spawn {
                        let answer = await BusProbe.look(at: endpoint, of: service, as: security, within: patience)
                        return Replica(service: service, endpoint: endpoint, answer: answer)
                    })
            }
        }
        var replicas: [Replica] = []
        for look in looks { replicas.append(try await look.value) }
        return replicas
    }

    private static func table(_ replicas: [Replica]) -> String {
        let rows = replicas.map { replica -> [String] in
            guard let answer = replica.answer else {
                return [replica.service.rawValue, "dead", "", "", "", "", replica.endpoint]
            }
            return [
                replica.service.rawValue, answer.state.rawValue, "\(answer.inFlight)", "\(answer.queueDepth)",
                String(format: "%.1f ms", answer.roundTrip / .milliseconds(1)), answer.build, replica.endpoint,
            ]
        }
        let all = [["SERVICE", "STATE", "IN FLIGHT", "QUEUED", "ANSWERS IN", "BUILD", "ENDPOINT"]] + rows
        let widths = all[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            zip(row, widths).map { $0.padding(toLength: $1 + 2, withPad: " ", startingAt: 0) }.joined()
                .trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
    }

    /// The loop is another thread; this one has nothing else to do.
    private static func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let (done, box) = (DispatchSemaphore(value: 0), ResultBox<Value>())
        Loop.spawn {
            do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
            done.signal()
        }
        done.wait()
        guard let result = box.result else { throw CommandError("the bus did not answer") }
        return try result.get()
    }

    /// Written once before the semaphore is signalled, read once after.
    private final class ResultBox<Value: Sendable>: @unchecked Sendable { var result: Result<Value, any Error>? }
}

/// Where a bus is and with which key it is spoken to: of a program's own environment, as in a container, or of a state
/// folder, as an operator.
struct BusAccess: Sendable {
    let peers: [ServiceName: Discovery]
    private let secret: String
    private let list: String

    init(state: String?, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        if state == nil, let list = environment["BUS_ALLOWED"] {
            self.list = list
            secret = try environment["BUS_KEY"] ?? Self.contents(of: environment["BUS_KEY_FILE"] ?? "")
            peers = try StateFolder.services.reduce(into: [:]) { peers, service in
                guard let text = environment["BUS_\(service.uppercased())"] else { return }
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
                "the key of the bus \(file) cannot be read: is there a system, and is it yours?", code: 73)
        }
        return text.trimmingCharacters(in: .newlines)
    }

    @Loop func security() throws -> BusSecurity { try BusSecurity(secret: secret, allowList: list) }
}
