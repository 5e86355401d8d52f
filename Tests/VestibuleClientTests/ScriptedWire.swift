import Foundation
import VestibuleClient

/// A network that does with each request what a test says.
actor ScriptedWire: Transport {
    private let answers: @Sendable (TransportRequest, Int) async throws -> TransportAnswer
    private(set) var requests: [TransportRequest] = []

    /// - Parameter answers: takes each request with its number, from 0.
    init(_ answers: @escaping @Sendable (TransportRequest, Int) async throws -> TransportAnswer) {
        self.answers = answers
    }

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        requests.append(request)
        return try await answers(request, requests.count - 1)
    }

    func count(_ path: String) -> Int { requests.count { $0.url.path == path } }
}

extension TransportAnswer {
    static func json(_ status: Int, _ body: String) -> TransportAnswer {
        TransportAnswer(status: status, body: Data(body.utf8))
    }

    static func problem(_ status: Int, _ code: String, retryAfter: Int? = nil) -> TransportAnswer {
        let wait = retryAfter.map { ", \"retryAfterSeconds\": \($0)" } ?? ""
        return json(
            status,
            """
            {"type": "urn:vestibule:problem:\(code)", "title": "\(code)", "status": \(status), "code": "\(code)", \
            "detail": "It is so.", "traceId": "0af7651916cd43dd8448eb211c80319c"\(wait)}
            """)
    }

    /// A session as a sign-in or a renewal answers it. Its tokens are `at_` and `rf_` with a name.
    static func session(
        _ name: String, of person: UUID = somebody, on device: UUID = phone, secret: String? = nil, seconds: Int = 900
    ) -> TransportAnswer {
        let secret = secret.map { ", \"deviceSecret\": \"\($0)\"" } ?? ""
        return json(
            200,
            """
            {"accessToken": "at_\(name)", "tokenType": "Bearer", "expiresInSeconds": \(seconds), \
            "refreshToken": "rf_\(name)", "sessionId": "\(phone)", "deviceId": "\(device)", "isNewUser": false, \
            "user": {"id": "\(person)", "onboardingStatus": null}\(secret)}
            """)
    }

    static let somebody = UUID()
    static let phone = UUID()
}

extension TransportRequest {
    var token: String? { headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) } }
    func member(_ name: String) -> JSONValue? {
        body.flatMap { try? WireJSON.decoder().decode(JSONValue.self, from: $0) }?.object?[name]
    }
}

/// A clock that stands still but while somebody waits.
final class TestClock: @unchecked Sendable {
    // `lock` protects what is below.
    private let lock = NSLock()
    private var time = Date(timeIntervalSince1970: 1_800_000_000)
    private var slept: [TimeInterval] = []

    var now: Date { lock.withLock { time } }
    var waits: [TimeInterval] { lock.withLock { slept } }
    func pass(_ seconds: TimeInterval) { lock.withLock { time += seconds } }

    var clock: ClientClock {
        ClientClock(
            now: { self.now },
            sleep: { seconds in
                try Task.checkCancellation()
                self.pass(seconds)
                self.lock.withLock { self.slept.append(seconds) }
            }, random: { 0.5 })
    }
}

/// A store that can be locked, as a keychain before the first unlock, and that says when it is written.
final class LockableStore: ClientStore, @unchecked Sendable {
    struct Locked: Error {}

    private let items = MemoryStore()
    // `lock` protects what is below.
    private let lock = NSLock()
    private var (refusesReads, refusesWrites) = (false, false)
    private var written = 0

    var writes: Int { lock.withLock { written } }
    func set(reads: Bool = true, writes: Bool = true) {
        lock.withLock { (refusesReads, refusesWrites) = (!reads, !writes) }
    }

    func read(_ name: String) throws -> Data? {
        if lock.withLock({ refusesReads }) { throw Locked() }
        return items.read(name)
    }

    func write(_ item: Data?, as name: String) throws {
        if lock.withLock({ refusesWrites }) { throw Locked() }
        items.write(item, as: name)
        lock.withLock { written += 1 }
    }
}
