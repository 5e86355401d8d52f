import BusProtocol
import EventLoop

@testable import ProfileService

extension GetCompatibility: MessageContract {
    static let canonical = GetCompatibility(userId: Sample.person)
    static let minimal = canonical
    static let maximal = canonical
    static let canonicalReply = Compatibility(
        score: 75,
        dimensions: [
            CompatibilityDimension(key: "psychological", score: 80), CompatibilityDimension(key: "physical", score: 70),
        ], confidence: 65)
    static let minimalReply = Compatibility(dimensions: [], confidence: 0)
    static let maximalReply = Compatibility(
        score: 100,
        dimensions: (0..<16).map { _ in CompatibilityDimension(key: String(repeating: "d", count: 64), score: 100) },
        confidence: 100)
    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.forbidden, "This is for people who are being matched."),
        BusError(.notFound, "There is no such person."),
        BusError(
            .rateLimited, "You have compared yourself with many people today. Please come back tomorrow.",
            retryAfter: .seconds(3600)),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetCompatibility> {
        let (person, other) = (try await profile.matchedPerson(), try await profile.matchedPerson())
        return Asked(GetCompatibility(userId: other), for: person)
    }

    static let provocations: [String: Provocation<ProfileProvider, GetCompatibility>] = [
        "unauthorized": { _ in Asked(GetCompatibility(userId: .random())) },
        "forbidden": { Asked(GetCompatibility(userId: try await $0.matchedPerson()), for: try await $0.person()) },
        "not_found": { Asked(GetCompatibility(userId: try await $0.person()), for: try await $0.matchedPerson()) },
        "rate_limited": { profile in
            let (person, other) = (try await profile.matchedPerson(), try await profile.matchedPerson())
            try await profile.stage.rows(
                """
                WITH others AS (
                    INSERT INTO profiles (person_id) SELECT gen_random_uuid() FROM generate_series(1, 100)
                    RETURNING person_id)
                INSERT INTO compatibility_looks (person_id, questionnaire, other_id, figure, made_on, looked_on)
                SELECT '\(person)', 'yoked-compat', person_id, '{}', now(), (now() AT TIME ZONE 'UTC')::date FROM others
                """)
            return Asked(GetCompatibility(userId: other), for: person)
        },
    ]
}
