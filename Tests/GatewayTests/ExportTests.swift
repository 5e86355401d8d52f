import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import Gateway

@Suite("the export of a person") struct ExportTests {
    /// The body behind the chunks; `nil` where the last chunk is missing.
    private func whole(_ exchange: Exchange) -> JSONValue? {
        #expect(exchange.headers["transfer-encoding"] == "chunked")
        var (rest, body) = (exchange.body[...], [UInt8]())
        while let end = rest.firstIndex(of: 13),
            let length = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16)
        {
            rest = rest[(end + 2)...]
            if length == 0 { return try? JSONValue.parse(body) }
            body += rest.prefix(length)
            rest = rest.dropFirst(length + 2)
        }
        return nil
    }

    @Test func isOneDocumentOfAllPagesOfAllServices() async throws {
        try await onStage { stage in
            stage.backstage.pages = [
                ExportAccount.type: [["account", "phone"], [], ["device"]], ExportAnswers.type: [["answer"]],
            ]
            let answer = try await stage.send("GET", "/users/me/export", stage.signedIn())
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
            let document = try #require(whole(answer))
            #expect(document["auth"] == [["kind": "account"], ["kind": "phone"], ["kind": "device"]])
            #expect(document["profile"] == [] && document["questionnaire"] == [["kind": "answer"]])
            for service in ServiceName.services.dropFirst(3) { #expect(document[service.identifier] == []) }
            #expect(ExportDocument.schema.problems(in: try JSONDocument(CanonicalJSON.bytes(of: document)).root) == [])
            let asked = stage.backstage.asked.filter { $0.type.rawValue.hasSuffix("export-person") }
            #expect(asked.count == ServiceName.services.count + 2 && asked.first?.type == ExportAccount.type)
            #expect(Set(asked.map { $0.context.actor?.userID }).count == 1 && asked[0].context.actor != nil)
            // The export is noted in the audit trail once: after the first page of every service, and before the first
            // byte of the answer.
            #expect(stage.backstage.asked.firstIndex { $0.type == BeginExport.type } == ServiceName.services.count)
            #expect(stage.backstage.asked.count { $0.type == BeginExport.type } == 1)
            #expect(document["personId"]?.stringValue == asked[0].context.actor?.userID.description)
        }
    }

    @Test func anExportRefusedByAuthAsksNoOtherService() async throws {
        try await onStage { stage in
            stage.backstage.failure = BusError(.reauthenticationRequired, "Please sign in again to export your data.")
            let answer = try await stage.send("GET", "/users/me/export", stage.signedIn())
            #expect(answer.status == 403 && answer.json["code"] == "reauthentication_required")
            #expect(stage.backstage.asked.map(\.type) == [ExportAccount.type])
            #expect(try await stage.send("GET", "/users/me/export").status == 401)
        }
    }

    @Test func anExportWithAServiceMissingIsAProblem() async throws {
        try await onStage { stage in
            stage.lose(.recovery)
            let answer = try await stage.send("GET", "/users/me/export", stage.signedIn())
            #expect(answer.status == 503 && answer.headers["content-type"] == "application/problem+json")
        }
    }

    @Test func anExportIsCutOffWhenAServiceFailsMidway() async throws {
        try await onStage { stage in
            stage.backstage.pages = [ExportProfile.type: [["profile"], ["more"]]]
            let answer = try await stage.send("GET", "/users/me/export", stage.signedIn())
            #expect(answer.status == 200 && whole(answer) == nil)
            #expect(answer.text.contains("profile"), "it had begun")
        }
    }
}
