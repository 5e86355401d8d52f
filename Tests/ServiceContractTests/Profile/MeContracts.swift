import BusProtocol
import EventLoop
import JSONText

extension GetMe: MessageContract {
    static let canonical = GetMe()
    static let minimal = GetMe()
    static let maximal = GetMe()

    static let canonicalReply = Me(
        id: Sample.person,
        profile: [
            "displayName": "Zoë", "dateOfBirth": "1994-02-28", "lookingFor": ["men", "women"], "heightInches": 70,
        ],
        age: 31, onboardingStatus: "questionnaire_pending", onboardingStep: "profile", matchingMode: "none",
        skippedFields: ["photo"], preferNotToShareFields: ["gender"], completion: 35, ageGate: nil,
        createdAt: Sample.everyday, updatedAt: Sample.everyday, revision: 4)
    static let minimalReply = Me(
        id: Sample.person, profile: [:], age: nil, onboardingStatus: "blocked", onboardingStep: "profile",
        matchingMode: "none", skippedFields: [], preferNotToShareFields: [], completion: 0, ageGate: nil,
        createdAt: Sample.earliest, updatedAt: Sample.earliest, revision: 1)
    static let maximalReply = Me(
        id: Sample.person,
        profile: [
            "bio": "Fika är livet ☕️", "coordinates": ["latitude": 59.3293, "longitude": 18.0686],
            "lookingFor": ["everyone"],
        ],
        age: 17, onboardingStatus: "blocked", onboardingStep: "verification", matchingMode: "full-confidence",
        skippedFields: ["photo", "city"], preferNotToShareFields: ["gender", "bodyType"], completion: 100,
        ageGate: AgeGate(
            allowed: false, message: "You must be 18 to use Vestibule", eligibleOn: CivilDate("2027-03-01")!),
        createdAt: Sample.earliest, updatedAt: Sample.latest, revision: Sample.largestInteger)

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetMe> {
        Asked(GetMe(), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, GetMe>] = [
        "unauthorized": { _ in Asked(GetMe()) }
    ]
}

extension UpdateMe: MessageContract {
    static let canonical = UpdateMe(fields: ["displayName": "Zoë", "city": nil], ifMatch: "\"r4\"")
    static let minimal = UpdateMe(fields: [:])
    static let maximal = UpdateMe(
        fields: [
            "bio": "Fika är livet ☕️", "coordinates": ["latitude": 59.3293, "longitude": 18.0686],
            "gender": "prefer_not_to_say", "heightInches": 70, "lookingFor": ["men", "women"], "photo": nil,
        ], ifMatch: String(repeating: "r", count: 64))

    static let canonicalReply: Me = GetMe.canonicalReply
    static let minimalReply: Me = GetMe.minimalReply
    static let maximalReply: Me = GetMe.maximalReply

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "bio", code: "too_long", message: "Must have at most 500 characters.")]),
        BusError(.preconditionFailed, "Your profile was changed on another device. Please look at it again."),
        BusError(.dateOfBirthLocked, "The date of birth cannot be changed. Please contact support."),
        BusError(.underage, "You must be 18 to use Vestibule", details: ["eligibleOn": "2027-03-01"]),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<UpdateMe> {
        Asked(UpdateMe(fields: ["bio": "Fika är livet"]), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, UpdateMe>] = [
        "unauthorized": { _ in Asked(UpdateMe(fields: ["bio": "Fika är livet"])) },
        "validation_failed": { profile in
            let bio = JSONValue.string(String(repeating: "ö", count: 501))
            return Asked(UpdateMe(fields: ["bio": bio]), for: try await profile.person())
        },
        "precondition_failed": { profile in
            Asked(UpdateMe(fields: ["bio": "Fika är livet"], ifMatch: "\"r99\""), for: try await profile.person())
        },
        "date_of_birth_locked": { profile in
            let person = try await profile.person(UpdateMe(fields: ["dateOfBirth": "1994-02-28"]))
            // A person can correct the date once.
            try await profile.reply(to: Asked(UpdateMe(fields: ["dateOfBirth": "1994-02-26"]), for: person))
            return Asked(UpdateMe(fields: ["dateOfBirth": "1994-02-27"]), for: person)
        },
        "underage": { profile in
            let born = JSONValue.string("\(Timestamp.now().date.year - 17)-01-01")
            return Asked(UpdateMe(fields: ["dateOfBirth": born]), for: try await profile.person())
        },
    ]
}
