import BusProtocol
import EventLoop

extension VisualPreferencesReady: MessageContract {
    static let canonical = VisualPreferencesReady(personID: Sample.person, personSequence: 1, at: Sample.everyday)
    static let minimal = VisualPreferencesReady(personID: Sample.person, at: Sample.earliest)
    static let maximal = VisualPreferencesReady(
        personID: Sample.person, personSequence: Sample.largestInteger, at: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<VisualPreferencesReady> {
        Asked(
            VisualPreferencesReady(personID: try await profile.person(), personSequence: 1, at: .now()),
            as: .visualPreference)
    }

    static let provocations: [String: Provocation<ProfileProvider, VisualPreferencesReady>] = [:]
}

extension VisualPreferencesDeferred: MessageContract {
    static let canonical = VisualPreferencesDeferred(personID: Sample.person, personSequence: 1, at: Sample.everyday)
    static let minimal = VisualPreferencesDeferred(personID: Sample.person, at: Sample.earliest)
    static let maximal = VisualPreferencesDeferred(
        personID: Sample.person, personSequence: Sample.largestInteger, at: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<VisualPreferencesDeferred> {
        Asked(
            VisualPreferencesDeferred(personID: try await profile.person(), personSequence: 1, at: .now()),
            as: .visualPreference)
    }

    static let provocations: [String: Provocation<ProfileProvider, VisualPreferencesDeferred>] = [:]
}

extension VerificationDecided: MessageContract {
    static let canonical = VerificationDecided(
        personID: Sample.person, personSequence: 2, level: "photo", outcome: "verified", at: Sample.everyday)
    static let minimal = VerificationDecided(
        personID: Sample.person, level: "l", outcome: "o", at: Sample.earliest)
    static let maximal = VerificationDecided(
        personID: Sample.person, personSequence: Sample.largestInteger, level: String(repeating: "l", count: 32),
        outcome: String(repeating: "o", count: 32), at: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<VerificationDecided> {
        Asked(
            VerificationDecided(
                personID: try await profile.person(), personSequence: 1, level: "photo", outcome: "verified", at: .now()
            ),
            as: .verification)
    }

    static let provocations: [String: Provocation<ProfileProvider, VerificationDecided>] = [:]
}

extension PhotoChanged: MessageContract {
    static let canonical = PhotoChanged(
        personID: Sample.person, personSequence: 3,
        photo: .init(
            address: "https://api.example.com/photos/0193c0de-7a1e-7c5b-9d2f-3e4a5b6c7d8e",
            key: String(repeating: "A", count: 43)),
        at: Sample.everyday)
    static let minimal = PhotoChanged(personID: Sample.person, at: Sample.earliest)
    static let maximal = PhotoChanged(
        personID: Sample.person, personSequence: Sample.largestInteger,
        photo: .init(address: String(repeating: "a", count: 1024), key: String(repeating: "_", count: 43)),
        at: Sample.latest)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<PhotoChanged> {
        var event = canonical
        (event.personID, event.personSequence) = (try await profile.person(), 1)
        return Asked(event, as: .verification)
    }

    static let provocations: [String: Provocation<ProfileProvider, PhotoChanged>] = [:]
}
