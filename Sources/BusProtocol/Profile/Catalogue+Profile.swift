extension Catalogue {
    /// What profile answers, and what services tell it that are still to come.
    static let profile: [any BusRequest.Type] = [
        GetOnboarding.self, ViewOnboarding.self, GetMe.self, UpdateMe.self, GetCompletion.self, SkipField.self,
        GetProfileFields.self, GetRequirements.self, GetPerson.self, GetFacts.self, FindCities.self,
        JoinWaitlist.self, ExportProfile.self, BackfillOnboarding.self, RecordEvents.self, GetFunnel.self,
        CorrectDateOfBirth.self, VisualPreferencesReady.self, VisualPreferencesDeferred.self, VerificationDecided.self,
    ]
}
