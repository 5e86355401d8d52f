import BusProtocol
import Cryptography
import EventLoop
import Foundation
import HTTPServer
import JSONText
import TestSupport
import Testing

@testable import Gateway

private let json = ["Content-Type": "application/json"]

@Suite("Gateway: the way of a request") @Loop struct GatewayServerTests {
    @Test func sendsOneMessageAndPassesTheReplyOn() async throws {
        try await onStage { stage async throws in
            let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            let answer = try await stage.send(
                "POST", "/auth/otp/send", json.merging(["traceparent": trace]) { $1 }, body: #"{"phone":"+1 555"}"#)
            #expect(answer.status == 202 && answer.json["maskedPhone"] == "+1")
            #expect(answer.headers["trace-id"] == "0af7651916cd43dd8448eb211c80319c")
            let asked = try #require(stage.backstage.asked.first)
            #expect(asked.body == ["phone": "+1 555"])
            #expect(asked.context.trace.traceID == "0af7651916cd43dd8448eb211c80319c")
            #expect(asked.context.actor == nil && asked.context.clientAddress == "127.0.0.1")
            #expect(asked.context.idempotencyKey?.hasPrefix("gw ") == true)
        }
    }

    @Test func passesTheClientsKeyOnAndMarksAReplay() async throws {
        try await onStage { stage async throws in
            stage.backstage.isReplay = true
            let headers = json.merging(["Idempotency-Key": "my-own-key"]) { $1 }
            let answer = try await stage.send("POST", "/auth/otp/send", headers, body: #"{"phone":"+1"}"#)
            #expect(answer.headers["idempotency-replayed"] == "true")
            #expect(stage.backstage.asked.first?.context.idempotencyKey == "my-own-key")
            for key in ["", "with space", String(repeating: "k", count: 256), "é"] {
                let headers = json.merging(["Idempotency-Key": key]) { $1 }
                #expect(try await stage.send("POST", "/auth/otp/send", headers, body: "{}").status == 400)
            }
        }
    }

    @Test func mergesThePathIntoTheMessage() async throws {
        try await onStage { stage async throws in
            let id = Identifier.ordered()
            let body = #" { "name":"n","platform":"ios" } "#
            let answer = try await stage.send("PUT", "/users/me/devices/\(id)", stage.signedIn(json), body: body)
            #expect(answer.status == 200)
            let asked = try #require(stage.backstage.asked.first)
            #expect(asked.body == ["deviceId": .string(id.description), "name": "n", "platform": "ios"])
            #expect(asked.context.actor?.userID == stage.tokens.user && asked.context.idempotencyKey == nil)
            let forged = #"{"deviceId":"\#(id)","name":"n","platform":"ios"}"#
            let second = try await stage.send("PUT", "/users/me/devices/\(id)", stage.signedIn(json), body: forged)
            #expect(second.status == 422 && second.json["errors"]?.arrayValue?.first?["field"] == "deviceId")
            let malformed = try await stage.send("PUT", "/users/me/devices/x%22", stage.signedIn(json), body: body)
            #expect(malformed.status == 404)
            #expect(malformed.json["detail"] == "{id} in the path is not valid. Must be a UUID.")
        }
    }

    /// A client that takes a wrong member for an id learns which one, on every route.
    @Test func aMalformedIdInAPathIsNamed() throws {
        var looked = 0
        for route in RouteTable.vestibule.routes {
            for addition in route.additions {
                guard case .path(let name) = addition.source, addition.declaration?.schema == Identifier.schema else {
                    continue
                }
                looked += 1
                let whole = Dictionary(
                    uniqueKeysWithValues: route.path.parameters.map { ($0, Identifier.ordered().description) })
                let request = HTTPRequest(
                    head: HTTPRequestHead(method: route.method.rawValue, path: route.path.text))
                for malformed in ["me", "019c2f00", "019c2f00-0000-7000-8000-00000000000g", "null", " "] {
                    let body = RequestBody(
                        route: route, parameters: whole.merging([name: malformed]) { $1 }, request: request,
                        recoveryToken: nil)
                    let problem = #expect(throws: Problem.self) { try body.build() }
                    // A missing body is reported first.
                    guard problem?.code != "malformed_request" else { continue }
                    #expect(problem?.status == 404, "\(route.path.text)")
                    #expect(problem?.detail == "{\(name)} in the path is not valid. Must be a UUID.")
                }
            }
        }
        #expect(looked > 20)
    }

    @Test func anEmptyPatchAndAnUnquotedTagAreRefusedWithAReason() async throws {
        try await onStage { stage async throws in
            @Loop func patch(_ body: String, _ tag: String? = nil) async throws -> Exchange {
                let headers = stage.signedIn(json).merging(tag.map { ["If-Match": $0] } ?? [:]) { $1 }
                return try await stage.send("PATCH", "/users/me", headers, body: body)
            }
            let empty = try await patch("{}")
            #expect(empty.status == 422 && empty.json["code"] == "validation_failed")
            #expect(empty.json["detail"] == "The request changes nothing. Send at least one field.")
            #expect(empty.json["errors"]?.arrayValue?.first?["code"] == "too_few")
            #expect(try await patch("").status == 400)
            for tag in ["r4", "4", "\"r4", "r4, \"r5\"", "\"r4\" \"r5\""] {
                let unquoted = try await patch(#"{"bio":"x"}"#, tag)
                #expect(unquoted.status == 400 && unquoted.json["code"] == "malformed_request", "\(tag)")
                #expect(unquoted.json["detail"]?.stringValue?.hasPrefix("If-Match must be an ETag") == true)
            }
            for tag in ["*", "\"r4\"", "W/\"r4\"", "\"r3\", \"r4\""] {
                #expect(try await patch(#"{"bio":"x"}"#, tag).status == 200, "\(tag)")
                #expect(stage.backstage.asked.last?.body["ifMatch"] == .string(tag))
            }
        }
    }

    /// As Swift on Apple's systems writes them.
    @Test func takesIdsInUpperCase() async throws {
        try await onStage { stage async throws in
            let id = Identifier.ordered()
            let upper = id.description.uppercased()
            #expect(Identifier(upper) == id && Identifier(upper)?.description == id.description)
            let body = #"{"name":"n","platform":"ios"}"#
            let put = try await stage.send("PUT", "/users/me/devices/\(upper)", stage.signedIn(json), body: body)
            #expect(put.status == 200)
            let undo = #"{"challengeId":"\#(upper)","code":"123456"}"#
            #expect(try await stage.send("POST", "/auth/phone/undo", json, body: undo).status == 200)
        }
    }

    @Test func mergesTheQueryIntoTheMessage() async throws {
        try await onStage { stage async throws in
            let found: [(String, JSONValue)] = [
                ("", [:]), ("?", [:]), ("?query=S%C3%A3o+Paulo&limit=5", ["query": "São Paulo", "limit": 5]),
                ("?other=1&country=SE&&limit", ["country": "SE"]), ("?query=a%3Db=c", ["query": "a=b=c"]),
                ("?query=12&limit=007", ["query": "12", "limit": 7]), ("?query=%ff", [:]), ("?query=", ["query": ""]),
                ("?latitude=59.33&longitude=-18", ["latitude": 59.33, "longitude": -18]),
                ("?latitude=-5.9e1", ["latitude": .number(-59)]),
            ]
            for (query, body) in found {
                #expect(try await stage.get("/cities\(query)").status == 200, "\(query)")
                #expect(stage.backstage.asked.last?.body == body, "\(query)")
            }
            let wrong = try await stage.get("/cities?limit=many&country=Sweden&query=a&query=b")
            #expect(wrong.status == 422 && wrong.json["code"] == "validation_failed")
            let problems = wrong.json["errors"]?.arrayValue?.map {
                "\($0["field"]?.stringValue ?? "") \($0["code"]?.stringValue ?? "")"
            }
            #expect(problems == ["country too_long", "limit wrong_type", "query not_allowed"])
            #expect(try await stage.get("/cities?limit=51").status == 422)
            #expect(try await stage.get("/cities?limit=1e1").status == 422)
            for latitude in ["north", "nan", "inf", "0x1p3", "90.01", "-1e400", "1,5", "%2B5", "5.", "%225%22", ""] {
                #expect(try await stage.get("/cities?latitude=\(latitude)").status == 422, "\(latitude)")
            }
        }
    }

    @Test func sendsAFieldCatalogueOnceToAClientThatCachesIt() async throws {
        try await onStage { stage async throws in
            let first = try await stage.get("/profile/fields", ["Accept-Language": "sv"])
            let tag = try #require(first.headers["etag"])
            #expect(first.status == 200 && first.headers["vary"] == "Accept-Language")
            #expect(first.headers["cache-control"] == "no-cache")
            #expect(stage.backstage.asked.first?.body == ["acceptLanguage": "sv"])
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let again = try await stage.get("/profile/fields", ["If-None-Match": known])
                #expect(again.status == 304 && again.headers["etag"] == tag && again.body.isEmpty, "\(known)")
                #expect(again.headers["content-type"] == nil && again.headers["trace-id"] != nil)
            }
            for other in ["\"x\"", "", String(tag.dropLast())] {
                #expect(try await stage.get("/profile/fields", ["If-None-Match": other]).status == 200, "\(other)")
            }
        }
    }

    @Test func reportsEveryProblemOfABodyAtOnce() async throws {
        try await onStage { stage async throws in
            func send(_ body: String, _ headers: [String: String] = json) async throws -> Exchange {
                try await stage.send("POST", "/auth/otp/send", headers, body: body)
            }
            let wrong = try await send(#"{"phone":1,"purpose":"x","more":true}"#)
            #expect(wrong.status == 422 && wrong.json["code"] == "validation_failed")
            #expect(wrong.json["errors"]?.arrayValue?.count == 3)
            for body in ["", "{", "[]", "null", #"{"phone":"1","phone":"2"}"#, "{} {}", "\u{feff}{}"] {
                let answer = try await send(body)
                #expect(answer.status == 400 && answer.json["code"] == "malformed_request", "\(body)")
            }
            for type in [
                "text/plain", "application/jsonp", "application/json; charset=latin1", "application/merge-patch+json",
            ] {
                #expect(try await send("{}", ["Content-Type": type]).status == 415, "\(type)")
            }
            #expect(try await send("{}", [:]).status == 415)
            #expect(try await send("").json["detail"] == "The body is missing. It must be a JSON object.")
            #expect(
                try await send(#"{"phone":"1"}"#, ["Content-Type": "Application/JSON; charset=UTF-8"]).status == 202)
            #expect(try await send(#"{"phone":"\#(String(repeating: "1", count: 70_000))"}"#).status == 413)
            #expect(stage.backstage.asked.count == 1)
        }
    }

    @Test func aBodyThatFitsTheRouteAndNotTheMessageIsTooLarge() async throws {
        try await onStage { stage async throws in
            func patch(_ count: Int) async throws -> Exchange {
                let body = "{\"bio\":\"\(String(repeating: "b", count: count - 10))\"}"
                return try await stage.send("PATCH", "/users/me", stage.signedIn(json), body: body)
            }
            // With the member that it becomes, the message has eleven bytes more.
            let answer = try await patch(65_536)
            #expect(answer.status == 413 && answer.json["detail"] == "The body is larger than 65525 bytes.")
            #expect(try await patch(65_525).status == 200)
            let tag = stage.signedIn(json).merging(["If-Match": String(repeating: "e", count: 65)]) { $1 }
            let odd = try await stage.send("PATCH", "/users/me", tag, body: #"{"bio":"x"}"#)
            #expect(odd.status == 400 && odd.json["detail"] == "The header if-match is not valid.")
        }
    }

    @Test func answersWithoutABody() async throws {
        try await onStage { stage async throws in
            let answer = try await stage.send("POST", "/auth/logout", stage.signedIn())
            #expect(answer.status == 204 && answer.body.isEmpty && answer.headers["content-length"] == nil)
        }
    }

    @Test func knowsPathsAndMethods() async throws {
        try await onStage { stage async throws in
            #expect(try await stage.get("/nowhere").json["code"] == "not_found")
            let wrong = try await stage.send("DELETE", "/users/me/devices")
            #expect(wrong.status == 405 && wrong.headers["allow"] == "GET, HEAD, OPTIONS")
            #expect(wrong.json["traceId"]?.stringValue == wrong.headers["trace-id"])
            let head = try await stage.send("HEAD", "/healthz")
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(try await stage.send("OPTIONS", "*").status == 204)
            let malformed = try await Exchange(port: stage.gateway.boundPort, request: "GET /\r\n\r\n")
            #expect(malformed.status == 400 && malformed.json["code"] == "malformed_request")
            #expect(malformed.headers["trace-id"] == malformed.json["traceId"]?.stringValue)
        }
    }

    @Test func aProblemIsInTheLanguageOfTheClient() async throws {
        try await onStage { stage async throws in
            let plain = try await stage.get("/nothing")
            #expect(plain.json["detail"] == "There is nothing here." && plain.headers["content-language"] == nil)
            let swedish = ["Accept-Language": "sv-SE, en;q=0.5"]
            let translated = try await stage.get("/nothing", swedish)
            #expect(translated.json["detail"] == "Det finns inget här." && translated.json["title"] == "Finns inte")
            #expect(translated.json["code"] == "not_found" && translated.headers["content-language"] == "sv")
            let other = try await stage.get("/nothing", ["Accept-Language": "de"])
            #expect(other.json["detail"] == plain.json["detail"] && other.headers["content-language"] == "en")
            let wrong = try await stage.send(
                "POST", "/auth/otp/send", json.merging(swedish) { $1 }, body: #"{"phone":12}"#)
            #expect(wrong.json["errors"]?.arrayValue?.first?["message"] == "Måste vara en text.")
            // A service is told the language, and none where the client names none.
            for headers in [json.merging(swedish) { $1 }, json] {
                _ = try await stage.send("POST", "/auth/otp/send", headers, body: #"{"phone":"+1"}"#)
            }
            #expect(stage.backstage.asked.map { $0.context.language } == ["sv", nil])
        }
    }

    @Test func relaysTheRefusalOfAService() async throws {
        try await onStage { stage async throws in
            stage.backstage.failure = BusError(.rateLimited, "Please wait", retryAfter: .seconds(42))
            let answer = try await stage.send("POST", "/auth/otp/send", json, body: #"{"phone":"+1"}"#)
            #expect(answer.status == 429 && answer.headers["retry-after"] == "42")
            #expect(answer.json["retryAfterSeconds"] == 42)
        }
    }

    @Test func servesKeysAndItsDescription() async throws {
        try await onStage { stage async throws in
            let keys = try await stage.get("/.well-known/jwks.json")
            #expect(keys.json["keys"]?.arrayValue?.first?["kid"] == "k1")
            #expect(try await stage.get("/openapi.json").json["openapi"] == "3.1.0")
        }
    }

    @Test func originsThatWereNamedMayRead() async throws {
        try await onStage({ $0.corsOrigins = ["https://app.example"] }) { stage async throws in
            let ask = ["Origin": "https://app.example", "Access-Control-Request-Method": "PATCH"]
            let flight = try await stage.send("OPTIONS", "/users/me", ask)
            #expect(flight.status == 204 && flight.headers["access-control-allow-origin"] == "https://app.example")
            #expect(flight.headers["access-control-allow-methods"]?.contains("PATCH") == true)
            let allowed = flight.headers["access-control-allow-headers"]?.components(separatedBy: ", ") ?? []
            #expect(Set(["authorization", "if-match", "if-none-match", "accept-language"]).isSubset(of: allowed))
            let other = try await stage.get("/healthz", ["Origin": "https://evil.example"])
            #expect(other.headers["access-control-allow-origin"] == nil && other.headers["vary"] == "Origin")
        }
    }

    @Test func aProxyMustNameTheClient() async throws {
        try await onStage({ $0.trustedProxies = [Network("127.0.0.0/8")].compactMap { $0 } }) { stage async throws in
            let body = #"{"phone":"+1"}"#
            #expect(try await stage.send("POST", "/auth/otp/send", json, body: body).status == 400)
            let headers = json.merging(["X-Forwarded-For": "6.6.6.6, 203.0.113.5"]) { $1 }
            #expect(try await stage.send("POST", "/auth/otp/send", headers, body: body).status == 202)
            #expect(stage.backstage.asked.first?.context.clientAddress == "203.0.113.5")
        }
    }

    @Test func aWaitOfOneSecondIsOneSecond() async throws {
        try await onStage({ $0.rateLimit = 12 }) { stage async throws in
            var answer = try await stage.get("/docs")
            while answer.status != 429 { answer = try await stage.get("/docs") }
            #expect(answer.json["retryAfterSeconds"] == 1)
            #expect(answer.json["detail"] == "Please wait 1 second before retrying")
        }
    }

    @Test func limitsTheRateOfAPerson() async throws {
        try await onStage({ $0.rateLimit = 2 }) { stage async throws in
            for _ in 0..<2 { #expect(try await stage.get("/users/me/devices", stage.signedIn()).status == 200) }
            let third = try await stage.get("/users/me/devices", stage.signedIn())
            #expect(third.status == 429 && third.json["code"] == "rate_limited")
            #expect(third.headers["retry-after"] != nil)
            #expect(try await stage.get("/healthz").status == 200)
        }
    }

    @Test func limitsItsOwnAnswersButNotHealthProbes() async throws {
        try await onStage({ $0.rateLimit = 1 }) { stage async throws in
            var statuses: [Int] = []
            for path in ["/docs", "/openapi.json", "/docs", "/.well-known/jwks.json", "/docs", "/docs"] {
                statuses.append(try await stage.get(path).status)
            }
            #expect(statuses.prefix(5).allSatisfy { $0 == 200 } && statuses.last == 429)
            for path in ["/docs", "/openapi.json", "/.well-known/jwks.json"] {
                let route = try #require(RouteTable.vestibule.routes.first { $0.path.text == path })
                #expect(route.refusals.contains(.rateLimited), "\(path) says so")
            }
            for _ in 0..<10 { #expect(try await stage.get("/healthz").status == 200) }
            #expect(try await stage.get("/readyz").status != 429)
        }
    }

    @Test("only trusted proxies may exceed the connections of an address")
    func limitsTheConnectionsOfAnAddress() async throws {
        for (proxies, kept) in [([], 1), ([try #require(Network("127.0.0.0/8"))], 3)] as [([Network], Int)] {
            try await onStage({ ($0.connectionsPerAddress, $0.trustedProxies) = (1, proxies) }) { stage async throws in
                for _ in 0..<3 { _ = try await stage.get("/healthz") }
                let halves = (0..<3).map { _ in AddressedSocket.open(stage.gateway.boundPort, from: "127.0.0.2") }
                defer { for half in halves { close(half) } }
                #expect(try await stage.get("/readyz").status == 200)
                #expect(try await eventually { halves.count { AddressedSocket.isOpen($0) } == kept })
            }
        }
    }

    @Test func limitsCallersThatTryOutPaths() async throws {
        try await onStage({ $0.rateLimit = 1 }) { stage async throws in
            var statuses: [Int] = []
            for number in 0..<3 {
                statuses.append(try await stage.get("/nowhere/\(number)").status)
                statuses.append(try await stage.send("DELETE", "/auth/otp/send").status)
            }
            #expect(statuses == [404, 405, 404, 405, 404, 429])
            #expect(try await stage.get("/healthz").status == 200)
        }
    }
}

@Suite("Gateway: who may call") @Loop struct GatewayAccessTests {
    @Test func wantsATokenOfOurs() async throws {
        try await onStage { stage async throws in
            func code(_ authorization: String?) async throws -> JSONValue? {
                let headers = authorization.map { ["Authorization": $0] } ?? [:]
                let answer = try await stage.get("/users/me/devices", headers)
                #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer")
                return answer.json["code"]
            }
            let past = Timestamp.now().microsecondsSinceEpoch / 1_000_000 - 2000
            for wrong in [nil, "Bearer", "Bearer x", "Basic \(stage.token())", "Bearer  \(stage.token())"] {
                #expect(try await code(wrong) == "unauthorized", "\(wrong ?? "none")")
            }
            #expect(try await code("Bearer \(stage.tokens.token(now: past))") == "token_expired")
            #expect(try await stage.get("/users/me/devices", stage.signedIn()).status == 200)
        }
    }

    @Test func explainsTheDefectOfTheCredentials() async throws {
        try await onStage { stage async throws in
            func detail(_ path: String, _ authorization: String?) async throws -> String? {
                let answer = try await stage.get(path, authorization.map { ["Authorization": $0] } ?? [:])
                #expect(answer.status == 401 && answer.json["code"] == "unauthorized")
                return answer.json["detail"]?.stringValue
            }
            let (devices, recovery) = ("/users/me/devices", "/auth/recovery/\(Identifier.ordered())")
            let scheme = "The Authorization header must be \"Bearer\", a space and the"
            let expected: [(String, String?, String)] = [
                (devices, nil, "Please sign in. The request has no access token."),
                (devices, stage.token(), "Please sign in. \(scheme) access token."),
                (devices, "Basic eA==", "Please sign in. \(scheme) access token."),
                (devices, "Bearer x", "Please sign in. The access token is not valid."),
                (devices, "Bearer \(stage.token())x", "Please sign in. The access token is not valid."),
                (recovery, nil, "The request has no recovery token."),
                (recovery, "rt_51ab", "\(scheme) recovery token."),
            ]
            for (path, authorization, sentence) in expected {
                #expect(try await detail(path, authorization) == sentence, "\(path) \(authorization ?? "none")")
            }
            let dispute = try await stage.send("POST", recovery + "/dispute", json, body: "{}")
            #expect(
                dispute.json["detail"]
                    == "Please sign in. The request has neither an access token nor disputeToken in its body.")
        }
    }

    @Test func learnsOfRevocations() async throws {
        try await onStage { stage async throws in
            #expect(try await stage.get("/users/me/devices", stage.signedIn()).status == 200)
            stage.backstage.revoked = [stage.tokens.session]
            var answer = try await stage.get("/users/me/devices", stage.signedIn())
            while answer.status == 200 { answer = try await stage.get("/users/me/devices", stage.signedIn()) }
            #expect(answer.status == 401 && answer.json["code"] == "token_revoked")
            #expect(stage.backstage.sessionQuestions == 0)
        }
    }

    @Test("it is ready only once it has read the whole revocation log")
    func readsEveryPage() async throws {
        let stage = try await Stage()
        let others = (0..<RevocationsFollowed.largestPage).map { _ in Identifier.ordered() }
        stage.backstage.revoked = others + [stage.tokens.session]
        try await stage.open()
        let answer = try await stage.get("/users/me/devices", stage.signedIn())
        #expect(answer.status == 401 && answer.json["code"] == "token_revoked")
        #expect(stage.backstage.sessionQuestions == 0)
        await stage.close()
    }

    @Test("without the revocation log it asks about a session at most once a second")
    func asksWhenStale() async throws {
        try await onStage { stage async throws in
            stage.silence()
            while stage.backstage.sessionQuestions == 0 {
                #expect(try await stage.get("/users/me/devices", stage.signedIn()).status == 200)
            }
            for _ in 0..<5 { _ = try await stage.get("/users/me/devices", stage.signedIn()) }
            #expect(stage.backstage.sessionQuestions == 1)
            stage.backstage.revoked = [stage.tokens.session]
            var answer = try await stage.get("/users/me/devices", stage.signedIn())
            while answer.status == 200 { answer = try await stage.get("/users/me/devices", stage.signedIn()) }
            #expect(answer.json["code"] == "token_revoked")
        }
    }

    @Test(.timed) func atMost64SessionsAreCheckedAtOnce() async throws {
        try await onStage { stage async throws in
            @Loop func ask(_ session: Identifier) -> Task<Exchange, any Error> {
                let headers = ["Authorization": "Bearer \(stage.token(["sid": .string(session.description)]))"]
                return Loop.spawn { try await stage.get("/users/me/devices", headers) }
            }
            stage.silence()
            while stage.backstage.sessionQuestions == 0 {
                _ = try await stage.get("/users/me/devices", stage.signedIn())
            }
            let (gate, known) = (LoopPromise<Void>(), stage.backstage.sessionQuestions)
            stage.backstage.sessionGate = gate
            let sessions = (0..<64).map { _ in Identifier.ordered() }
            let first = sessions.map(ask)
            // The first of them is waited for no longer than a second.
            let areAsked = try await eventually(within: .seconds(5)) { stage.backstage.sessionQuestions == known + 64 }
            #expect(areAsked, .time)
            let past = try await ask(.ordered()).value
            #expect(past.status == 503 && past.json["code"] == "overloaded", .time)
            // A question that is under way answers for everybody who has that session.
            let again = ask(sessions[0])
            gate.resolve(.success(()))
            for answer in first + [again] { #expect(try await answer.value.status == 200, .time) }
            #expect(stage.backstage.sessionQuestions == known + 64, .time)
        }
    }

    @Test func learnsOfANewKey() async throws {
        try await onStage { stage async throws in
            var maker = stage.tokens
            (maker.key, maker.kid) = (.init(), "k2")
            let token = maker.token(now: Timestamp.now().microsecondsSinceEpoch / 1_000_000)
            stage.backstage.keys.append(.init(x: Base64URL.encode(maker.key.publicKey.raw), kid: "k2"))
            var answer = try await stage.get("/users/me/devices", ["Authorization": "Bearer \(token)"])
            while answer.status == 401 {
                try await Loop.sleep(for: .milliseconds(50))
                answer = try await stage.get("/users/me/devices", ["Authorization": "Bearer \(token)"])
            }
            #expect(answer.status == 200)
        }
    }

    @Test func anUnknownKeyMeansUnavailableWhileAuthIsAway() async throws {
        try await onStage { stage async throws in
            var maker = stage.tokens
            (maker.key, maker.kid) = (.init(), "k2")
            let token = maker.token(now: Timestamp.now().microsecondsSinceEpoch / 1_000_000)
            let headers: HTTPHeaders = ["authorization": "Bearer \(token)"]
            // A gateway that has not heard from auth for minutes answers as one that never has.
            let gatekeeper = Gatekeeper(
                bus: stage.gateway.bus, issuer: "vestibule", audience: "vestibule", keyPatience: .zero)
            await gatekeeper.keys.refresh()
            let problem = await #expect(throws: Problem.self) {
                try await gatekeeper.admit(headers, to: .user, from: "192.0.2.7")
            }
            #expect(problem?.code == "service_unavailable")
            // A gateway that has heard from auth lately knows that the key is a stranger's.
            let answer = try await stage.get("/users/me/devices", ["Authorization": "Bearer \(token)"])
            #expect(answer.status == 401)
        }
    }

    @Test func onlyTheServiceOfAGraveActReceivesTheToken() async throws {
        try await onStage { stage async throws in
            let token = stage.token()
            let headers = ["Authorization": "bearer \(token)"]
            #expect(try await stage.send("DELETE", "/users/me", headers).status == 202)
            #expect(try await stage.get("/users/me/devices", headers).status == 200)
            let tokens = stage.backstage.asked.map(\.context.accessToken)
            #expect(tokens == [token, nil], "and no other one does")
        }
    }

    @Test func anOptionalTokenIsPassedOnIfSent() async throws {
        try await onStage { stage async throws in
            let (token, body) = (stage.token(), #"{"disputeToken":"dt_9d1c"}"#)
            let json = ["Content-Type": "application/json"]
            for headers in [json, json.merging(["Authorization": "Bearer \(token)"]) { $1 }] {
                #expect(try await stage.send("POST", "/auth/phone/undo", headers, body: body).status == 200)
            }
            #expect(stage.backstage.asked.map(\.context.accessToken) == [nil, token])
        }
    }

    @Test func staffActsFromItsNetworksOnly() async throws {
        try await onStage { stage async throws in
            @Loop func codes(_ role: String, to access: Route.Access, _ networks: [String]?) async throws -> [String] {
                let gatekeeper = Gatekeeper(
                    bus: stage.gateway.bus, issuer: "vestibule", audience: "vestibule",
                    staffNetworks: networks?.compactMap { Network($0) })
                await gatekeeper.keys.refresh()
                let token = stage.token(["role": .string(role)])
                var codes: [String] = []
                for address in ["10.1.2.3", "192.0.2.7", "2001:db8::1", "nonsense"] {
                    let headers: HTTPHeaders = ["authorization": "Bearer \(token)"]
                    do {
                        codes.append(
                            try await gatekeeper.admit(headers, to: access, from: address).actor?.role.rawValue
                                ?? "nobody")
                    } catch {
                        codes.append(error.code)
                    }
                }
                return codes
            }
            let no = "forbidden"
            #expect(
                try await codes("staff", to: .staff, ["10.0.0.0/8", "2001:db8::/32"]) == ["staff", no, "staff", no])
            #expect(try await codes("admin", to: .staff, ["10.0.0.0/8"]) == ["admin", no, no, no])
            #expect(try await codes("staff", to: .admin, ["10.0.0.0/8"]) == [no, no, no, no])
            #expect(try await codes("admin", to: .admin, []) == [no, no, no, no], "nobody said from where")
            #expect(try await codes("user", to: .staff, nil) == [no, no, no, no])
            #expect(try await codes("staff", to: .staff, nil) == ["staff", "staff", "staff", "staff"])
            // What everybody may, they may from everywhere.
            #expect(try await codes("staff", to: .user, []) == ["staff", "staff", "staff", "staff"])
        }
    }

    @Test("a body for staff is not read before the token was looked at")
    func staffBodiesWaitForTheToken() async throws {
        try await onStage({ $0.rateLimit = 1 }) { stage async throws in
            let path = "/admin/questionnaires/a/drafts"
            let head =
                "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n"
            func ask(_ token: String) async throws -> Exchange {
                // Nothing of the body is sent: who waits for it gives no answer.
                try await Exchange(
                    port: stage.gateway.boundPort, request: head + "Authorization: Bearer \(token)\r\n\r\n")
            }
            #expect(try await ask("no").json["code"] == "unauthorized")
            #expect(try await ask(stage.token()).json["code"] == "forbidden")
            let body = #"{"questions":[]}"#
            let admin = ["Authorization": "Bearer \(stage.token(["role": "admin"]))"].merging(json) { $1 }
            #expect(try await stage.send("POST", path, admin, body: body).status != 401)
            for _ in 0..<2 { #expect(try await ask("no").status == 401) }
            #expect(try await ask("no").status == 429, "who tries tokens pays for it")
        }
    }

    @Test func passesARecoveryTokenOn() async throws {
        try await onStage { stage async throws in
            let path = "/auth/recovery/\(Identifier.ordered())"
            #expect(try await stage.get(path).status == 401)
            #expect(try await stage.get(path, ["Authorization": "Bearer rt_secret"]).status == 200)
            #expect(stage.backstage.asked.first?.body["recoveryToken"] == "rt_secret")
        }
    }

    @Test func aDisputeNeedsASessionOrItsToken() async throws {
        try await onStage { stage async throws in
            let path = "/auth/recovery/\(Identifier.ordered())/dispute"
            let nobody = try await stage.send("POST", path)
            #expect(nobody.status == 401)
            #expect(try await stage.send("POST", path, json, body: #"{"disputeToken":"dt_x"}"#).status == 200)
            #expect(try await stage.send("POST", path, stage.signedIn()).status == 200)
            #expect(stage.backstage.asked.map { $0.context.actor == nil } == [true, false])
            #expect(try await stage.send("POST", path, ["Authorization": "Bearer x"]).status == 401)
        }
    }

    @Test func namesTheServicesWithoutTheTablesOfTheirRelease() async throws {
        try await onStage { stage async throws in
            stage.change(.profile, to: .starting, gauges: ["schema_missing": 2])
            #expect(try await eventually { try await stage.get("/readyz").status == 503 })
            var answer = try await stage.get("/readyz")
            #expect(answer.json["notReady"] == ["profile"] && answer.json["schemaMissing"] == ["profile"])
            #expect(
                answer.json["detail"]?.stringValue?.hasSuffix("Without the tables of this release: profile.") == true)
            stage.change(.profile, to: .starting, gauges: ["schema_missing": 0])
            answer = try await stage.get("/readyz")
            #expect(answer.json["notReady"] == ["profile"] && answer.json["schemaMissing"] == nil)
        }
    }

    @Test func isNotReadyWithoutItsServices() async throws {
        let stage = try await Stage()
        try stage.gateway.bus.start()
        try stage.gateway.start()
        #expect(try await stage.get("/healthz").status == 200)
        let answer = try await stage.get("/readyz")
        #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
        #expect(answer.json["notReady"]?.arrayValue?.contains("auth") == true)
        #expect(answer.json["reasons"]?["auth"] == "not_found" && answer.json["reasons"]?["signing-keys"] == nil)
        #expect(answer.json["detail"]?.stringValue?.hasPrefix("Not ready: auth (not_found), ") == true)
        #expect(try await stage.get("/users/me/devices", stage.signedIn()).status == 503)
        #expect(try await stage.send("POST", "/auth/otp/send", json, body: #"{"phone":"1"}"#).status == 503)
        await stage.close()
    }
}
