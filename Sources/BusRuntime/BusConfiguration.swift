import BusProtocol
import Glibc

/// Who this process is on the bus and where it finds the others.
public struct BusConfiguration: Sendable {
    public var service: ServiceName
    /// New at each start.
    public var instance: Identifier
    public var build: String
    /// Endpoints to listen on; none for who only asks.
    public var bind: [String]
    public var peers: [ServiceName: Discovery]
    /// The keys of this process. Without them nothing is encrypted and a caller is who it says it is: for benchmarks, and
    /// for tests of what lies above.
    public var security: BusSecurity?
    /// Requests in flight to one replica.
    public var credit = 64
    /// Requests that this process has in hand at once; more are refused as overloaded.
    public var largestLoad = 4096
    /// Calls that wait for a replica of one service at once; more fail as overloaded.
    public var mostWaiting = 200_000
    /// How long a call waits for a replica when none is ready.
    public var grace = Duration.seconds(2)
    /// Between looks for replicas, at least; names are asked for no more than once a second. While none is known, a directory
    /// is looked at every 50 ms.
    public var discoveryInterval = Duration.milliseconds(500)

    public init(
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
    /// - Throws: ``Discovery/ParseError`` where the path is too long for a socket.
    public func endpoint(inDirectory directory: String) throws(Discovery.ParseError) -> String {
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

/// What both sides tell each other first.
struct Hello: Codable, Sendable, Equatable {
    var service: ServiceName
    var instance: Identifier
    var build: String
    /// Wire versions understood, from and to.
    var wire: [Int]
    /// Of the whole catalogue: two builds with the same value speak of the same messages.
    var catalogue: String
    var credit: Int
    var heartbeatMs: Int
    /// The number of the process on its machine, for an operator. Came later.
    var process: Int32?

    init(_ configuration: BusConfiguration) {
        (service, instance, build) = (configuration.service, configuration.instance, configuration.build)
        (wire, credit, heartbeatMs) = (Self.wires, configuration.credit, Int(BusTiming.heartbeat / 1_000_000))
        catalogue = Catalogue.digest
        process = getpid()
    }

    /// What this build understands.
    private static let wires = [Int(WireVersion.twoParts.rawValue), Int(WireVersion.bundles.rawValue)]

    /// The newest that both sides understand, of a hello that ``speaksOurWire``.
    var commonWire: WireVersion { WireVersion(rawValue: UInt8(clamping: min(wire[1], Self.wires[1]))) ?? .twoParts }

    /// Of a hello that ``speaksOurWire``.
    var wireVersions: ClosedRange<Int> { wire[0]...wire[1] }

    /// Whether the two have a wire version in common, and the numbers can be.
    var speaksOurWire: Bool {
        wire.count == 2 && wire[0] <= Self.wires[1] && wire[1] >= Self.wires[0] && wire[0] <= wire[1] && credit > 0
            && (1...64).contains(service.rawValue.utf8.count)
            && build.utf8.count <= 64 && catalogue.utf8.count <= 64
    }

    /// Whether its word counts for the person and the client address behind a request. The one place that decides it;
    /// that it is who it says was decided by its key.
    var vouchesForPersons: Bool { service == .gateway }
}

/// What a replica says of itself in each PONG.
struct Pong: Codable, Sendable, Equatable {
    var state: ServiceState
    /// Requests whose handlers have not begun.
    var queueDepth: Int
    var inFlight: Int
    /// Where they were asked for.
    var report: BusReport?
    var answers: [AnswerRecord]?
}

/// Whether a process takes requests.
public enum ServiceState: String, Codable, Sendable { case starting, ready, draining }

/// Why a service, or one of its replicas, is not asked.
public enum ServiceAbsence: String, Sendable, Error {
    case starting, draining
    /// Somebody listens there and does not answer: the process is stopped, hangs or is cut off.
    case noAnswer = "no_answer"
    /// There is no replica, or nobody listens where one was.
    case notFound = "not_found"
    /// No key of the service is on the list of those that may speak.
    case keyRevoked = "key_revoked"
    /// The replica has another key than the list says, or a list of its own.
    case keyRefused = "key_refused"
    /// The key of who asks is not on the list.
    case ownKeyRevoked = "own_key_revoked"
}

/// Times of the bus.
enum BusTiming {
    /// Between looks at deadlines, heartbeats and waiting calls.
    static let tick = Duration.milliseconds(10)
    /// Silence after which a PING is sent, nanoseconds.
    static let heartbeat: UInt64 = 250_000_000
    /// Silence after which a replica is out, nanoseconds: three PINGs.
    static let silence: UInt64 = 800_000_000
    /// A handshake that failed sooner was refused; later, nobody answered it. Nanoseconds, below the time-out of libzmq.
    static let promptRefusal: UInt64 = 1_500_000_000
    /// Between a refused connection and the next attempt, nanoseconds.
    static let redial: UInt64 = 500_000_000
    /// What waited for so long before it could begin is not executed: its caller counts this replica as lost, or soon will.
    static let staleness: UInt64 = 750_000_000
    static let mostAttempts = 3
}
