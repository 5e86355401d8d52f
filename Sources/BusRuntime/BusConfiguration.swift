import BusProtocol
import EventLoop
import Glibc

/// The identity of this process on the bus, and the addresses of the others.
package struct BusConfiguration: Sendable {
    /// The name of this process's service.
    package var service: ServiceName
    /// Unique for each start.
    package var instance: Identifier
    /// The build of this process, for operators.
    package var build: String
    /// Endpoints to listen on; empty for a process that only calls.
    package var bind: [String]
    /// How to find the replicas of the services that this process calls.
    package var peers: [ServiceName: Discovery]
    /// The keys of this process. Without keys, nothing is encrypted and no name is verified. That is only for
    /// benchmarks and tests.
    package var security: BusSecurity?
    /// The most requests in flight to one replica.
    package var credit = 64
    /// The most requests that this process holds at once. Further requests are refused as overloaded.
    package var largestLoad = 4096
    /// The most calls that wait for a replica of one service. Further calls fail as overloaded.
    package var mostWaiting = 200_000
    /// How long a call waits if no replica is ready.
    package var grace = Duration.seconds(2)
    /// About the least time between two discoveries of replicas. While a replica is ready, a directory is searched half
    /// as often. While none is known, it is searched every 50 ms. A name is resolved about once a second at most.
    package var discoveryInterval = Duration.milliseconds(500)

    /// Takes the identity of this process. All other values have defaults.
    package init(
        service: ServiceName, instance: Identifier = .ordered(), build: String = "dev", bind: [String] = [],
        peers: [ServiceName: Discovery] = [:]
    ) {
        self.service = service
        self.instance = instance
        self.build = build
        self.bind = bind
        self.peers = peers
    }

    /// The endpoint of this instance in a directory of sockets.
    ///
    /// - Throws: ``Discovery/ParseError`` if the path is too long for a socket.
    package func endpoint(inDirectory directory: String) throws(Discovery.ParseError) -> String {
        let path = "\(directory)/\(service)-\(instance).sock"
        guard path.utf8.count <= UnixSocket.longestPath else {
            throw Discovery.ParseError(
                description:
                    "the path \(path) has \(path.utf8.count) bytes, and a socket's has at most \(UnixSocket.longestPath)"
            )
        }
        return "ipc://\(path)"
    }
}

/// The first message that both sides send.
struct Hello: Codable, Sendable, Equatable {
    var service: ServiceName
    var instance: Identifier
    var build: String
    /// The oldest and the newest wire version that the sender understands.
    var wire: [Int]
    /// The digest of the message catalogue. Two builds with the same digest have the same messages.
    var catalogue: String
    var credit: Int
    var heartbeatMs: Int
    /// The process ID, for operators. Older builds do not send it.
    var process: Int32?

    init(_ configuration: BusConfiguration) {
        (service, instance, build) = (configuration.service, configuration.instance, configuration.build)
        (wire, credit, heartbeatMs) = (Self.wires, configuration.credit, Int(MonotonicClock.mainTick / 1_000_000))
        catalogue = MessageCatalogue.digest
        process = getpid()
    }

    /// The wire versions that this build understands.
    private static let wires = [Int(WireVersion.twoParts.rawValue), Int(WireVersion.bundles.rawValue)]

    /// The newest wire version that both sides understand. The hello must have ``speaksOurWire``.
    var commonWire: WireVersion { WireVersion(rawValue: UInt8(clamping: min(wire[1], Self.wires[1]))) ?? .twoParts }

    /// The wire versions that the sender understands. The hello must have ``speaksOurWire``.
    var wireVersions: ClosedRange<Int> { wire[0]...wire[1] }

    /// Whether both sides have a wire version in common, and the numbers are plausible.
    var speaksOurWire: Bool {
        wire.count == 2 && wire[0] <= Self.wires[1] && wire[1] >= Self.wires[0] && wire[0] <= wire[1] && credit > 0
            && (1...64).contains(service.rawValue.utf8.count)
            && build.utf8.count <= 64 && catalogue.utf8.count <= 64
    }

    /// Whether the sender may name the person and the client address behind a request. Only this property decides that.
    /// The key of the sender's connection has proved its name.
    var vouchesForPersons: Bool { service == .gateway }
}

/// The report of a replica in each PONG.
struct Pong: Codable, Sendable, Equatable {
    var state: ServiceState
    /// Requests that wait for their handlers to start.
    var queueDepth: Int
    var inFlight: Int
    /// The newest answers, if the PING asked for them.
    var report: BusReport?
    var answers: [AnswerRecord]?
}

/// Whether a process accepts requests.
package enum ServiceState: String, Codable, Sendable { case starting, ready, draining }

/// Why a service, or one of its replicas, gets no requests.
package enum ServiceAbsence: String, Sendable, Error {
    case starting, draining
    /// A process listens at the endpoint but does not answer: it is stopped, hangs or is cut off.
    case noAnswer = "no_answer"
    /// There is no replica, or no process listens at its endpoint any more.
    case notFound = "not_found"
    /// The allow list has no key of the service.
    case keyRevoked = "key_revoked"
    /// The replica has another key than the allow list, or another allow list.
    case keyRefused = "key_refused"
    /// This process's own key is not on the allow list.
    case ownKeyRevoked = "own_key_revoked"
}

/// Times of the bus, and the most attempts of a call.
enum BusTiming {
    /// The least time between two checks of deadlines, silences and waiting calls, in nanoseconds. It is also the time
    /// between two checks while calls wait for a replica.
    static let shortestTick: UInt64 = 10_000_000
    /// The time between two HELLOs to a replica that has not answered, in nanoseconds.
    static let greeting: UInt64 = 250_000_000
    /// The silence of both sides after which a PING is sent at the next main tick, in nanoseconds.
    static let quiet: UInt64 = 50_000_000
    /// The silence after which a replica is lost, in nanoseconds. A caller that is not late has sent at least two PINGs.
    /// It notices the silence at the next aligned tick.
    static let silence: UInt64 = 800_000_000
    /// If a handshake fails before this time, the peer refused it. If it fails later, no peer answered. In nanoseconds,
    /// and less than libzmq's time-out.
    static let promptRefusal: UInt64 = 1_500_000_000
    /// The time between a refused connection and the next attempt, in nanoseconds.
    static let redial: UInt64 = 500_000_000
    /// A request that waited this long before it could start is not executed. Its caller considers this replica lost,
    /// or soon will.
    static let staleness: UInt64 = 750_000_000
    static let mostAttempts = 3
}
