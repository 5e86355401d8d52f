import BusProtocol
import EventLoop
import Foundation
import HTTPServer
import JSONText
import ProcessRuntime
import TestSupport
import Testing

@testable import Gateway

@Suite("the web app") struct WebAppTests {
    @Test func eachFileIsServedUnderTheSamePolicy() async throws {
        let settings = WebApp.Settings(
            sources: ["https://pictures.example"], clients: ["google=1.example", "apple=2=https://apple.example/a"])
        try await onStage({ $0.webApp = settings }) { stage in
            let paths = WebApp(WebApp.Settings()).paths
            #expect(paths.contains("/app/") && paths.contains { $0.hasPrefix("/app/sdk/") && $0.hasSuffix(".js") })
            for path in paths {
                let answer = try await stage.get(path)
                #expect(answer.status == 200 && !answer.body.isEmpty)
                let policy = try #require(answer.headers["content-security-policy"])
                #expect(policy.contains("script-src 'self'; ") && policy.contains("trusted-types 'none'"))
                #expect(policy.contains("connect-src 'self' https://pictures.example;"))
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                let tag = try #require(answer.headers["etag"])
                #expect(try await stage.get(path, ["If-None-Match": tag]).status == 304)
            }
            #expect(
                try await stage.get("/app/settings.json").json == [
                    "showsCodes": false,
                    "clients": [
                        "google": ["id": "1.example"], "apple": ["id": "2", "address": "https://apple.example/a"],
                    ],
                ])
            let page = try await stage.get("/app/")
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            let moved = try await stage.get("/app?app=one")
            #expect(moved.status == 308 && moved.headers["location"] == "/app/?app=one")
            let tag = try #require(page.headers["etag"])
            #expect(try await stage.get("/app/", ["If-None-Match": "W/\"old\", W/\(tag)"]).status == 304)
            let other = try #require(WebApp(WebApp.Settings()).answer(HTTPRequestHead(method: "GET", path: "/app/")))
            #expect(other.headers.first("etag") != tag, "another policy is another version")
            for path in ["/app/none.js", "/app/index.html", "/app/../app/", "/app//", "/sdk/vestibule.js"] {
                #expect(try await stage.get(path).status == 404)
            }
            #expect(try await stage.send("POST", "/app/").status == 404)
        }
    }

    @Test func theAppIsServedOnlyIfConfigured() async throws {
        try await onStage { stage in
            let answer = try await stage.get("/app/")
            #expect(answer.status == 404)
        }
    }

    @Test func codesAreShownInTheDevelopmentProfileOnly() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "codes-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = [("+46701234567", "1"), ("+46701234568", "2"), ("+46701234567", "3")].map {
            #"{"at":"2026-11-26T18:04:47Z","to":"\#($0)","body":"\#($1)"}"#
        }
        try lines.joined(separator: "\n").write(
            to: folder.appending(path: "sms.jsonl"), atomically: true, encoding: .utf8)
        let values = ["GATEWAY_WEB_APP": "on", "SPOOL_DIR": folder.path]
        let development = try configuration(values, profile: "development")
        #expect(development.webApp?.showsCodes == true)
        try await onStage({
            $0.webApp = .init(); $0.developmentCodes = development.developmentCodes
        }) { stage in
            let answer = try await stage.get("/app/development/codes?to=%2B46%2070-123%2045%2067")
            #expect(answer.json["messages"] == [["body": "3"], ["body": "1"]])
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(try await stage.get("/app/development/codes?to=").json["messages"] == [])
        }
        for profile in ["staging", "production"] {
            let other = try configuration(values, profile: profile)
            #expect(other.webApp?.showsCodes == false && other.developmentCodes == nil)
        }
    }

    private func configuration(_ values: [String: String], profile: String) throws -> GatewayConfiguration {
        try GatewayConfiguration(
            Configuration(
                variables: GatewayConfiguration.variables, prefix: "GATEWAY_",
                environment: values.merging(["VESTIBULE_PROFILE": profile]) { $1 }))
    }
}
