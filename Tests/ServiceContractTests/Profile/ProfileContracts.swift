/// The contracts of the messages that profile answers or tells.
enum ProfileContracts {
    static let all: [any MessageContract.Type] = [
        GetOnboardingContract.self, ViewOnboardingContract.self, GetMeContract.self, UpdateMeContract.self,
        GetCompletionContract.self, SkipFieldContract.self, GetProfileFieldsContract.self,
        GetRequirementsContract.self, GetPersonContract.self, GetFactsContract.self, ExportProfileContract.self,
        FindCitiesContract.self,
        JoinWaitlistContract.self, BackfillOnboardingContract.self, RecordEventsContract.self, GetFunnelContract.self,
        CorrectDateOfBirthContract.self, VisualPreferencesReadyContract.self, VisualPreferencesDeferredContract.self,
        VerificationDecidedContract.self,
    ]
}
