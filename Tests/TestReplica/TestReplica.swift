import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import ServiceRuntime
import TestSupport

/// A replica of auth that does ``TestWork``: `TestReplica ENDPOINT LOG`. At SIGTERM it drains and ends. For each byte
/// on its standard input it stops between two jobs of its loop. When the input ends, it ends at once. With `BUS_KEY`
/// and `BUS_ALLOWED` it has keys; with `BUILD=next` it is the build after this one, which does ``ShiftWork``, too.
@main enum TestReplica {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3 else { exit(64) }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 { Loop.spawn { raise(SIGSTOP) } }
            exit(70)
        }
        try await Loop.spawn { try await serve(at: words[1], log: words[2]) }.value
        exit(0)
    }

    @Loop private static func serve(at endpoint: String, log: String) async throws {
        let stop = StopSignal()
        let environment = ProcessInfo.processInfo.environment
        let build = environment["BUILD"] ?? "test"
        var configuration = BusConfiguration(service: .auth, build: build, bind: [endpoint])
        if let secret = environment["BUS_KEY"], let list = environment["BUS_ALLOWED"] {
            configuration.security = try BusSecurity(secret: secret, allowList: list)
        }
        let bus = Bus(configuration)
        let handler = TestWorkHandler(log: open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600))
        bus.register(handler)
        if build == "next" { bus.register(ShiftWorkHandler(old: handler)) }
        bus.state = .ready
        try bus.start()
        await stop.wait()
        await bus.drain()
    }
}

private struct TestWorkHandler: RequestHandler {
    let log: Int32

    func handle(_ request: TestWork, context: RequestContext) async throws -> TestWorkDone {
        let began = MonotonicClock.now()
        let line = Array("\(request.id) \(began)\n".utf8)
        _ = write(log, line, line.count)
        while MonotonicClock.now() < began + UInt64(request.burnMs) * 1_000_000 {}
        if request.waitMs > 0 { try await Loop.sleep(for: .milliseconds(request.waitMs)) }
        return TestWorkDone(process: Int(getpid()))
    }
}

private struct ShiftWorkHandler: RequestHandler {
    let old: TestWorkHandler

    func handle(_ request: ShiftWork, context: RequestContext) async throws -> TestWorkDone {
        try await old.handle(TestWork(id: request.id), context: context)
    }
}
