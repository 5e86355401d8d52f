import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

@Suite("vestibule load", .serialized) struct LoadTests {
    /// A gateway as it was built, with no service behind it: it answers `GET /healthz` itself.
    private final class LoneGateway: Sendable {
        let process: pid_t
        let target: sockaddr_in
        private let installation: Installation

        init() throws {
            installation = try Installation()
            let free = try RawServer.listenAtFreePort()
            close(free.descriptor)
            let keys = BusKeyFolder(path: installation.state.keys)
            try keys.makeMissing()
            var environment = [
                "PATH": "/usr/bin:/bin", "VESTIBULE_PROFILE": "development", "GATEWAY_RATE_LIMIT": "off",
                "GATEWAY_HTTP": "127.0.0.1:\(free.port)", "BUS_KEY_FILE": keys.secret(of: "gateway"),
                "BUS_ALLOWED": keys.list,
            ]
            for service in StateFolder.services {
                environment["BUS_\(service.variablePrefix)"] = "ipc:\(installation.state.bus)"
            }
            process = try Subprocess.start(
                ["setpriv", "--pdeathsig", "KILL", "--", installation.program("Gateway")], environment: environment,
                output: installation.state.log("gateway"), newSession: true)
            target = HTTPClient.addresses("127.0.0.1", free.port)[0]
            let client = try HTTPClient("127.0.0.1:\(free.port)")
            try installation.wait("a gateway") { (try? client.send("GET", "/healthz"))?.status == 200 }
        }

        deinit {
            kill(process, SIGKILL)
            _ = Subprocess.wait(process)
            installation.remove()
        }
    }

    /// Asks whether a gateway is healthy, at a rate. With one of the requests the gateway stops for a while.
    @Loop private static func run(
        _ plan: LoadPlan, _ gateway: LoneGateway, stoppedAt stop: Int, for pause: Duration
    ) async throws -> LoadReport {
        let (pool, book) = (LoadPool(to: gateway.target, most: plan.connections), LoadBook())
        let request = LoadCall.bytes("GET", "/healthz", headers: [:])
        let process = gateway.process
        let span = await LoadRunner.run(plan, book) { index, intended in
            if index == stop {
                kill(process, SIGSTOP)
                _ = LoopTimer(after: pause) { kill(process, SIGCONT) }
            }
            do {
                let answer = try await LoadWire.noted("GET /healthz", book, since: intended) {
                    () async throws(LoadFailure) in
                    let connection = try await pool.take()
                    defer { pool.give(connection) }
                    return try await connection.answer(to: request, within: LoadWire.patience)
                }
                return LoadCall.code(of: answer)
            } catch {
                return LoadCall.code(of: error)
            }
        }
        return LoadReport(
            plan: plan, span: span, actions: book.actions, calls: book.calls, lag: book.lag, waits: pool.waits,
            connections: pool.greatest)
    }

    /// A generator that waits for an answer before it sends the next request would note one late answer in 400.
    @Test(.timed) func aPauseOfTheServerIsVisibleInTheReport() async throws {
        let gateway = try LoneGateway()
        let plan = try LoadPlan(scenario: "read", rate: "200", time: "2s", connections: nil)
        let report = try await Loop.spawn {
            try await Self.run(plan, gateway, stoppedAt: 50, for: .seconds(1))
        }.value
        let times = report.actions.times
        #expect(report.actions.done == 400 && report.actions.errors.isEmpty)
        // Half of the requests were to start within the pause, and waited for its end: a tenth of all at least 0.8 s.
        #expect(times.quantile(0.999) > 950_000 && times.quantile(0.999) < 1_500_000, .time("\(times.quantile(0.999))"))
        #expect(times.quantile(0.9) > 700_000, .time("\(times.quantile(0.9))"))
        #expect(times.quantile(0.4) < 100_000, .time("\(times.quantile(0.4))"))
        #expect(report.flaws == [], .time)
    }

    /// With one connection the calls of the pause waited for the generator, not for the server alone.
    @Test func aRunThatRanOutOfConnectionsIsInvalid() async throws {
        let gateway = try LoneGateway()
        let plan = try LoadPlan(scenario: "read", rate: "200", time: "1s", connections: "1")
        let report = try await Loop.spawn {
            try await Self.run(plan, gateway, stoppedAt: 50, for: .milliseconds(200))
        }.value
        #expect(report.actions.done == 200 && report.connections == 1)
        #expect(report.flaws.contains { if case .noConnection = $0 { true } else { false } })
        #expect(report.json["valid"] == false)
    }

    @Test func aConnectionWithoutAnAnswerHasAReason() async throws {
        let silent = try RawServer.listenAtFreePort()
        let address = HTTPClient.addresses("127.0.0.1", silent.port)[0]
        let request = LoadCall.bytes("GET", "/", headers: [:])
        func failure(within limit: Duration) async throws -> LoadFailure? {
            try await Loop.spawn {
                await Self.failure(of: request, at: address, within: limit)
            }.value
        }
        #expect(try await failure(within: .milliseconds(20)) == .timeout)
        close(silent.descriptor)
        #expect(try await failure(within: .seconds(10)) == .refused)
    }

    @Loop private static func failure(
        of request: [UInt8], at address: sockaddr_in, within limit: Duration
    ) async -> LoadFailure? {
        do {
            _ = try await LoadConnection(to: address, from: LoadPool.source(of: 1)).answer(to: request, within: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test(.bounded) func everyActionRunsOnAWholeSystem() throws {
        let system = try RunningSystem(
            scale: "auth=1",
            variables: [
                "GATEWAY_RATE_LIMIT": "off", "AUTH_SMS_PER_HOUR": "off", "AUTH_SMS_PER_HOUR_COUNTRY": "off",
            ])
        defer { system.stop() }
        let (state, record) = (system.installation.state.path, "\(system.installation.state.path)/load.json")
        let run = try system.installation.run(
            "load", "--scenario", "mixed", "--rate", "40", "--for", "1s", "--record", record, "--state", state)
        let json = try JSONValue.parse([UInt8](try #require(FileManager.default.contents(atPath: record))))
        // A busy machine delays the generator, too.
        #expect(run.code == (json["valid"] == true ? 0 : 1), "\(run.output)")
        #expect(json["actions"]?["count"] == 40 && json["actions"]?["errors"] == [:], "\(run.output)")
        let calls = json["calls"]?.objectValue ?? [:]
        #expect(calls["POST /compatibility/responses"]?["count"] == 26)
        #expect(calls["GET /users/me"]?["count"] == 32 && calls["PUT answer"]?["count"] ?? 0 != 0)
        #expect(calls["PUT picture"]?["count"] == 1)
        #expect(!run.output.contains("\u{1b}"), "a pipe gets no progress line")
    }

    @Test func onlyADevelopmentSystemAcceptsALoad() throws {
        let installation = try Installation()
        defer { installation.remove() }
        let words = ["load", "--scenario", "read", "--rate", "1", "--for", "1s", "--state", installation.state.path]
        #expect(try installation.run(words).code == 3)
        let lock = try installation.state.lock()
        defer { close(lock) }
        for profile in ["", #","profile":"staging""#] {
            try StateFolder.write(
                #"{"pid":\#(getpid()),"http":"127.0.0.1:9"\#(profile),"processes":[]}"#, to: installation.state.runFile,
                mode: 0o600)
            let refused = try installation.run(words)
            #expect(refused.code == 64 && refused.output.contains("development systems only"))
        }
    }
}
