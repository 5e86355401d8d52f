import BusProtocol
import HTTPServer
import JSONText
import Testing

@testable import Gateway

@Suite("Problem documents") struct ProblemTests {
    private func document(_ problem: Problem) throws -> (HTTPResponse, JSONValue) {
        let response = problem.response(traceID: "0af7651916cd43dd8448eb211c80319c")
        return (response, try JSONValue.parse(response.body))
    }

    @Test func hasTheStandardMembers() throws {
        let (response, value) = try document(Problem(.notFound, "There is nothing here."))
        #expect(response.status == 404)
        #expect(response.headers.first("content-type") == "application/problem+json")
        #expect(response.headers.first("trace-id") == "0af7651916cd43dd8448eb211c80319c")
        #expect(
            Set(value.objectValue?.keys.map { $0 } ?? []) == ["type", "title", "status", "code", "detail", "traceId"])
        #expect(value["code"] == "not_found" && value["status"] == 404)
        #expect(value["traceId"] == "0af7651916cd43dd8448eb211c80319c")
    }

    @Test func carriesTheErrorOfAService() throws {
        let error = BusError(
            .otpInvalid, "Code incorrect. 2 attempts remaining", retryAfter: .milliseconds(1500),
            errors: [.init(field: "code", code: "wrong", message: "Wrong.")],
            details: ["attemptsRemaining": 2, "status": 200, "detail": "forged"])
        let (response, value) = try document(Problem(error))
        #expect(response.status == 422 && value["code"] == "otp_invalid")
        #expect(value["attemptsRemaining"] == 2)
        #expect(value["status"] == 422 && value["detail"] == "Code incorrect. 2 attempts remaining")
        #expect(value["retryAfterSeconds"] == 2 && response.headers.first("retry-after") == "2")
        #expect(
            value["errors"] == [["field": "code", "pointer": "/code", "code": "wrong", "message": "Wrong."]])
    }

    @Test("a place in a document is a pointer already")
    func pointers() throws {
        let error = BusError(
            .validationFailed, "Wrong.",
            errors: [
                .init(field: "/sections/0/title", code: "E01", message: "Wrong."),
                .init(field: "answers.0.value", code: "E01", message: "Wrong."),
                .init(field: "childName/1", code: "E01", message: "Wrong."),
                .init(field: "shoe.size", pointer: "/shoe.size", code: "E01", message: "Wrong."),
            ])
        let told = try document(Problem(error)).1["errors"]?.arrayValue ?? []
        #expect(told.map { $0["pointer"] } == ["/sections/0/title", "/answers/0/value", "/childName~11", "/shoe.size"])
        // The gateway's own, and one of profile's.
        let schema = JSONSchema.object([.optional("a", .map(of: .boolean, count: 0...2))])
        let wrong = Problem(schema.problems(in: try JSONDocument(Array(#"{"a":{"b.c/d":1},"e.f":2}"#.utf8)).root))
        #expect(try document(wrong).1["errors"]?.arrayValue?.map { $0["pointer"] } == ["/a/b.c~1d", "/e.f"])
    }

    @Test(
        "a retryable problem has a Retry-After header",
        arguments: [ErrorCode.serviceUnavailable, .deadlineExceeded, .overloaded])
    func retryAfter(code: ErrorCode) throws {
        #expect(try document(Problem(code, "")).0.headers.first("retry-after") == "1")
    }

    @Test func unauthorizedNamesTheScheme() throws {
        #expect(try document(Problem(.tokenExpired, "")).0.headers.first("www-authenticate") == "Bearer")
    }

    @Test func unavailableSaysWhenToComeBack() throws {
        #expect(try document(Problem(.serviceUnavailable, "")).0.headers.first("retry-after") == "1")
    }

    @Test("internal errors reveal nothing")
    func hidesInternalErrors() throws {
        var odd = BusError(
            .internalError, "table accounts is missing", errors: [.init(field: "accounts", code: "x", message: "y")],
            details: ["table": "accounts"])
        odd.code = "made_up"
        let (response, value) = try document(Problem(odd))
        #expect(response.status == 500 && value["code"] == "internal_error")
        #expect(value["detail"] == .string(Problem.internalDetail))
        #expect(value["errors"] == nil && value["table"] == nil)
        #expect(Problem(BusError(.callerNotAllowed, "gateway may not")).status == 500)
        #expect(Problem(BusError(.unknownMessage, "auth.x")).status == 501)
        let shape = Problem(BusError(.invalidMessage, "The message does not have the shape of auth.x."))
        #expect(shape.code == "validation_failed" && !shape.detail.contains("auth.x"))
    }

    @Test("every refusal of the HTTP server has a problem with its status")
    func refusals() {
        let refusals: [HTTPRefusal] = [
            .malformed("x"), .headersTooLarge, .bodyTooLarge(limit: 1), .unsupportedTransferCoding, .unsupportedVersion,
            .expectationFailed, .timeout,
        ]
        for refusal in refusals { #expect(Problem(refusal).status == refusal.status) }
    }
}
