import BusProtocol
import EventLoop

extension GetCompletion: MessageContract {
    static let canonical = GetCompletion()
    static let minimal = GetCompletion()
    static let maximal = GetCompletion()

    static let canonicalReply = Completion(
        currentStep: 1, totalSteps: 9, percentage: 0,
        missingRequired: ["displayName", "dateOfBirth", "gender", "lookingFor"], nextField: "displayName", nextStep: 2,
        lastCompleted: nil,
        prompt: .init(field: "displayName", step: 2, blocking: true, reason: "required"), skippedFields: [],
        preferNotToShareFields: [], isComplete: false, completedAt: nil)
    static let minimalReply = Completion(
        currentStep: 0, totalSteps: 1, percentage: 0, missingRequired: [], nextField: nil, nextStep: nil,
        lastCompleted: nil, prompt: nil, skippedFields: [], preferNotToShareFields: [], isComplete: false,
        completedAt: nil)
    static let maximalReply = Completion(
        currentStep: 64, totalSteps: 64, percentage: 100,
        missingRequired: [String(repeating: "f", count: 64)], nextField: String(repeating: "f", count: 64),
        nextStep: 64, lastCompleted: nil,
        prompt: .init(field: String(repeating: "f", count: 64), step: 64, blocking: false, reason: "encouraged"),
        skippedFields: ["photo", "city"], preferNotToShareFields: ["gender"], isComplete: true,
        completedAt: Sample.latest)

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetCompletion> {
        Asked(GetCompletion(), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, GetCompletion>] = [
        "unauthorized": { _ in Asked(GetCompletion()) }
    ]
}

extension SkipField: MessageContract {
    static let canonical = SkipField(field: "photo")
    static let minimal = SkipField(field: "p")
    static let maximal = SkipField(field: String(repeating: "p", count: 64))

    static let canonicalReply: Completion = GetCompletion.canonicalReply
    static let minimalReply: Completion = GetCompletion.minimalReply
    static let maximalReply: Completion = GetCompletion.maximalReply

    static let errors: [BusError] = [
        Sample.unauthorized,
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "field", code: "not_allowed", message: "There is no such field.")]),
        BusError(.fieldNotSkippable, "This is needed and cannot be skipped."),
        BusError(.hasValue, "This has an answer already. Clear it first."),
    ]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<SkipField> {
        Asked(SkipField(field: "photo"), for: try await profile.person(), key: "key-skip")
    }

    static let provocations: [String: Provocation<ProfileProvider, SkipField>] = [
        "unauthorized": { _ in Asked(SkipField(field: "photo")) },
        "validation_failed": { Asked(SkipField(field: "shoeSize"), for: try await $0.person()) },
        "field_not_skippable": { Asked(SkipField(field: "gender"), for: try await $0.person()) },
        "has_value": { profile in
            Asked(SkipField(field: "bio"), for: try await profile.person(UpdateMe(fields: ["bio": "Fika är livet"])))
        },
    ]
}
