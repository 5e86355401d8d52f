import BusProtocol

/// Where a person is on the way in, derived from what is known and kept nowhere.
enum Onboarding {
    enum Status: String, Sendable, CaseIterable {
        case active
        case nonMatching = "non_matching"
        case suspended, deleted
    }
    enum Step: String, Sendable, CaseIterable {
        /// Before there is an account; nobody with a profile is here.
        case phoneVerify = "phone_verify"
        case profile, questionnaire, verification, complete
    }
    enum VisualPreferences: String, Sendable, CaseIterable {
        case notStarted = "not_started"
        case inProgress = "in_progress"
        case deferred, ready, insufficient
    }

    /// What came of a photo or a document.
    enum Verification: String, Sendable, CaseIterable {
        case verified, failed
        case inReview = "in_review"
    }

    /// What an operator asks of people.
    struct Policy: Sendable, Equatable {
        var requiresVerification = true
        var requiresVisualSignal = true
        var provisionalMaxOffers: Int64?
    }

    /// The five values of the public API. `blocked` means no matching; the app stays open.
    static func onboardingStatus(_ status: Status, _ step: Step, _ visual: VisualPreferences) -> String {
        guard status == .active else { return "blocked" }
        switch (step, visual) {
        case (.phoneVerify, _), (.profile, _), (.questionnaire, _): return "questionnaire_pending"
        // Who put it off goes on without: matching is provisional then.
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
        // Where nobody is verified, the preferences are the last step, to be done or put off.
        return isPassed(visualPreferences(of: record, policy)) ? .complete : .verification
    }

    static func status(of record: ProfileRecord, today: CivilDate) -> Status {
        if record.isSuspended { return .suspended }
        guard let born = record.dateOfBirth else { return .active }
        // A date to come, as it may look from another zone, is nobody's of age.
        return (Age.years(born: born, on: today) ?? 0) < Age.adult ? .nonMatching : .active
    }

    /// As their service told, unless the operator leaves the step out.
    static func visualPreferences(of record: ProfileRecord, _ policy: Policy) -> VisualPreferences {
        policy.requiresVisualSignal ? record.visualPreferences : .ready
    }

    private static func isPassed(_ visual: VisualPreferences) -> Bool { visual == .ready || visual == .deferred }

    /// The three that everything said about a person's onboarding follows from.
    struct Standing {
        let status: Status
        let step: Step
        let visual: VisualPreferences
        /// Of a person who is too young: the day of being old enough.
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
                // What was put off is passed and not done.
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
