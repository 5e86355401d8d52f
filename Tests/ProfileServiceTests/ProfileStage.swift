import BusProtocol
import BusRuntime
import Cryptography
import Database
import EventLoop
import JSONText
import ServiceRuntime
import TestSupport
import Testing

@testable import ProfileService

/// The service as it is, with a gateway that asks it for one person.
@Loop struct ProfileStage {
    let stage: ServiceStage
    let gateway: Bus
    let person = Identifier.random()

    nonisolated static func run(
        replicas: Int = 1, environment: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (ProfileStage) async throws -> Void
    ) async throws {
        try await ServiceStage.run(ProfileServiceDefinition.definition, replicas: replicas, environment: environment) {
            stage in
            // Tests also ask the replicas' stores, without a bus that would ask again.
            for container in stage.containers { try await container.database.waitUntilAvailable() }
            let profile = ProfileStage(stage: stage, gateway: try stage.asking(as: .gateway))
            // Tests count plans. The service imports them at its start too, and meanwhile holds the lock of publishing.
            try await patiently { try await profile.plans().importFiles() }
            try await body(profile)
        }
    }

    /// Opens and seals dates of birth as the service does.
    var sealer: Sealer { Sealer(stage.containers[0].keys, purpose: "date-of-birth") }

    /// The default plan requires what the services of visual preferences and of verification do, in whichever version.
    nonisolated static let requiringTasks = [
        "PROFILE_REQUIRE_VERIFICATION": "true", "MATCH_REQUIRE_VISUAL_SIGNAL": "true",
    ]

    /// The default plan asks for nothing that another service judges.
    nonisolated static let requiringNoTasks = [
        "PROFILE_REQUIRE_VERIFICATION": "false", "MATCH_REQUIRE_VISUAL_SIGNAL": "false",
    ]

    /// The stored profiles, as a replica reads them.
    func store(of container: ServiceContainer? = nil) throws -> ProfileStore {
        ProfileStore(
            database: (container ?? stage.containers[0]).database, keys: stage.containers[0].keys,
            formerQuestionnaire: "yoked-compat")
    }

    /// The library of fields, as a replica reads it.
    func libraries(of container: ServiceContainer? = nil) throws -> PublishedLibraries {
        let container = container ?? stage.containers[0]
        return try PublishedLibraries(
            database: container.database, files: try PlanFiles(folder: nil).libraries, log: container.log)
    }

    /// The published plans, as a replica reads them.
    func plans(of container: ServiceContainer? = nil) throws -> PublishedPlans {
        let container = container ?? stage.containers[0]
        return PublishedPlans(
            database: container.database, libraries: try libraries(of: container),
            files: try PlanFiles(folder: nil).plans, defaultPlan: "yoked", overrides: PlanOverrides(),
            log: container.log)
    }

    /// Checks all profiles against the newest library of fields.
    func recheckFields() async throws {
        let container = stage.containers[0]
        let profile = ProfileContext(
            database: container.database, inbox: container.inbox, audit: container.audit, bus: container.bus,
            log: container.log, store: try store(), libraries: try libraries(), plans: try plans(),
            events: EventStore(database: container.database), appName: "Vestibule")
        try await FieldRecheck(profile: profile).run()
    }

    /// Sends requests that wait for the person's profile. They go on once `change` is committed.
    func holding(
        _ person: Identifier, _ requests: [@Loop @Sendable () async throws -> Void], change: Statement? = nil
    ) async throws {
        let sent = try await stage.containers[0].database.transaction { transaction in
            _ = try await transaction.query("SELECT 1 FROM profiles WHERE person_id = $1 FOR UPDATE", [.uuid(person)])
            let sent = requests.map { request in Loop.spawn { try await request() } }
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            #expect(try await eventually { try await stage.rows(waiting) == "\(requests.count)" })
            if let change { _ = try await transaction.query(change) }
            return sent
        }
        for request in sent { try await request.value }
    }

    func options(signedIn: Bool = true) -> CallOptions {
        CallOptions(
            timeout: .seconds(10), actor: signedIn ? Actor(userID: person, sessionID: .ordered(), role: .user) : nil)
    }

    func ask<Request: BusRequest>(_ request: Request) async throws -> Request.Reply {
        let reply = try await gateway.call(request, options())
        #expect(Request.Reply.schema.problems(in: try JSONDocument(try WireJSON.encode(reply)).root) == [])
        return reply
    }

    @discardableResult
    func update(_ fields: [String: JSONValue], ifMatch: String? = nil) async throws -> Me {
        try await ask(UpdateMe(fields: fields, ifMatch: ifMatch))
    }

    /// The refusal of a request. The message must declare its code, with its status.
    func refusal<Request: BusRequest>(of request: Request, signedIn: Bool = true) async throws -> BusError {
        let error = try #require(
            await #expect(throws: BusError.self) { try await gateway.call(request, options(signedIn: signedIn)) })
        let declared = Request.rules.errors.first { $0.name == error.code }
        #expect(declared?.status == error.status, "\(error.code) is not declared")
        return error
    }
}
