/// The questionnaire behind `/compatibility`. Onboarding needs it to be completed.
public enum CompatibilityQuestionnaire {
    /// The key of the questionnaire.
    public static let key = "yoked-compat"
}
