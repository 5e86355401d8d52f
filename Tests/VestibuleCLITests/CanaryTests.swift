import BusProtocol
import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// The test puts unique words wherever a person's words can go, in valid and invalid requests. Then it searches for
/// them in all logs of the processes.
@Suite struct CanaryTests {
    private static let phone = "+46709182736"
    /// What a person told, or is known by. Every one begins with letters or digits that nothing else of a system has.
    private static let canaries = [
        "709182736", "182736", "Kanariana", "canarybio", "1987-06-05", "Canaryville", "canarydevice", "canarypush",
        "canarymember", "canarytext", "canaryquery", "canarypath", "canarykey", "canarybearer", "canaryreason",
        "canaryagent", "canarycookie", "canaryquestion", "canaryanswer", "canarynonce", "canarytoken",
    ]

    @Test func noLogHoldsDataOfAPerson() throws {
        let system = try RunningSystem(
            scale: "auth=2",
            variables: [
                "LOG_LEVEL": "debug", "AUTH_APPLE_AUDIENCES": "app", "AUTH_APPLE_JWKS_URL": "http://127.0.0.1:9/keys",
            ])
        defer { system.stop() }
        let state = system.installation.state
        let client = try HTTPClient(system.address)
        var secrets: [String] = []
        let token = try live(client, state.spool, &secrets)
        try misbehave(client, token)

        // The test waits for the last event, which is the deletion of the account in every service.
        try system.installation.wait("the account's end in every log") {
            let logs = try Self.logs(of: state)
            return ServiceName.services.dropFirst().allSatisfy { service in
                logs.contains { $0.name.hasPrefix(service.rawValue) && $0.text.contains("account-deleted") }
            }
        }
        let logs = try Self.logs(of: state)
        // The rest are the second replica of auth, the gateway, the database and the supervisor.
        #expect(logs.count == ServiceName.services.count + 4, "\(logs.map(\.name))")
        for (name, text) in logs {
            let found = (Self.canaries + secrets).filter { text.contains($0) }
            let lines = text.split(separator: "\n").filter { line in found.contains { line.contains($0) } }
            #expect(found.isEmpty, "\(name): \(lines.prefix(3))")
        }
        // The test looks where something is: requests are there, each once, by their templates.
        let gateway = logs.first { $0.name == "gateway.log" }?.text ?? ""
        #expect(gateway.contains(#""route":"/users/{id}""#) && gateway.contains(#""route":"/auth/otp/verify""#))
    }

    /// A person signs in, fills in everything, renews the tokens, has the account claimed, and deletes it.
    ///
    /// - Parameter secrets: what was given away meanwhile.
    private func live(_ client: HTTPClient, _ spool: String, _ secrets: inout [String]) throws -> String {
        let sent = try client.send("POST", "/auth/otp/send", body: ["phone": .string(Self.phone)])
        let sms = try Spool(file: "\(spool)/sms.jsonl").wait(for: "the SMS") { $0["to"] == .string(Self.phone) }
        let device: JSONValue = ["name": "canarydevice", "platform": "ios", "pushToken": "canarypush"]
        func verify(_ code: String) throws -> HTTPAnswer {
            try client.send(
                "POST", "/auth/otp/verify",
                body: ["challengeId": sent.body["challengeId"] ?? .null, "code": .string(code), "device": device],
                headers: ["User-Agent": "canaryagent", "Cookie": "a=canarycookie"])
        }
        let code = String(sms["body"]?.stringValue?.prefix(6) ?? "")
        #expect(try verify(code == "182736" ? "182737" : "182736").status == 422)
        let session = try verify(code)
        try #require(session.status == 200)
        secrets += ["accessToken", "refreshToken", "deviceSecret"].compactMap { session.body[$0]?.stringValue }
        let token = session.body["accessToken"]?.stringValue ?? ""
        let mine = ["Authorization": "Bearer \(token)"]
        let profile: JSONValue = [
            "displayName": "Kanariana", "bio": "canarybio", "dateOfBirth": "1987-06-05", "city": "Canaryville",
        ]
        #expect(try client.send("PATCH", "/users/me", body: profile, headers: mine).status == 200)
        _ = try client.send("GET", "/compatibility/questions", headers: mine)
        let answer: JSONValue = ["answers": [["question": "canaryquestion", "value": "canaryanswer"]]]
        #expect(try client.send("POST", "/compatibility/responses", body: answer, headers: mine).status == 422)
        let proof = try client.send(
            "POST", "/auth/otp/send", body: ["phone": "+46709182737", "purpose": "recovery"])
        let claim: JSONValue = [
            "accountPhone": .string(Self.phone), "challengeId": proof.body["challengeId"] ?? .null, "code": "000000",
            "device": device, "reason": "canaryreason",
        ]
        _ = try client.send("POST", "/auth/recovery/request", body: claim)
        #expect(try client.send("DELETE", "/users/me", headers: mine).status == 202)
        return token
    }

    /// Everything that is refused, with words in it that must not be repeated.
    private func misbehave(_ client: HTTPClient, _ token: String) throws {
        for headers in [["Authorization": "Bearer \(token)"], ["Authorization": "Bearer canarybearer"], [:]] {
            let headers = headers.merging(["Idempotency-Key": "canarykey", "X-Forwarded-For": "canarytext"]) { $1 }
            for (method, path, body) in [
                ("PATCH", "/users/me", ["canarymember": "canarytext", "bio": ["canarytext"]]),
                ("POST", "/auth/otp/send", ["phone": "canarytext182736", "canarymember": true]),
                ("POST", "/auth/token/refresh", ["refreshToken": "canarytoken"]),
                (
                    "POST", "/auth/social/apple",
                    [
                        "identityToken": "canarytoken.canarytoken.canarytoken", "nonce": "canarynonce",
                        "device": ["name": "canarydevice", "platform": "ios"],
                    ]
                ),
                (
                    "POST", "/compatibility/responses",
                    ["answers": [["question": "canaryquestion", "value": "canaryanswer"]]]
                ),
                ("GET", "/users/canarypath?canaryquery=canarytext", nil),
                ("GET", "/cities?query=Canaryville&limit=canaryquery", nil),
                ("GET", "/cities?latitude=47.182736&longitude=-12.182736", nil),
                ("GET", "/cities?latitude=182736&longitude=12.182736", nil),
                ("DELETE", "/auth/sessions/canarypath", nil), ("GET", "/canarypath", nil),
                ("CANARYTEXT".lowercased(), "/users/me", nil),
            ] as [(String, String, JSONValue?)] {
                #expect(try client.send(method, path, body: body, headers: headers).status >= 200)
            }
        }
    }

    /// The logs of all services, auth's second replica, the gateway, the supervisor and the database.
    private static func logs(of state: StateFolder) throws -> [(name: String, text: String)] {
        let files = try FileManager.default.contentsOfDirectory(atPath: state.logs).map { "\(state.logs)/\($0)" }
        return (files.sorted() + [try PostgresServer(state).log]).map {
            let bytes = FileManager.default.contents(atPath: $0) ?? Data()
            return (URL(filePath: $0).lastPathComponent, LogBook.told(in: String(decoding: bytes, as: UTF8.self)))
        }
    }
}
