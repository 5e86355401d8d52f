import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import TestSupport

@testable import ProfileService

/// Stands in for questionnaire, with the same answer of every person.
private struct AnswerTeller: RequestHandler {
    func handle(_ request: GetExtracts, context: RequestContext) async throws -> ProfileExtracts {
        ProfileExtracts(extracts: [ProfileExtract(field: "bio", value: "Te är livet")])
    }
}

/// Stands in for questionnaire. Any two people agree in most answers.
private struct Comparer: RequestHandler {
    func handle(_ request: CompareProfiles, context: RequestContext) async throws -> ProfilesCompared {
        ProfilesCompared(
            psychological: Likeness(score: 81.25, coverage: 90),
            physical: Likeness(score: 66.667, coverage: 50, compared: 4))
    }
}

/// The real profile service.
@Loop struct ProfileProvider: Provider {
    let stage: ServiceStage

    nonisolated static func run(_ body: @escaping @Loop @Sendable (ProfileProvider) async throws -> Void) async throws {
        // This policy can give one more refusal than the default.
        let environment = ["PROFILE_AGE_POLICY": "reject"]
        try await ServiceStage.run(ProfileServiceDefinition.definition, environment: environment) {
            try $0.answering(as: .auth, Bearers())
            try $0.answering(as: .questionnaire, AnswerTeller(), Comparer())
            while try await $0.rows("SELECT count(*) FROM plans") != String(EmbeddedFiles.Plans.all.count) {
                try await Loop.sleep(for: .milliseconds(5))
            }
            try await body(ProfileProvider(stage: $0))
        }
    }

    /// A member of staff whose session is alive.
    func staff() -> Actor { Actor(userID: .random(), sessionID: .ordered(), role: .staff) }

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

    /// A person who has done all steps of the default plan that matching needs.
    func matchedPerson() async throws -> Identifier {
        let person = try await person(
            UpdateMe(fields: [
                "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "female", "lookingFor": ["everyone"],
                "city": "Umeå",
            ]))
        let done = SessionCompleted(
            personID: person, personSequence: 1, sessionID: .ordered(), questionnaire: "yoked-compat", version: 1,
            completedAt: .now())
        let ready = VisualPreferencesReady(personID: person, personSequence: 1, at: .now())
        _ = try await stage.asking(as: .questionnaire).call(done, CallOptions(timeout: .seconds(10)))
        _ = try await stage.asking(as: .visualPreference).call(ready, CallOptions(timeout: .seconds(10)))
        let verified = VerificationDecided(
            personID: person, personSequence: 1, level: "photo", outcome: "verified", at: .now())
        _ = try await stage.asking(as: .verification).call(verified, CallOptions(timeout: .seconds(10)))
        try await reply(to: Asked(ViewOnboarding(), for: person))
        return person
    }

    /// A person whose profile has these fields.
    func person(_ fields: UpdateMe = UpdateMe(fields: ["displayName": "Zoë"])) async throws -> Identifier {
        let person = Identifier.random()
        try await reply(to: Asked(fields, for: person))
        return person
    }
}
