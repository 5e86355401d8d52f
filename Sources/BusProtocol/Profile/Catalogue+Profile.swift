extension Catalogue {
    /// What profile answers.
    static let profile: [any BusRequest.Type] = [
        GetOnboarding.self, ViewOnboarding.self, GetMe.self, UpdateMe.self, GetCompletion.self, SkipField.self,
        GetProfileFields.self, GetRequirements.self, GetPerson.self, FindCities.self,
        JoinWaitlist.self, ExportProfile.self, BackfillOnboarding.self, RecordEvents.self, GetFunnel.self,
    ]
}
