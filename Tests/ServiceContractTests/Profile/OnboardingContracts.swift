import BusProtocol
import EventLoop

extension GetOnboarding: MessageContract {
    static let canonical = GetOnboarding(personID: Sample.person)
    static let minimal: GetOnboarding = canonical
    static let maximal: GetOnboarding = canonical

    static let canonicalReply = OnboardingState(onboardingStatus: "questionnaire_pending")
    static let minimalReply = OnboardingState(onboardingStatus: "o")
    static let maximalReply = OnboardingState(onboardingStatus: String(repeating: "o", count: 32))

    static let errors: [BusError] = [BusError(.appUnknown, "There is no such app.")]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetOnboarding> {
        Asked(GetOnboarding(personID: .random()), as: .auth)
    }

    static let provocations: [String: Provocation<ProfileProvider, GetOnboarding>] = [
        "app_unknown": { _ in Asked(GetOnboarding(personID: .random(), app: "nobody"), as: .auth) }
    ]
}

extension ViewOnboarding: MessageContract {
    static let canonical = ViewOnboarding()
    static let minimal = ViewOnboarding()
    static let maximal = ViewOnboarding()

    static let canonicalReply = OnboardingView(
        onboardingStatus: "questionnaire_pending", onboardingStep: "questionnaire", matchingMode: "none",
        provisionalMaxOffers: nil, resumeAt: "questionnaire",
        steps: [
            OnboardingStep(key: "phone", state: "done"), OnboardingStep(key: "profile", state: "done"),
            OnboardingStep(key: "questionnaire", state: "current"),
            OnboardingStep(key: "visual_preferences", state: "pending"),
            OnboardingStep(key: "verification", state: "pending"),
        ], eligibleOn: nil)
    static let minimalReply = OnboardingView(
        onboardingStatus: "complete", onboardingStep: "complete", matchingMode: "full-confidence",
        provisionalMaxOffers: nil, resumeAt: nil, steps: [OnboardingStep(key: "p", state: "done")], eligibleOn: nil)
    static let maximalReply = OnboardingView(
        onboardingStatus: "blocked", onboardingStep: "verification", matchingMode: "provisional",
        provisionalMaxOffers: 1000, resumeAt: String(repeating: "s", count: 64),
        steps: (0..<16).map { _ in OnboardingStep(key: String(repeating: "s", count: 64), state: "pending") },
        eligibleOn: CivilDate("9999-12-31")!)

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<ViewOnboarding> {
        Asked(ViewOnboarding(), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, ViewOnboarding>] = [
        "unauthorized": { _ in Asked(ViewOnboarding()) }
    ]
}

extension GetSignInRules: MessageContract {
    static let canonical = GetSignInRules(app: "yoked")
    static let minimal = GetSignInRules()
    static let maximal = GetSignInRules(
        app: String(repeating: "a", count: 64), entry: String(repeating: "e", count: 64))

    static let canonicalReply = SignInRules(methods: ["phone_code", "google", "apple"], phone: "required")
    static let minimalReply = SignInRules(methods: ["m"], phone: "p")
    static let maximalReply = SignInRules(
        methods: (0..<16).map { _ in String(repeating: "m", count: 64) }, phone: String(repeating: "p", count: 32))

    static let errors: [BusError] = [
        BusError(.appUnknown, "There is no such app."), BusError(.entryUnknown, "There is no such entry."),
    ]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetSignInRules> {
        Asked(GetSignInRules(app: "yoked"), as: .auth)
    }

    static let provocations: [String: Provocation<ProfileProvider, GetSignInRules>] = [
        "app_unknown": { _ in Asked(GetSignInRules(app: "nobody"), as: .auth) },
        "entry_unknown": { _ in Asked(GetSignInRules(entry: "nowhere"), as: .auth) },
    ]
}
