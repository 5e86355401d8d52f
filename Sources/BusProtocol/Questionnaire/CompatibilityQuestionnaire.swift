/// The questionnaire behind `/compatibility`, which onboarding waits for.
public enum CompatibilityQuestionnaire {
    /// Of its definition.
    public static let key = "yoked-compat"
}
