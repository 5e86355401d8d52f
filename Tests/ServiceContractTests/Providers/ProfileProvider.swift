import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import TestSupport

@testable import ProfileService

/// Tells one answer of everybody in place of questionnaire.
private struct AnswerTeller: RequestHandler {
    func handle(_ request: GetExtracts, context: RequestContext) async throws -> ProfileExtracts {
        ProfileExtracts(extracts: [ProfileExtract(field: "bio", value: "Te är livet")])
    }
}

/// The real profile service.
@Loop struct ProfileProvider: Provider {
    let stage: ServiceStage

    nonisolated static func run(_ body: @escaping @Loop @Sendable (ProfileProvider) async throws -> Void) async throws {
        // This policy has one refusal more than the default.
        let environment = ["PROFILE_AGE_POLICY": "reject"]
        try await ServiceStage.run(ProfileServiceDefinition.definition, environment: environment) {
            try $0.answering(as: .auth, Bearers())
            try $0.answering(as: .questionnaire, AnswerTeller())
            while try await $0.rows("SELECT count(*) FROM plans") != String(EmbeddedFiles.Plans.all.count) {
                try await Loop.sleep(for: .milliseconds(5))
            }
            try await body(ProfileProvider(stage: $0))
        }
    }

    /// A member of staff whose session is alive.
    func staff() -> Actor { Actor(userID: .random(), sessionID: .ordered(), role: "staff") }

    func accessToken(of actor: Actor) -> String? { Bearers.token(of: actor) }

    /// A person of 17, whom this policy would have refused.
    func youngPerson() async throws -> Identifier {
        let person = try await person()
        let born = Array("\(Timestamp.now().date.year - 17)-12-31".utf8)
        let sealer = Sealer(stage.containers[0].keys, purpose: "date-of-birth")
        let sealed = Hex.encode(sealer.seal(born, associated: person.array))
        try await stage.rows(
            "UPDATE profiles SET date_of_birth_sealed = '\\x\(sealed)' WHERE person_id = '\(person)'")
        return person
    }

    /// A person whose profile has these fields.
    func person(_ fields: UpdateMe = UpdateMe(fields: ["displayName": "Zoë"])) async throws -> Identifier {
        let person = Identifier.random()
        try await reply(to: Asked(fields, for: person))
        return person
    }
}
