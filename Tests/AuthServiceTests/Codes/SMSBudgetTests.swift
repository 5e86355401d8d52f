import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime
import TestSupport
import Testing

@testable import AuthService

@Suite("the budget of SMS") struct SMSBudgetTests {
    private static let environment = ["AUTH_OTP_PER_ADDRESS_HOUR": "1000", "AUTH_OTP_PREFIX_BREAKER": "off"]

    private static func phone(_ index: Int) -> String { "+14155\(550_000 + index)" }

    private func isSpent(
        _ budget: SMSBudget, all: Int64 = 0, to country: String = "SE", _ toCountry: Int64 = 0, device: Bool = false
    ) -> Bool {
        var history = SendHistory(now: .now())
        (history.isKnownDevice, history.country) = (device, country)
        (history.sentInHour, history.sentToCountry) = (all, toCountry)
        return budget.isSpent(history, for: country)
    }

    @Test func strangersLeaveAFifthOfEachBudgetToKnownDevices() throws {
        let budget = try SMSBudget(perHour: "100", perCountry: ["50", "DE:10", "FR:off"])
        #expect(!isSpent(budget, all: 79) && isSpent(budget, all: 80))
        #expect(!isSpent(budget, all: 99, device: true) && isSpent(budget, all: 100, device: true))
        #expect(!isSpent(budget, to: "SE", 39) && isSpent(budget, to: "SE", 40))
        #expect(!isSpent(budget, to: "SE", 49, device: true) && isSpent(budget, to: "SE", 50, device: true))
        #expect(!isSpent(budget, to: "DE", 7) && isSpent(budget, to: "DE", 8))
        #expect(!isSpent(budget, all: 79, to: "FR", 79) && isSpent(budget, all: 80, to: "FR", 1))
        #expect(!isSpent(try SMSBudget(perHour: "off", perCountry: ["off"]), all: 1_000_000, 1_000_000))
        let used: [String: Int64] = ["": 79, "SE": 40, "DE": 7, "FR": 900]
        #expect(budget.share(of: used) == 0.8 && budget.share(of: ["FR": 900]) == 0)
        #expect(budget.full(of: used) == ["SE"])
    }

    @Test(
        "a malformed budget stops the start",
        arguments: [
            ("0", "off"), ("many", "off"), ("9", "0"), ("9", "9,XX:9"), ("9", "9,SE:"), ("9", "9,SE:9:9"), ("", "9"),
            // It would take the bound off all other countries.
            ("9", "SE:9"),
        ])
    func malformed(perHour: String, perCountry: String) {
        #expect(throws: ConfigurationError.self) {
            try SMSBudget(perHour: perHour, perCountry: perCountry.split(separator: ",").map(String.init))
        }
    }

    @Test func aFloodHasACeilingAndKnownDevicesHaveTheirFifth() async throws {
        let environment = Self.environment.merging(["AUTH_SMS_PER_HOUR": "10"]) { $1 }
        try await AuthStage.run(replicas: 2, environment: environment) { auth in
            let owner = try await auth.signIn(Self.phone(0))
            for index in 1..<8 { _ = try await auth.ask(SendOTP(phone: Self.phone(index))) }
            // Nothing depends on an account.
            try await auth.age("2 minutes")
            for phone in [Self.phone(0), Self.phone(8), "+46701234567"] {
                let refused = try await auth.refusal(of: SendOTP(phone: phone))
                #expect(refused.code == "rate_limited" && refused.details == ChallengePolicy.alternatives)
                #expect((1...3_600_000).contains(refused.retryAfterMs ?? 0))
            }
            #expect(try await auth.stage.rows("SELECT sum(used) FROM sms_budget WHERE scope = ''") == "8")
            // Where the hour ends while this runs, the next one is as full.
            try await auth.stage.rows(
                "INSERT INTO sms_budget SELECT scope, hour + interval '1 hour', shard, used FROM sms_budget")
            let container = auth.stage.containers[0]
            container.hurry()
            #expect(try await eventually { container.bus.report.gauges?["sms_budget_used"] == 0.8 })
            #expect(try await eventually { auth.stage.log.text.contains(#""event":"sms_budget""#) })
            let proof = SendOTP.Proof(id: owner.deviceId, secret: try #require(owner.deviceSecret))
            for _ in 0..<2 {
                _ = try await auth.code(for: Self.phone(0), by: proof)
                try await auth.age("2 minutes")
            }
            let spent = try await auth.refusal(of: SendOTP(phone: Self.phone(0), device: proof))
            #expect(spent.code == "rate_limited" && spent.details == nil)
            // The next hour has its own.
            try await auth.stage.rows("UPDATE sms_budget SET hour = hour - interval '5 hours'")
            _ = try await auth.ask(SendOTP(phone: Self.phone(8)))
            try await Housekeeping.run(container.database, audit: container.audit)
            #expect(try await auth.stage.rows("SELECT sum(used) FROM sms_budget WHERE scope = ''") == "1")
        }
    }

    @Test func aCountryHasItsOwnBudget() async throws {
        let environment = Self.environment.merging(["AUTH_SMS_PER_HOUR_COUNTRY": "100,SE:5"]) { $1 }
        try await AuthStage.run(environment: environment) { auth in
            for index in 0..<4 { _ = try await auth.ask(SendOTP(phone: "+4670123456\(index)")) }
            #expect(try await auth.refusal(of: SendOTP(phone: "+46701234569")).code == "rate_limited")
            _ = try await auth.ask(SendOTP(phone: Self.phone(0)))
            #expect(try await auth.stage.rows("SELECT sum(used) FROM sms_budget WHERE scope = 'SE'") == "4")
        }
    }

    @Test func concurrentSendsAreAllCounted() async throws {
        try await AuthStage.run(replicas: 2, environment: Self.environment) { auth in
            let sends = (0..<48).map { index in
                // A request that waits too long for a lock is refused as overloaded.
                Loop.spawn { try? await auth.ask(SendOTP(phone: Self.phone(index)), at: "198.51.100.\(index)") }
            }
            var sent = 0
            for send in sends where try await send.value != nil { sent += 1 }
            #expect(sent > 0)
            for scope in ["", "US"] {
                let used = "SELECT sum(used) FROM sms_budget WHERE scope = '\(scope)'"
                #expect(try await auth.stage.rows(used) == "\(sent)")
            }
        }
    }
}
