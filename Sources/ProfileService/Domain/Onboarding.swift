import BusProtocol

/// A person's progress in the onboarding. It is derived from the profile and not stored.
enum Onboarding {
    enum Status: String, Sendable, CaseIterable {
        case active
        case nonMatching = "non_matching"
        case suspended, deleted
    }
    enum Step: String, Sendable, CaseIterable {
        /// Before there is an account. So nobody with a profile is at this step.
        case phoneVerify = "phone_verify"
        case profile, questionnaire, verification, complete
    }
    enum VisualPreferences: String, Sendable, CaseIterable {
        case notStarted = "not_started"
        case inProgress = "in_progress"
        case deferred, ready, insufficient
    }

    /// The result of verifying a photo or a document.
    enum Verification: String, Sendable, CaseIterable {
        case verified, failed
        case inReview = "in_review"
    }

    /// The steps that an operator requires.
    struct Policy: Sendable, Equatable {
        var requiresVerification = true
        var requiresVisualSignal = true
        var provisionalMaxOffers: Int64?
    }

    /// The status in the public API, one of five values. `blocked` means that there is no matching; the app can be
    /// used.
    static func onboardingStatus(_ status: Status, _ step: Step, _ visual: VisualPreferences) -> String {
        guard status == .active else { return "blocked" }
        switch (step, visual) {
        case (.phoneVerify, _), (.profile, _), (.questionnaire, _): return "questionnaire_pending"
        // A person who deferred the visual preferences goes on without them. Matching is then provisional.
        case (.verification, .ready), (.verification, .deferred): return "verification_pending"
        case (.verification, _): return "vps_pending"
        case (.complete, _): return "complete"
        }
    }

    static func matchingMode(_ status: Status, _ step: Step, _ visual: VisualPreferences) -> String {
        guard status == .active, step == .complete else { return "none" }
        return visual == .ready ? "full-confidence" : "provisional"
    }

    static func step(of record: ProfileRecord, _ policy: Policy) -> Step {
        if record.isBackfilled { return .complete }
        if !record.missingRequired.isEmpty { return .profile }
        if !record.isQuestionnaireComplete { return .questionnaire }
        if policy.requiresVerification { return record.photoVerification == .verified ? .complete : .verification }
        // Without a required verification, the visual preferences are the last step. They are done or deferred.
        return isPassed(visualPreferences(of: record, policy)) ? .complete : .verification
    }

    static func status(of record: ProfileRecord, today: CivilDate) -> Status {
        if record.isSuspended { return .suspended }
        guard let born = record.dateOfBirth else { return .active }
        // A date of birth may be in the future in another time zone. That counts as too young.
        return (Age.years(born: born, on: today) ?? 0) < Age.adult ? .nonMatching : .active
    }

    /// The state of the visual preferences, as their service reported it. Without the step, it counts as ready.
    static func visualPreferences(of record: ProfileRecord, _ policy: Policy) -> VisualPreferences {
        policy.requiresVisualSignal ? record.visualPreferences : .ready
    }

    private static func isPassed(_ visual: VisualPreferences) -> Bool { visual == .ready || visual == .deferred }

    /// The three values from which all statements about a person's onboarding follow.
    struct Standing {
        let status: Status
        let step: Step
        let visual: VisualPreferences
        /// For a person who is too young: the day of the 18th birthday.
        let eligibleOn: CivilDate?

        init(of record: ProfileRecord, _ policy: Policy, today: CivilDate) {
            status = Onboarding.status(of: record, today: today)
            step = Onboarding.step(of: record, policy)
            visual = visualPreferences(of: record, policy)
            eligibleOn = status == .nonMatching ? record.dateOfBirth.map { Age.eligibleOn(born: $0) } : nil
        }

        var onboardingStatus: String { Onboarding.onboardingStatus(status, step, visual) }
        var matchingMode: String { Onboarding.matchingMode(status, step, visual) }
    }

    static func view(of record: ProfileRecord, _ policy: Policy, today: CivilDate) -> OnboardingView {
        let standing = Standing(of: record, policy, today: today)
        var keys = ["phone", "profile", "questionnaire"]
        if policy.requiresVisualSignal { keys.append("visual_preferences") }
        if policy.requiresVerification { keys.append("verification") }
        let current = current(standing)
        let place = current.flatMap { keys.firstIndex(of: $0) } ?? keys.count
        return OnboardingView(
            onboardingStatus: standing.onboardingStatus, onboardingStep: standing.step.rawValue,
            matchingMode: standing.matchingMode, provisionalMaxOffers: policy.provisionalMaxOffers,
            resumeAt: current,
            steps: keys.enumerated().map { index, key in
                // A deferred step is passed but not done.
                let isPutOff = key == "visual_preferences" && standing.visual != .ready && !record.isBackfilled
                let state = index == place ? "current" : index < place && !isPutOff ? "done" : "pending"
                return OnboardingStep(key: key, state: state)
            },
            eligibleOn: standing.eligibleOn)
    }

    private static func current(_ standing: Standing) -> String? {
        switch standing.step {
        case .phoneVerify: "phone"
        case .profile: "profile"
        case .questionnaire: "questionnaire"
        case .verification:
            isPassed(standing.visual) ? "verification" : "visual_preferences"
        case .complete: nil
        }
    }
}
