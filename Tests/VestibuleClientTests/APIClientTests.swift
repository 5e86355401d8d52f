import Foundation
import Testing
import VestibuleClient

@Suite("calls of the client") struct APIClientTests {
    /// Answers each request in the same way, and remembers the last one.
    private actor Wire: Transport {
        private let given: TransportAnswer?
        private(set) var last: TransportRequest?

        init(_ status: Int, _ body: String = "", headers: [String: String] = [:]) {
            given = TransportAnswer(status: status, headers: headers, body: Data(body.utf8))
        }

        /// Never answers.
        init() { given = nil }

        func answer(to request: TransportRequest) async throws -> TransportAnswer {
            last = request
            guard let given else { throw URLError(.notConnectedToInternet) }
            return given
        }
    }

    private let problem = """
        {"type": "urn:vestibule:problem:not-found", "title": "Not found", "status": 404, "code": "not_found", \
        "detail": "There is nothing here.", "traceId": "0af7651916cd43dd8448eb211c80319c"}
        """

    private func client(_ wire: Wire) throws -> APIClient {
        APIClient(
            try #require(URL(string: "https://api.example.org/v/")), accessToken: "at", language: "sv", transport: wire)
    }

    private func error(_ wire: Wire) async throws -> VestibuleError {
        let client = try client(wire)
        return try #require(await #expect(throws: VestibuleError.self) { try await client.getMe() })
    }

    @Test("values of a path and of a query are encoded")
    func addresses() async throws {
        let wire = Wire(404, problem)
        let (client, session, subject) = (try client(wire), UUID(), UUID())
        _ = try? await client.deleteAnswer(
            questionnaire: "a/b", session: session, question: "å?", subject: subject, DeleteAnswerRequest())
        let request = try #require(await wire.last)
        #expect(
            request.url.absoluteString == "https://api.example.org/v/questionnaires/a%2Fb/sessions/\(session)"
                + "/answers/%C3%A5%3F?subject=\(subject)")
        #expect(request.method == "DELETE")
        #expect(
            request.headers == [
                "Accept-Language": "sv", "Authorization": "Bearer at", "Content-Type": "application/json",
            ])
        #expect(request.body == Data("{}".utf8))
    }

    @Test("a sign-in has no access token, and a recovery has its own")
    func tokens() async throws {
        let wire = Wire(404, problem)
        let client = try client(wire)
        _ = try? await client.verifyOTP(
            VerifyOTPRequest(challengeId: UUID(), code: "123456", device: DeviceClaim(name: "Phone", platform: .ios)))
        #expect(await wire.last?.headers["Authorization"] == nil)
        _ = try? await client.getRecoveryCase(recovery: UUID(), token: "rt")
        #expect(await wire.last?.headers["Authorization"] == "Bearer rt")
    }

    @Test func aProblemHasItsCode() async throws {
        let error = try await error(Wire(404, problem))
        #expect(error.code == .notFound)
        guard case .problem(let problem) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(problem.detail == "There is nothing here.")
    }

    @Test func anAnswerOfAnotherServerIsUnreadable() async throws {
        for (status, body) in [(502, "<html>"), (200, "{}")] {
            guard case .unreadable(status, _) = try await error(Wire(status, body)) else {
                Issue.record("\(status) was read")
                return
            }
        }
    }

    @Test func withoutANetworkACallFailsAsUnanswered() async throws {
        guard case .noAnswer(let reason) = try await error(Wire()) else {
            Issue.record("there was an answer")
            return
        }
        #expect((reason as? URLError)?.code == .notConnectedToInternet)
    }

    @Test("the version of an answer is read, and sent where given")
    func versions() async throws {
        let fields = """
            {"key": "yoked", "version": 1, "hash": "0", "language": "sv", "steps": [], "fields": []}
            """
        let answer = try await client(Wire(200, fields, headers: ["ETag": "\"r3\""])).getProfileFields()
        #expect(answer.eTag == "\"r3\"" && answer.language == "sv")
        let wire = Wire(304)
        let client = try client(wire)
        let error = await #expect(throws: VestibuleError.self) {
            try await client.getProfileFields(ifNoneMatch: answer.eTag)
        }
        guard case .notModified = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(await wire.last?.headers["if-none-match"] == "\"r3\"")
    }

    @Test func anEmptyAnswerIsRead() async throws {
        try await client(Wire(204)).logout()
    }
}
