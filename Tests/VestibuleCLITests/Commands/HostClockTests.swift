import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VestibuleCLI

/// Recovery on a machine whose own clock is wrong by an hour, which only the processes of the service see.
@Suite("a recovery on a host with a wrong clock", .serialized) struct HostClockTests {
    /// A library that answers `clock_gettime` for the time of day with another one.
    private static func library(in folder: String, seconds: Int) throws -> String {
        let (source, library) = ("\(folder)/clock.c", "\(folder)/clock.so")
        try """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <time.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            static int (*real)(clockid_t, struct timespec *);
            if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
            int result = real(clock, time);
            if (clock == CLOCK_REALTIME) time->tv_sec += \(seconds);
            return result;
        }
        """.write(toFile: source, atomically: true, encoding: .utf8)
        _ = try Subprocess.run(["clang", "-shared", "-fPIC", "-o", library, source, "-ldl"])
        return library
    }

    @Test("ends each hold by the database's clock", arguments: [3600, -3600])
    func hold(seconds: Int) async throws {
        try await Fleet.run { fleet in
            for service in [ServiceName.auth, .profile] { try fleet.start(service) }
            let wrong = try Self.library(in: fleet.installation.state.path, seconds: seconds)
            let variables = ["RECOVERY_HOLD": "3s", "LD_PRELOAD": wrong]
            let first = try fleet.start(.recovery, variables: variables)
            for service in [ServiceName.auth, .profile, .recovery] { try await fleet.ready(service, 1) }
            var cases: [Identifier] = []
            for number in 1...3 {
                let phone = "+4676100000\(number)"
                let sent = try await fleet.gateway.call(
                    SendOTP(phone: phone, purpose: "recovery"), fleet.options(key: "key-of-sending-to-\(phone)"))
                try #require(try await eventually(within: .seconds(45)) { fleet.sms().contains { $0.to == phone } })
                let code = String(fleet.sms().first { $0.to == phone }?.body.prefix(6) ?? "")
                let request = RequestRecovery(
                    accountPhone: "+4670100000\(number)", challengeId: sent.challengeId, code: code,
                    device: DeviceClaim(name: "Pixel 9", platform: "android"))
                let requested = try await fleet.gateway.call(request, fleet.options(key: "key-of-claim-\(number)"))
                cases.append(requested.recoveryId)
            }
            // A machine with the right clock takes over in the middle.
            fleet.kill(first)
            try fleet.start(.recovery, variables: ["RECOVERY_HOLD": "3s"])
            try await fleet.endLeases()
            for id in cases {
                try await fleet.wait(
                    until: "SELECT status FROM recovery.cases WHERE id = '\(id)'", is: "identity_required")
            }
            let exact = """
                SELECT count(*) FROM recovery.cases c JOIN recovery.audit a ON a.chain = 'case ' || c.id AND a.act = 'hold_ended'
                WHERE a.at >= c.hold_until AND abs(extract(epoch FROM c.hold_until - c.created_at) - 3) < 1
                    AND abs(extract(epoch FROM c.created_at - now())) < 1800
                """
            #expect(try await fleet.sql(exact) == "3")
        }
    }
}
