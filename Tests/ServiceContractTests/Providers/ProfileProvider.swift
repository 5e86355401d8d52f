import BusProtocol
import EventLoop
import TestSupport

@testable import ProfileService

/// Profile as it is.
@Loop struct ProfileProvider: Provider {
    let stage: ServiceStage

    nonisolated static func run(_ body: @escaping @Loop @Sendable (ProfileProvider) async throws -> Void) async throws {
        // The policy that has a refusal more.
        let environment = ["PROFILE_AGE_POLICY": "reject"]
        try await ServiceStage.run(ProfileBlueprint.blueprint, environment: environment) {
            try await body(ProfileProvider(stage: $0))
        }
    }

    /// A person with a profile and these fields in it.
    func person(_ fields: UpdateMe = UpdateMe(fields: ["displayName": "Zoë"])) async throws -> Identifier {
        let person = Identifier.random()
        try await reply(to: Asked(fields, for: person))
        return person
    }
}
