import BusProtocol
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import QuestionnaireService

/// How PostgreSQL reads a session. It keeps a plan for as long as a connection lives, whatever the tables have become since.
@Suite("reading a questionnaire session") struct QuestionnaireSessionReadTests {
    /// A session may have thousands of mutation IDs. A write reads only its own.
    @Test(arguments: [false, true])
    func aMutationIsFoundWithoutReadingTheOthers(_ isAnalyzed: Bool) async throws {
        try await withService { service in
            let person = Identifier.random()
            let session = try await service.questions(as: person).sessionId
            _ = try await service.rows(
                """
                INSERT INTO mutations (person_id, session_id, mutation_id, digest, question, revision)
                SELECT '\(person)', '\(session)', gen_random_uuid(), '\\x00', 'socialEnergy', n
                FROM generate_series(1, 3000) AS n;
                \(isAnalyzed ? "ANALYZE mutations, sessions, answers" : "")
                """)
            let plan = try await service.rows(
                """
                SET plan_cache_mode = force_generic_plan;
                PREPARE load (uuid, text, uuid, uuid, bigint, uuid) AS \(QuestionnaireSessionStore.loadWithOne.sql);
                EXPLAIN (ANALYZE, FORMAT JSON)
                EXECUTE load ('\(person)', 'yoked-compat', '\(session)', NULL, NULL,
                    '\(Identifier.random())')
                """)
            let nodes = try Self.nodes(of: "mutations", in: plan)
            #expect(nodes.count == 1)
            for node in nodes {
                #expect(node["Actual Loops"] as? Int == 1)
                #expect(node["Rows Removed by Filter"] as? Int ?? 0 == 0, "\(node)")
            }
        }
    }

    /// A replica that has the answers of a revision is not sent them again. PostgreSQL does not even read them.
    @Test(arguments: [0, 1])
    func answersAreReadOnlyOfAnotherRevision(_ known: Int) async throws {
        try await withService { service in
            let person = Identifier.random()
            let session = try await service.questions(as: person).sessionId
            let answer = [ResponseItem(question: "socialEnergy", value: 3)]
            try await service.submit(answer, session: session, as: person)
            #expect(try await service.rows("SELECT revision FROM sessions") == "1")
            let plan = try await service.rows(
                """
                SET plan_cache_mode = force_generic_plan;
                PREPARE load (uuid, text, uuid, uuid, bigint) AS \(QuestionnaireSessionStore.load.sql);
                EXPLAIN (ANALYZE, FORMAT JSON)
                EXECUTE load ('\(person)', 'yoked-compat', '\(session)', '\(session)', \(known))
                """)
            let nodes = try Self.nodes(of: "answers", in: plan)
            #expect(nodes.count == 1 && nodes[0]["Actual Loops"] as? Int == 1 - known)
        }
    }

    /// What a plan does with a table.
    private static func nodes(of table: String, in plan: String) throws -> [[String: Any]] {
        func nodes(in node: Any) -> [[String: Any]] {
            switch node {
            case let list as [Any]: return list.flatMap(nodes)
            case let object as [String: Any]:
                let inner = object.values.flatMap(nodes)
                return object["Relation Name"] as? String == table ? [object] + inner : inner
            default: return []
            }
        }
        let text = try #require(plan.firstIndex(of: "[").map { plan[$0...] })
        return nodes(in: try JSONSerialization.jsonObject(with: Data(text.utf8)))
    }
}
