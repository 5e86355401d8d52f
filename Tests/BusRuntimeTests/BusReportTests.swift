import BusProtocol
import EventLoop
import Glibc
import JSONText
import TestSupport
import Testing

@testable import BusRuntime

@Suite("What a process tells of itself") struct BusReportTests {
    /// A replica with keys, and a gateway that calls it. The replica fails for `bad` and waits for `slow`.
    @Loop private struct Pair {
        let keys: BusKeys
        let server: Bus
        let gateway: Bus
        let slow = LoopPromise<Void>()

        init(_ lab: BusLab) throws {
            let keys = try BusKeys(in: lab.directory)
            let slow = slow
            let handler = EchoHandler { request, _ in
                if request.text == "busy" { throw BusError(.overloaded, "A table is locked.") }
                if request.text == "bad" { throw BusError(.internalError, "Not this one.") }
                if request.text == "slow" { try await slow.get() }
                return request.text
            }
            self.keys = keys
            server = try lab.server({ $0.security = try? keys.security(of: .auth) }, handlers: [handler])
            gateway = try lab.client { $0.security = try? keys.security(of: .gateway) }
        }

        func ask(_ text: String, trace: TraceContext = .fresh(), within: Duration = .seconds(5)) async -> String {
            do throws(BusError) {
                return try await gateway.call(Echo(text: text), CallOptions(timeout: within, trace: trace)).text
            } catch {
                return error.code
            }
        }

        func look(as service: ServiceName, _ question: BusProbe.Question) async throws -> BusProbe.Answer {
            let answer = await BusProbe.look(
                at: try #require(server.endpoint), of: .auth, as: try keys.security(of: service), question: question,
                within: .seconds(2))
            return try #require(answer)
        }
    }

