import BusProtocol
import EventLoop
import HTTPServer
import JSONText
import TestSupport
import Testing

@testable import Gateway

@Suite("web sessions") struct WebSessionTests {
    // MARK: The cookie

    @Test func aCookieIsReadAsItWasSet() throws {
        for cookie in [
            WebSessionCookie(refreshToken: "rf_a-B", deviceSecret: "ds_1"),
            WebSessionCookie(refreshToken: "rf_a", deviceSecret: nil),
        ] {
            let setting = try #require(cookie.setting)
            #expect(setting.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=15552000"))
            let pair = String(setting.prefix { $0 != ";" })
            #expect(WebSessionCookie(["cookie": "a=b; \(pair); c"]) == cookie)
        }
    }

    @Test(
        "foreign or ambiguous cookies are ignored",
        arguments: [
            "", "a=b", "__Host-vestibule=", "__Host-vestibule=rf.ds.more", "__Host-vestibule=rf.", "vestibule=rf.ds",
            "__Host-vestibule=rf.ds; __Host-vestibule=rf.ds", "__Host-vestibule=r f", "__host-vestibule=rf.ds",
            "__Host-vestibule=\(String(repeating: "a", count: 129))",
        ])
    func otherCookies(header: String) { #expect(WebSessionCookie(["cookie": header]) == nil) }

    @Test func aTokenThatWouldEndTheCookieIsNotSet() {
        for token in ["a;b", "a b", "a.b", "a\r\nb", "", "å"] {
            #expect(WebSessionCookie(refreshToken: token, deviceSecret: nil).setting == nil)
        }
    }

    @Test func onlyPagesOfTheSameOriginCount() {
        func counts(_ headers: HTTPHeaders) -> Bool { WebSessionCookie.isOfOwnOrigin(headers) }
        #expect(counts(["host": "api.example", "origin": "https://api.example"]))
        #expect(counts(["host": "Localhost:8080", "origin": "http://localhost:8080", "sec-fetch-site": "same-origin"]))
        for origin in [
            "https://evil.example", "https://api.example.evil", "https://api.example:444", "null", "api.example",
            "https://sub.api.example", "ftp://api.example",
        ] {
            #expect(!counts(["host": "api.example", "origin": origin]))
        }
        #expect(!counts(["host": "api.example"]))
        #expect(!counts(["origin": "https://api.example"]))
        #expect(!counts(["host": "api.example", "origin": "https://api.example", "sec-fetch-site": "same-site"]))
        var twice: HTTPHeaders = ["host": "api.example", "origin": "https://api.example"]
        twice.append("origin", "https://api.example")
        #expect(!counts(twice))
    }

    // MARK: Through the gateway

    private static let cookie = "__Host-vestibule=rf_1.ds_1"
    private static let setting =
        "__Host-vestibule=rf_2.ds_1; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=15552000"
    private static let removal = "__Host-vestibule=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"

    private func renew(
        _ stage: Stage, _ headers: [String: String] = ["Cookie": cookie], body: String? = nil
    ) async throws -> Exchange {
        var headers = headers
        headers["Origin"] = headers["Origin"] ?? "http://h"
        if body != nil { headers["Content-Type"] = "application/json" }
        return try await stage.send("POST", "/auth/web-session", headers, body: body)
    }

    private func onStageWithTokens(
        _ claims: [String: JSONValue] = [:], _ play: @escaping @Loop (Stage) async throws -> Void
    ) async throws {
        try await onStage { stage in
            stage.backstage.renewedToken = stage.token(claims)
            try await play(stage)
        }
    }

    @Test func theFirstRenewalPutsTheTokensOfTheSignInIntoTheCookie() async throws {
        try await onStageWithTokens { stage in
            let answer = try await renew(stage, [:], body: #"{"refreshToken":"rf_1","deviceSecret":"ds_1"}"#)
            #expect(answer.status == 200 && answer.headers["set-cookie"] == Self.setting)
            #expect(answer.json["accessToken"]?.stringValue == stage.backstage.renewedToken)
            #expect(!answer.text.contains("rf_2"), "no script may read it")
            #expect(answer.headers["cache-control"] == "no-store")
            let asked = try #require(stage.backstage.asked.last)
            #expect(asked.type == RefreshToken.type && asked.body == ["refreshToken": "rf_1", "deviceSecret": "ds_1"])
            let document = try JSONDocument(answer.body).root
            #expect(WebSessionAct.replySchema.problems(in: document) == [])
        }
    }

    @Test func credentialsThatDoNotFitACookieAreNotRenewed() async throws {
        try await onStageWithTokens { stage in
            let answer = try await renew(stage, [:], body: #"{"refreshToken":"rf_1","deviceSecret":"a;b"}"#)
            #expect(answer.status == 401 && answer.json["code"] == "refresh_token_invalid")
            #expect(stage.backstage.asked.isEmpty)
        }
    }

    @Test func laterRenewalsNeedTheCookieAlone() async throws {
        try await onStageWithTokens { stage in
            for body in [nil, "{}"] {
                let answer = try await renew(stage, body: body)
                #expect(answer.status == 200 && answer.headers["set-cookie"] == Self.setting)
                #expect(
                    stage.backstage.asked.last?.body == ["refreshToken": "rf_1", "deviceSecret": "ds_1"])
            }
            let keys = stage.backstage.asked.compactMap(\.context.idempotencyKey)
            #expect(Set(keys).count == 2, "a renewal is never the answer of an earlier one")
            #expect(stage.backstage.asked.map(\.type).allSatisfy { $0 == RefreshToken.type }, "no token counts as used")
        }
    }

    @Test func aPageOfAnotherOriginIsRefused() async throws {
        try await onStageWithTokens { stage in
            for method in ["POST", "DELETE"] {
                let headers = ["Cookie": Self.cookie, "Origin": "https://evil.example"]
                let answer = try await stage.send(method, "/auth/web-session", headers)
                #expect(answer.status == 403 && answer.headers["set-cookie"] == nil)
                let silent = try await stage.send(method, "/auth/web-session", ["Cookie": Self.cookie])
                #expect(silent.status == 403)
            }
            #expect(stage.backstage.asked.isEmpty)
        }
    }

    @Test func theCookieIsIgnoredByAllOtherRoutes() async throws {
        try await onStageWithTokens { stage in
            let answer = try await stage.get("/users/me/devices", ["Cookie": Self.cookie, "Origin": "http://h"])
            #expect(answer.status == 401)
        }
    }

    @Test func aSessionThatAuthRefusesLosesItsCookie() async throws {
        try await onStageWithTokens { stage in
            stage.backstage.failure = BusError(.refreshTokenReused, "This session was ended for your safety.")
            let answer = try await renew(stage)
            #expect(answer.status == 401 && answer.json["code"] == "refresh_token_reused")
            #expect(answer.headers["set-cookie"] == Self.removal)
            // What a page sends says nothing about the session of the cookie.
            let given = try await renew(stage, body: #"{"refreshToken":"rf_0"}"#)
            #expect(given.status == 401 && given.headers["set-cookie"] == nil)
            stage.backstage.failure = BusError(.serviceUnavailable, "Gone.")
            let later = try await renew(stage)
            #expect(later.status == 503 && later.headers["set-cookie"] == nil)
            stage.backstage.failure = nil
            let without = try await renew(stage, [:])
            #expect(without.status == 401 && without.json["code"] == "refresh_token_invalid")
        }
    }

    /// Auth has just made the token, so the session is not over.
    @Test func aTokenUnknownToTheGatewayLeavesTheCookie() async throws {
        try await onStageWithTokens(["iss": "another"]) { stage in
            for method in ["POST", "DELETE"] {
                let headers = ["Cookie": Self.cookie, "Origin": "http://h"]
                let answer = try await stage.send(method, "/auth/web-session", headers)
                #expect(answer.status == 503 && answer.headers["set-cookie"] == nil)
            }
        }
    }

    @Test(arguments: ["staff", "admin"]) func staffGetNoCookie(role: String) async throws {
        try await onStageWithTokens(["role": .string(role)]) { stage in
            let answer = try await renew(stage)
            #expect(answer.status == 403 && answer.headers["set-cookie"] == nil)
            #expect(!answer.text.contains("accessToken"))
        }
    }

    @Test func endingTheSessionSignsOutAndRemovesTheCookie() async throws {
        try await onStageWithTokens { stage in
            let headers = ["Cookie": Self.cookie, "Origin": "http://h"]
            let answer = try await stage.send("DELETE", "/auth/web-session", headers)
            #expect(answer.status == 204 && answer.headers["set-cookie"] == Self.removal)
            #expect(stage.backstage.asked.map(\.type) == [RefreshToken.type, Logout.type])
            #expect(stage.backstage.asked.last?.context.actor != nil)
            let again = try await stage.send("DELETE", "/auth/web-session", ["Origin": "http://h"])
            #expect(again.status == 204 && again.headers["set-cookie"] == Self.removal)
            stage.backstage.failure = BusError(.refreshTokenInvalid, "Please sign in again.")
            #expect(try await stage.send("DELETE", "/auth/web-session", headers).status == 204, "it was over")
            stage.backstage.failure = BusError(.serviceUnavailable, "Gone.")
            let later = try await stage.send("DELETE", "/auth/web-session", headers)
            #expect(later.status == 503 && later.headers["set-cookie"] == nil, "it is not over")
        }
    }
}
