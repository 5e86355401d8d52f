import Foundation
import Testing
import VestibuleClient

@Suite("models of the client") struct ModelTests {
    private func read<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        try WireJSON.decoder().decode(type, from: Data(json.utf8))
    }

    @Test("an unknown value decodes and is written unchanged")
    func unknownValues() throws {
        let step = try read(RecoveryStep.self, #"{"key": "by_letter", "state": "current", "later": [1]}"#)
        #expect(step.key == RecoveryStepKey(rawValue: "by_letter"))
        #expect(step.state == .current)
        #expect(try read(RecoveryStep.self, String(decoding: WireJSON.encoder().encode(step), as: UTF8.self)) == step)
        let problem = try read(
            Problem.self,
            """
            {"type": "urn:vestibule:problem:new", "title": "New", "status": 418, "code": "new", "detail": "It is new.",
            "traceId": "0af7651916cd43dd8448eb211c80319c"}
            """)
        #expect(problem.code == ProblemCode(rawValue: "new"))
    }

    @Test("a choice decodes the fitting form and keeps an unknown one")
    func choice() throws {
        let wish = try read(
            SocialSignedIn.self,
            #"{"status": "phone_verification_required", "linkToken": "lt_1", "expiresInSeconds": 600}"#)
        guard case .phoneVerificationRequired(let linking) = wish else {
            Issue.record("it is no wish for a phone")
            return
        }
        #expect(linking.linkToken == "lt_1")
        #expect(try read(SocialSignedIn.self, #"{"more": 1}"#) == .unknown(["more": 1]))
    }

    @Test(
        "times have up to six digits behind the second",
        arguments: [("00Z", 0.0), ("00.5Z", 0.5), ("00.250Z", 0.25), ("00.000001Z", 0.000001)])
    func times(end: String, fraction: Double) throws {
        let date = try #require(try read([Date].self, #"["2026-02-20T09:00:\#(end)"]"#).first)
        #expect(abs(date.timeIntervalSince1970 - 1_771_578_000 - fraction) < 0.000_000_5)
    }

    @Test("a text that is not a time in UTC is refused", arguments: ["", "yesterday", "2026-02-20T09:00:00+01:00"])
    func noTime(text: String) { #expect(throws: DecodingError.self) { try read([Date].self, "[\"\(text)\"]") } }

    @Test("any JSON is read and written as it is")
    func anyJSON() throws {
        let json = #"{"a":[true,1,1.5,"x",null],"b":{}}"#
        let value = try read(JSONValue.self, json)
        #expect(value == ["a": [true, 1, 1.5, "x", .null], "b": [:]])
        #expect(try read(JSONValue.self, String(decoding: WireJSON.encoder().encode(value), as: UTF8.self)) == value)
    }
}