    @Test func bothSidesCountTheSame() async throws {
        try await BusLab.run { lab in
            let pair = try Pair(lab)
            for _ in 0..<10 { #expect(await pair.ask("good") == "good") }
            for _ in 0..<3 { #expect(await pair.ask("bad") == "internal_error") }
            #expect(await pair.ask("slow", within: .milliseconds(200)) == "deadline_exceeded")
            let held = Loop.spawn { await pair.ask("slow") }
            // Each side ends the unanswered call by its own clock, and the last call first waits for its turn.
            let areBoth = try await eventually {
                (pair.server.report.served + pair.gateway.report.asked).allSatisfy {
                    $0.took.count == 14 && $0.inFlight == 1 && $0.waited.count == 15
                }
            }
            #expect(areBoth)

            let (served, asked) = (pair.server.report.served, pair.gateway.report.asked)
            #expect(served.map(\.message) == ["auth.echo/v1"] && served.map(\.partner) == [.gateway])
            #expect(asked.map(\.message) == ["auth.echo/v1"] && asked.map(\.partner) == [.auth])
            for traffic in served + asked {
                #expect(traffic.ended == ["ok": 10, "internal_error": 3, "deadline_exceeded": 1])
                #expect(traffic.succeeded == 10 && traffic.failed == 4 && traffic.inFlight == 1)
                // In microseconds. Most of the 200 ms of the unanswered call count, and its time on the way is not
                // counted twice.
                #expect(traffic.took.total >= 100_000 && traffic.shed == 0)
            }
            pair.slow.resolve(.success(()))
            _ = try await held.value
            #expect(pair.server.report.served.first?.inFlight == 0)
            #expect(pair.server.report.counters.internalErrors == 3)
        }
    }

    /// Anything may be overloaded: the queue of the replica, or a locked table.
    @Test func anOverloadedReplyIsCountedAsShed() async throws {
        try await BusLab.run { lab in
            let pair = try Pair(lab)
            #expect(await pair.ask("busy") == "overloaded")
            for traffic in pair.server.report.served + pair.gateway.report.asked {
                #expect(traffic.shed == 1 && traffic.ended == ["overloaded": 1])
            }
        }
    }

    @Test func theReasonForAReplicasAbsenceIsReported() async throws {
        try await BusLab.run { lab in
            let pair = try Pair(lab)
            let endpoint = try #require(pair.server.endpoint)
            let security = try pair.keys.security(of: .operator)
            func verdict() async -> ServiceAbsence? {
                let patience = Duration.milliseconds(300)
                let verdict = await BusProbe.examine(endpoint, of: .auth, as: security, within: patience)
                if case .failure(let absence) = verdict { return absence } else { return nil }
            }
            #expect(await verdict() == nil)
            pair.server.state = .starting
            #expect(try await eventually { pair.gateway.absence(of: .auth) == .starting })
            #expect(try await pair.look(as: .operator, .nothing).process == getpid())
            #expect(BusProbe.listener(at: endpoint) == getpid())
            pair.server.state = .ready
            #expect(try await eventually { pair.gateway.absence(of: .auth) == nil })

            // The list has another key than the program has.
            try pair.keys.revoke(.auth)
            try pair.keys.add(try BusKey.newSecret().publicKey(), as: .auth)
            let other = try pair.keys.security(of: .operator)
            let verdictOfOther = await BusProbe.examine(endpoint, of: .auth, as: other, within: .seconds(2))
            #expect(throws: ServiceAbsence.keyRefused) { try verdictOfOther.get() }
            #expect(try await eventually { pair.gateway.absence(of: .auth) == .keyRefused })
            try pair.keys.revoke(.auth)
            #expect(try await eventually { pair.gateway.absence(of: .auth) == .keyRevoked })
        }
    }

    @Test func aReportIsReadOnlyByPermittedCallers() async throws {
        try await BusLab.run { lab in
            let pair = try Pair(lab)
            #expect(await pair.ask("good") == "good")
            let replies = await pair.gateway.reports(of: .auth, within: .seconds(2))
            #expect(replies.map(\.0.instance) == [pair.server.configuration.instance])
            #expect(replies.first?.1?.served == pair.server.report.served)
            #expect(try await pair.look(as: .operator, .report).report?.served == pair.server.report.served)
            #expect(try await pair.look(as: .auth, .report).report?.served == pair.server.report.served)
            // A service may not read what other services do.
            #expect(try await pair.look(as: .profile, .report).report == nil)
            #expect(try await pair.look(as: .operator, .nothing).report == nil)
        }
    }

    @Test func recordedAnswersOmitTheirBodies() async throws {
        try await BusLab.run { lab in
            let pair = try Pair(lab)
            #expect(await pair.ask("before anybody looks") == "before anybody looks")
            #expect(try await pair.look(as: .operator, .answers(after: 0)).answers.isEmpty)
            let trace = TraceContext.fresh()
            #expect(await pair.ask("a person's secret", trace: trace) == "a person's secret")
            #expect(await pair.ask("bad", trace: trace) == "internal_error")
            let answers = try await pair.look(as: .operator, .answers(after: 0)).answers
            #expect(answers.map(\.number) == [1, 2] && answers.map(\.code) == ["ok", "internal_error"])
            #expect(
                answers.allSatisfy { $0.traceID == trace.traceID && $0.type == "auth.echo" && $0.caller == .gateway })
            #expect(!String(decoding: try WireJSON.encode(answers), as: UTF8.self).contains("secret"))

            for number in 0..<300 { #expect(await pair.ask("\(number)") == "\(number)") }
            let later = try await pair.look(as: .operator, .answers(after: 2)).answers
            #expect(later.map(\.number) == Array(47...302), "the oldest made room")
            #expect(try await pair.look(as: .profile, .answers(after: 0)).answers.isEmpty)
        }
    }

    @Test func onlyAnOperatorHasAReplicaDrain() async throws {
        try await BusLab.run { lab in
            let pair = try Pair(lab)
            var dismissals = 0
            pair.server.onDismissal = {
                dismissals += 1
                pair.server.state = .draining
            }
            let patience = Duration.milliseconds(300)
            for service: ServiceName in [.profile, .gateway] {
                let answer = await BusProbe.look(
                    at: try #require(pair.server.endpoint), of: .auth, as: try pair.keys.security(of: service),
                    question: .drain, within: patience)
                #expect(answer == nil && dismissals == 0)
            }
            #expect(try await pair.look(as: .operator, .drain).state == .draining)
            #expect(dismissals == 1)
        }
    }

    @Test func anUnreadableInquiryCountsAsAPing() async throws {
        try await BusLab.run { lab in
            let server = try lab.server()
            let peer = RawPeer.caller(of: try #require(server.endpoint))
            defer { peer.close() }
            try await peer.greet(as: .operator)
            _ = try await peer.receive(.pong)
            peer.send(FrameHeader(kind: .ping), Array("{".utf8))
            #expect(try await peer.receive(.pong) != nil)
            #expect(server.report.counters.malformedFrames == 1)
        }
    }

    // MARK: Histogram

    @Test func quantilesAgreeWithTheSortedTimes() {
        var (histogram, times) = (Histogram(), [UInt64]())
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let microseconds = UInt64(pow(10, Double.random(in: 1...6.9, using: &generator)))
            times.append(microseconds)
            histogram.note(nanoseconds: microseconds * 1000)
        }
        times.sort()
        #expect(histogram.count == times.count && histogram.total == times.reduce(0, +))
        for share in [0.01, 0.5, 0.9, 0.99, 1] {
            let exact = times[max(0, Int((share * Double(times.count)).rounded(.up)) - 1)]
            let upper = Histogram.bounds.first { exact <= $0 } ?? .max
            let lower = Histogram.bounds.last { $0 < exact } ?? 0
            let estimate = (histogram.quantile(share) ?? .zero) / .microseconds(1)
            #expect(estimate >= Double(lower) && estimate <= Double(upper), "\(share) of \(exact)")
        }
    }

    /// The result is that of Prometheus's `histogram_quantile` for the same buckets.
    @Test func quantilesAreSpreadEvenlyInABucket() {
        var histogram = Histogram()
        #expect(histogram.quantile(0.5) == nil)
        for _ in 0..<10 { histogram.note(nanoseconds: 50_000) }
        for _ in 0..<10 { histogram.note(nanoseconds: 200_000) }
        #expect(histogram.quantile(0.5) == .microseconds(100) && histogram.quantile(0.75) == .microseconds(175))
        #expect(histogram.quantile(0.25) == .microseconds(50) && histogram.quantile(1) == .microseconds(250))
        histogram.note(nanoseconds: 60_000_000_000)
        #expect(histogram.quantile(1) == .seconds(10))
        #expect(histogram.adding(histogram).count == 42)
    }
}
