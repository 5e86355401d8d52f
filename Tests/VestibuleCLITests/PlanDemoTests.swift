import EventLoop
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// Every shipped plan on a whole system, walked by a client that knows only what the server serves.
@Suite("plans on a running system") struct PlanDemoTests {
    @Test(.bounded) func everyShippedPlanCanBeCompletedConcurrently() async throws {
        let issuer = try DemoIssuer()
        let system = try RunningSystem(scale: "auth=1", variables: issuer.variables)
        defer { system.stop() }
        let (address, spool) = (system.address, system.installation.state.spool)
        let people = ["yoked", "realsingles", "skin-care", "eko-family"].flatMap {
            [String](repeating: $0, count: Rounds.count(1, prove: 50))
        }
        // Everybody comes from an address of their own.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, plan) in people.enumerated() {
                group.addTask {
                    let client = try HTTPClient(address, from: "127.0.1.\(number + 1)", patience: 30)
                    try await PlanDemo(client: client, spool: spool, plan: plan, issuer: issuer).run()
                }
            }
            try await group.waitForAll()
        }
        // Sign-ins by email or Google alone need no phone.
        let phoneless = "SELECT count(*) FROM auth.accounts WHERE id NOT IN (SELECT person_id FROM auth.phones)"
        #expect(Int(try system.sql(phoneless).trimmingCharacters(in: .newlines)) == people.count / 2)
        // Nobody follows the plan of an app that they did not sign in to.
        let followed = "SELECT plan, count(*) FROM profile.person_plans GROUP BY plan"
        let rows = Set(try system.sql(followed).split(separator: "\n").map(String.init))
        #expect(rows == Set(people.map { "\($0)|\(people.count / 4)" }))
    }
}
