import BusProtocol

/// The events of the onboarding that are counted. Source: REQUIREMENTS.md, G03.
enum OnboardingEvent: String, Sendable, CaseIterable {
    case appOpened = "app_opened"
    case onboardingStarted = "onboarding_started"
    case phoneEntered = "phone_entered"
    case otpVerified = "otp_verified"
    case ageVerified = "age_verified"
    case profileCreated = "profile_created"
    case locationAllowed = "location_allowed"
    case questionnaireStarted = "questionnaire_started"
    case questionnaireCompleted = "questionnaire_completed"
    case profilingCompleted = "profiling_completed"
    case visualPreferencesReady = "vps_ready"
    case visualPreferencesDeferred = "vps_deferred"
    case verificationConsentGiven = "verification_consent_given"
    case verificationCompleted = "verification_completed"
    case onboardingCompleted = "onboarding_completed"
    case firstMatchViewed = "first_match_viewed"

    /// The events that a person has reached, by what the profile shows.
    static func reached(by record: ProfileRecord, _ plan: Plan, today: CivilDate) -> [OnboardingEvent] {
        let position = Onboarding.Position(of: record, plan, today: today)
        var reached: [OnboardingEvent] = []
        if record.dateOfBirth != nil, position.status != .suspended, position.eligibleOn == nil {
            reached.append(.ageVerified)
        }
        // In a plan without required fields, the profile counts as made from its first field on.
        let fields = plan.completion.fields(for: record)
        if record.missing(of: fields).isEmpty, fields.contains(where: record.isSatisfied) {
            reached.append(.profileCreated)
        }
        if case .answered = record.fields["coordinates"] { reached.append(.locationAllowed) }
        if !plan.questionnaires.isEmpty, plan.questionnaires.allSatisfy({ record.questionnaires[$0] != nil }) {
            reached.append(.questionnaireCompleted)
        }
        if record.visualPreferences == .ready { reached.append(.visualPreferencesReady) }
        if record.visualPreferences == .deferred { reached.append(.visualPreferencesDeferred) }
        if record.photoVerification == .verified { reached.append(.verificationCompleted) }
        if position.current == nil, position.status == .active { reached.append(.onboardingCompleted) }
        return reached
    }
}

/// The steps of the funnel, in their order. Source: REQUIREMENTS.md, G03.
enum FunnelStep: String, Sendable, CaseIterable {
    case appOpened = "app_opened"
    case phoneEntered = "phone_entered"
    case otpVerified = "otp_verified"
    case profileCreated = "profile_created"
    case questionnaireCompleted = "questionnaire_completed"
    case visualPreferences = "visual_preferences"
    case verificationCompleted = "verification_completed"
    case firstMatchViewed = "first_match_viewed"

    /// The events that reach this step. One of them is enough.
    var events: [OnboardingEvent] {
        switch self {
        case .appOpened: [.appOpened]
        case .phoneEntered: [.phoneEntered]
        case .otpVerified: [.otpVerified]
        case .profileCreated: [.profileCreated]
        case .questionnaireCompleted: [.questionnaireCompleted]
        case .visualPreferences: [.visualPreferencesReady, .visualPreferencesDeferred]
        case .verificationCompleted: [.verificationCompleted]
        case .firstMatchViewed: [.firstMatchViewed]
        }
    }

    /// The steps of a funnel, in their order.
    ///
    /// - Parameters:
    ///   - people: who reached each step.
    ///   - medianSeconds: from the step before, for each step after the first one.
    static func steps(people: [Int64], medianSeconds: [Double?]) -> [Funnel.Step] {
        allCases.enumerated().map { place, step in
            Funnel.Step(
                key: step.rawValue, people: people[place],
                dropOffPercent: place == 0 ? nil : dropOff(from: people[place - 1], to: people[place]),
                medianSeconds: place == 0 ? nil : medianSeconds[place - 1])
        }
    }

    /// The percentage of people at the step before who did not reach this one, to one decimal; `nil` if there were
    /// none.
    static func dropOff(from before: Int64, to here: Int64) -> Double? {
        before > 0 ? (Double(before - here) / Double(before) * 1000).rounded() / 10 : nil
    }
}
