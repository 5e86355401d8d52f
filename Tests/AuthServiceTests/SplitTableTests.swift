import BusProtocol
import Database
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import AuthService

/// An operator splits the refresh tokens and the audit trail while people use them.
@Suite("auth's tables that are split while people use them") struct SplitTableTests {
    private static let (phone, writersPhone) = ("+14155552671", "+46701234567")

    /// A person who keeps renewing the tokens. Each renewal adds an entry to the audit trail.
    @Loop private final class Writer {
        let session: Session
        var isOver = false
        private(set) var rounds = 0

        init(_ session: Session) { self.session = session }

        func write(_ auth: AuthStage) async throws {
            let container = auth.stage.containers[0]
            var token = session.refreshToken
            while !isOver {
                token = try await auth.ask(RefreshToken(refreshToken: token)).refreshToken
                try await patiently {
                    try await container.database.transaction { transaction in
                        let chain = try await container.audit.chain(of: session.user.id, in: transaction)
                        container.audit.note(AuditAct("renewed_again"), on: chain, in: transaction)
                    }
                }
                rounds += 1
            }
        }
    }

    @Loop private static func findings(_ auth: AuthStage) async throws -> Int {
        let container = auth.stage.containers[0]
        return try await AuditVerifier(database: container.database, keys: container.keys).verify(against: nil).findings
            .count
    }

    /// SQL for how many tokens of a session there are, and the generation of the newest one.
    private static func tokens(of session: Session) -> String {
        "SELECT count(*), max(generation) FROM refresh_tokens WHERE session_id = '\(session.sessionId)'"
    }

    /// Splits both tables while the writer writes.
    @Loop private static func split(_ auth: AuthStage, under writer: Writer) async throws {
        let writing = Loop.spawn { try await writer.write(auth) }
        for table in ["refresh_tokens", "audit"] {
            #expect(try await eventually { writer.rounds > 0 })
            let before = writer.rounds
            try await auth.stage.scratch.split(table, into: 3)
            #expect(writer.rounds > before, "nobody wrote while \(table) was split")
            let leaves = "SELECT count(*) FROM pg_partition_tree('\(table)') WHERE isleaf"
            #expect(try await auth.stage.rows(leaves) == "3")
        }
        writer.isOver = true
        try await writing.value
    }

    @Test func aSplitLosesNoTokenAndNoActAndAuthGoesOn() async throws {
        try await AuthStage.run(replicas: 2) { auth in
            let stage = auth.stage
            let first = try await auth.signIn(Self.phone)
            let second = try await auth.ask(RefreshToken(refreshToken: first.refreshToken))
            let writer = Writer(try await auth.signIn(Self.writersPhone))
            try await Self.split(auth, under: writer)

            // All that the writer wrote is there once.
            let kept = Self.tokens(of: writer.session)
            #expect(try await stage.rows(kept) == "\(writer.rounds + 1)|\(writer.rounds + 1)")
            let acts = "SELECT count(*) FROM audit WHERE act = 'renewed_again'"
            #expect(try await stage.rows(acts) == "\(writer.rounds)")
            #expect(try await Self.findings(auth) == 0)

            // A token from before is renewed, and a replaced one ends the session.
            _ = try await auth.ask(RefreshToken(refreshToken: second.refreshToken))
            let reuse = try await auth.refusal(of: RefreshToken(refreshToken: first.refreshToken))
            #expect(reuse.code == "refresh_token_reused")

            // Housekeeping finds what is over in all partitions, and nothing else.
            try await stage.rows(
                """
                UPDATE refresh_tokens SET replaced_at = now() - interval '2 minutes' WHERE replaced_at IS NOT NULL;
                UPDATE sessions SET revoked_at = now() - interval '2 days' WHERE revoked_at IS NOT NULL
                """)
            let container = stage.containers[0]
            try await patiently { try await Housekeeping.run(container.database, audit: container.audit) }
            #expect(try await stage.rows(Self.tokens(of: first)) == "0|")
            #expect(try await stage.rows("SELECT count(*) FROM sessions WHERE id = '\(first.sessionId)'") == "0")
            #expect(try await stage.rows(kept) == "\(writer.rounds + 1)|\(writer.rounds + 1)")
            #expect(try await stage.rows("SELECT count(*) FROM refresh_tokens WHERE answer_sealed IS NOT NULL") == "0")

            try await auth.age("20 minutes")
            let third = try await auth.signIn(Self.phone)
            try await Self.exportAndErase(third, auth)
        }
    }

    /// The export has the whole trail, and the erasure leaves no token. The trail stays, and nobody changes it.
    @Loop private static func exportAndErase(_ session: Session, _ auth: AuthStage) async throws {
        let (person, stage, container) = (session.user.id, auth.stage, auth.stage.containers[0])
        let chain = try await container.database.transaction { try await container.audit.chain(of: person, in: $0) }
        let acts = "SELECT string_agg(act, ' ' ORDER BY sequence) FROM audit WHERE chain = '\(chain.name)'"
        let trail = try await stage.rows(acts)
        #expect(trail.hasSuffix("session_opened session_ended device_added session_opened"))
        let page = try await auth.ask(ExportAccount(after: nil), as: auth.actor(session))
        let exported = try page.records.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["kind"] == "act" }
        #expect(exported.compactMap { $0["act"]?.stringValue } == trail.split(separator: " ").map(String.init))

        _ = try await auth.ask(DeleteAccount(), as: auth.actor(session))
        #expect(try await stage.rows(tokens(of: session)) == "0|")
        #expect(try await stage.rows(acts) == "\(trail) session_ended account_deleted")
        #expect(try await findings(auth) == 0)
        await #expect(throws: ScratchCluster.Failure.self) { try await stage.rows("DELETE FROM audit") }
        try await stage.rows(
            """
            SET LOCAL session_replication_role = replica;
            UPDATE audit SET details = '{}' WHERE chain = '\(chain.name)' AND sequence = 2
            """)
        #expect(try await findings(auth) > 0, "a change in a partition is found")
    }
}
