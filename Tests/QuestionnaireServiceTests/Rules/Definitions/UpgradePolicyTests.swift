import BusProtocol
import Documents
import JSONText
import Testing

@testable import QuestionnaireService

@Suite("policies of versions") struct UpgradePolicyTests {
    static func policy(_ json: JSONValue) throws -> UpgradePolicy {
        try DefinitionParserTests.parse(DefinitionParserTests.smallest.setting("policy", to: json)).policy
    }

    @Test func theDefaultPolicyOffersAllButBreakingChanges() throws {
        let usual: Set<ChangeClass> = [.editorial, .additive, .rescore, .reask]
        #expect(try Self.policy(.null).offered == usual)
        #expect(try Self.policy([:]).offered == usual)
        #expect(try Self.policy(["onPublish": ["reask": "pin"]]).offered == usual.subtracting([.reask]))
        #expect(try Self.policy(["onPublish": ["breaking": "offer"]]).offered == Set(ChangeClass.allCases))
        #expect(try Self.policy(["onPublish": ["editorial": "pin", "additive": "offer"]]).offered.count == 3)
    }

    @Test func isDrainedAfterItsDaysAndNotBefore() throws {
        let retired = try #require(Timestamp("2026-03-01T12:00:00Z"))
        func isDrained(_ policy: UpgradePolicy, _ now: String, retiredAt: Timestamp?) throws -> Bool {
            policy.isDrained(retiredAt: retiredAt, now: try #require(Timestamp(now)))
        }
        let month = try Self.policy(["drainDays": 30])
        #expect(try !isDrained(month, "2026-03-31T12:00:00Z", retiredAt: retired))
        #expect(try isDrained(month, "2026-03-31T12:00:00.000001Z", retiredAt: retired))
        #expect(try !isDrained(month, "2099-01-01T00:00:00Z", retiredAt: nil), "it is in use")
        #expect(try !isDrained(try Self.policy([:]), "2099-01-01T00:00:00Z", retiredAt: retired))
        #expect(try isDrained(try Self.policy(["drainDays": 0]), "2026-03-01T12:00:00.1Z", retiredAt: retired))
    }
}
