import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import JSONText

/// Measures sign-ins at a running system. It calls auth over the bus as a gateway does.
///
/// `bus-bench sign-ins FIRST_NUMBER SECONDS` needs the gateway's `BUS_AUTH`, `BUS_KEY_FILE` and `BUS_ALLOWED`, and
/// auth's `SPOOL_DIR`, in the environment. It prints a line each for `logins`, `refreshes` and `signatures`: the rate
/// and, for the first two, p50 and p99 in microseconds.
///
/// A login asks for a code, reads the SMS from the spool, and exchanges the code for a session. The phones already have
/// accounts.
@Loop enum SignIns {
    private nonisolated static let inFlight = 64
    /// The number of phones, which sign in by turns. With this many, at least a second lies between two codes of one
    /// phone.
    private nonisolated static let phones = 4096

    nonisolated static func run(first: Int, seconds: Double, environment: [String: String]) async throws {
        try await Loop.spawn { try await measure(first, seconds, environment) }.value
    }

    private static func measure(_ first: Int, _ seconds: Double, _ environment: [String: String]) async throws {
        func value(_ name: String) throws -> String {
            guard let value = environment[name] else { throw BenchFailure(description: "\(name) is not set") }
            return value
        }
        var configuration = BusConfiguration(
            service: .gateway, peers: [.auth: try Discovery(value("BUS_AUTH"))])
        configuration.security = try BusSecurity(
            secret: String(contentsOfFile: value("BUS_KEY_FILE"), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines), allowList: value("BUS_ALLOWED"))
        let bus = Bus(configuration)
        try bus.start()
        defer { bus.stop() }
        let codes = try Codes(file: "\(value("SPOOL_DIR"))/sms.jsonl")
        defer { codes.stop() }
        let people = (0..<phones).map { Person($0, first: first) }

        // Everybody signs in once before the measurement.
        _ = try await together(people) {
            _ = try await $0.logIn(bus, codes)
            return nil
        }
        let logins = try await together(people, seconds: seconds) { try await $0.logIn(bus, codes) }
        let refreshes = try await together(people, seconds: seconds) { try await $0.refresh(bus) }
        print("logins \(Figures(latencies: logins, seconds: seconds).line)")
        print("refreshes \(Figures(latencies: refreshes, seconds: seconds).line)")
        print("signatures \(signatures())")
    }

    /// Runs work for each person, with `inFlight` at a time: once for each, or again and again for `seconds`.
    ///
    /// - Returns: the measured times in nanoseconds.
    private static func together(
        _ people: [Person], seconds: Double? = nil, _ work: @escaping @Loop (Person) async throws -> UInt64?
    ) async throws -> [UInt64] {
        let end = seconds.map { MonotonicClock.now() + UInt64($0 * 1e9) }
        let workers = (0..<inFlight).map { worker in
            Loop.spawn {
                var latencies: [UInt64] = []
                repeat {
                    for index in stride(from: worker, to: people.count, by: inFlight) {
                        if let end, MonotonicClock.now() >= end { return latencies }
                        if let latency = try await work(people[index]) { latencies.append(latency) }
                    }
                } while end != nil
                return latencies
            }
        }
        var all: [UInt64] = []
        for worker in workers { all += try await worker.value }
        return all
    }

    /// The number of Ed25519 signatures that this processor makes in a second, over as many bytes as those of an access
    /// token.
    private static func signatures() -> Int {
        let key = Ed25519PrivateKey()
        let text = [UInt8](repeating: 65, count: 320)
        var count = 0
        let began = MonotonicClock.now()
        while MonotonicClock.now() - began < 1_000_000_000 {
            _ = key.signature(for: text)
            count += 1
        }
        return count
    }
}

/// A person with a phone, a device and a session.
@Loop private final class Person {
    private let phone: String
    private let options: CallOptions
    private var device: (id: Identifier, secret: String)?
    private var refreshToken: String?

    /// Gives each person an address, and a number with one of a hundred prefixes, as in a real country.
    ///
    /// - Parameter first: the first number, five digits.
    init(_ number: Int, first: Int) {
        let prefix = String(100 + number % 100).dropFirst()
        phone = "+4670\(prefix)\(first + number / 100)"
        options = CallOptions(timeout: .seconds(5), clientAddress: "198.18.\(number / 256).\(number % 256)")
    }

    /// - Returns: the nanoseconds from the request for a code to the session.
    func logIn(_ bus: Bus, _ codes: Codes) async throws -> UInt64 {
        let began = MonotonicClock.now()
        let code = codes.next(for: phone)
        let sent = try await bus.call(SendOTP(phone: phone), options)
        let claim = DeviceClaim(id: device?.id, secret: device?.secret, name: "bench", platform: "web")
        let session = try await bus.call(
            VerifyOTP(challengeId: sent.challengeId, code: try await code.get(), device: claim), options)
        if let secret = session.deviceSecret { device = (session.deviceId, secret) }
        refreshToken = session.refreshToken
        return MonotonicClock.now() - began
    }

    func refresh(_ bus: Bus) async throws -> UInt64 {
        let began = MonotonicClock.now()
        guard let token = refreshToken else { throw BenchFailure(description: "nobody is signed in") }
        refreshToken = try await bus.call(RefreshToken(refreshToken: token), options).refreshToken
        return MonotonicClock.now() - began
    }
}

/// Reads codes from the spool and passes them to the tasks that wait for them.
@Loop private final class Codes {
    private let file: Int32
    private var waiting: [String: LoopPromise<String>] = [:]
    private var unread: [UInt8] = []
    private var timer: LoopTimer?

    init(file path: String) throws {
        file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchFailure(description: "the spool cannot be read") }
        lseek(file, 0, SEEK_END)
        look()
    }

    func stop() {
        timer?.cancel()
        close(file)
    }

    func next(for phone: String) -> LoopPromise<String> {
        let promise = LoopPromise<String>()
        waiting[phone] = promise
        _ = LoopTimer(after: .seconds(10)) { [weak promise] in
            promise?.resolve(.failure(BenchFailure(description: "no SMS came within 10 s")))
        }
        return promise
    }

    private func look() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            unread += buffer.prefix(count)
        }
        var lines = unread.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        unread = Array(lines.removeLast())
        for line in lines {
            guard let sms = try? JSONDocument(Array(line)).root, let phone = sms["to"]?.string else { continue }
            waiting.removeValue(forKey: phone)?.resolve(.success(String(sms["body"]?.string?.prefix(6) ?? "")))
        }
        timer = LoopTimer(after: .milliseconds(1)) { [weak self] in self?.look() }
    }
}
