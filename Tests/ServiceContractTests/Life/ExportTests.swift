import BusProtocol
import EventLoop
import JSONText
import TestSupport
import Testing

/// The export of a person through the whole system.
@Suite("export") struct PersonExportTests {
    private static let phone = "+14155552671"

    @Test func theExportHasEveryKindOfRecordOfThePerson() async throws {
        try await TestSystem.run { system in
            let session = try await system.onboarded(Self.phone)
            try await system.plantTheRest(of: session)
            let answer = try await system.send("GET", "/users/me/export", as: session)
            #expect(answer.status == 200)
            // No chunk contains a line end here, so the lines separate sizes and chunks.
            let lines = answer.text.components(separatedBy: "\r\n")
            let body = stride(from: 1, to: lines.count, by: 2).map { lines[$0] }.joined()
            let document = try JSONValue.parse(Array(body.utf8), limits: JSONLimits(depth: 64, values: 100_000))
            func records(_ service: String, _ kind: String) -> [JSONValue] {
                (document[service]?.arrayValue ?? []).filter { $0["kind"]?.stringValue == kind }
            }

            let held = try await system.columns(holding: session.user.id.description)
            try await system.expectIsAccountedFor(held)
            for (column, sections) in system.described {
                for (service, kind) in sections {
                    #expect(!records(service.identifier, kind).isEmpty, "\(column) is not exported as \(kind)")
                }
            }
            for service in TestSystem.definitions.map(\.name.identifier) {
                #expect(records(service, "undescribed") == [["kind": "undescribed", "words": "Hej"]], "\(service)")
            }
            #expect(records("auth", "phone").first?["number"]?.stringValue == Self.phone)
            #expect(records("auth", "device").count == 2 && records("auth", "session").count == 2)
            #expect(records("auth", "code").count == 2)
            #expect(records("auth", "act").first?["act"] == "account_created")
            #expect(
                try await system.rows(
                    .auth, "SELECT count(*) FROM audit WHERE act = 'data_exported' AND chain <> 'service'")
                    == "1", "that it left is written down, once")
            #expect(records("profile", "profile").first?["dateOfBirth"] == "1994-02-28")
            #expect(records("profile", "profile").first?["fields"]?["bio"]?["value"] == "Te är livet")
            #expect(records("profile", "act").map { $0["act"] } == ["date_of_birth_set"])
            let history = records("profile", "field_history").filter { $0["field"] == "bio" }
            #expect(history.map { $0["value"] } == ["Fika är livet", "Te är livet"])
            #expect(records("questionnaire", "answer").count == QuestionnaireProvider.required.count)
            #expect(records("questionnaire", "snapshot").count == 1)
            #expect(records("recovery", "case").first?["status"] == "disputed")
            #expect(records("recovery", "case_event").count >= 2)
            // The export does not name the claimant, who is another person. Nobody gets hashes and push tokens.
            #expect(!body.contains("5559999") && !body.contains("hash") && !body.contains("fcm:"))
        }
    }

    /// Signs in and waits until profile has received the event.
    @Loop private static func signedIn(_ system: TestSystem) async throws -> Session {
        let session = try await system.signIn(phone)
        #expect(
            try await eventually {
                try await system.rows(.profile, "SELECT name FROM onboarding_events") == "otp_verified"
            })
        return session
    }

    @Test func theExportContinuesFromPageToPage() async throws {
        try await TestSystem.run { system in
            let session = try await Self.signedIn(system)
            _ = try await system.ask(UpdateMe(fields: ["bio": "No. 0"]), as: session)
            // These are more rows than one field can have.
            try await system.rows(
                .profile,
                """
                INSERT INTO profile_field_history (person_id, key, state, value)
                SELECT '\(session.user.id)', 'field' || n, 'answered', to_jsonb('No. ' || n) FROM generate_series(1, 129) AS n
                """)
            var (after, records, pages) = (String?.none, [String](), 0)
            repeat {
                let page = try await system.ask(ExportProfile(after: after), as: session)
                #expect(page.records.count <= ExportPage.mostRecords)
                records += page.records
                (after, pages) = (page.next, pages + 1)
            } while after != nil
            #expect(records.count == 133 && pages == 3)
            for nowhere in [":", "x:", "-1:", "99:"] {
                let page = try await system.ask(ExportProfile(after: nowhere), as: session)
                #expect(page.next == nil || page.records == Array(records.prefix(page.records.count)), "\(nowhere)")
            }
            #expect((1...130).allSatisfy { records[$0].contains("\"No. \($0 - 1)\"") })
        }
    }

    @Test func aPageHasABudgetOfBytes() async throws {
        try await TestSystem.run { system in
            let session = try await Self.signedIn(system)
            _ = try await system.ask(UpdateMe(fields: ["bio": "Hej"]), as: session)
            try await system.rows(
                .profile,
                """
                INSERT INTO profile_field_history (person_id, key, state, value)
                SELECT '\(session.user.id)', 'bio', 'answered', to_jsonb(repeat('x', 100000)) FROM generate_series(1, 5)
                """)
            var (after, sizes) = (String?.none, [Int]())
            repeat {
                let page = try await system.ask(ExportProfile(after: after), as: session)
                sizes.append(page.records.count)
                after = page.next
            } while after != nil
            #expect(sizes == [4, 2, 3])
        }
    }
}
