extension Catalogue {
    /// What questionnaire answers, and the events that it tells.
    static let questionnaire: [any BusRequest.Type] = [
        GetQuestions.self, ExportAnswers.self, SessionOpened.self, SessionCompleted.self, SessionAmended.self,
        SubmitResponses.self, OpenSession.self, ListQuestionnaireSessions.self, GetSession.self, CompleteSession.self,
        ReopenSession.self, StopSession.self, PutAnswer.self, DeleteAnswer.self, PutAnswers.self, PutSubject.self,
        RemoveSubject.self, ListQuestionnaires.self, GetQuestionnaire.self, GetQuestionnaireVersion.self,
        ViewQuestionnaire.self,
        CreateDraft.self, GetDraft.self, PutDraft.self, DeleteDraft.self, CheckDraft.self, PublishDraft.self,
        RetireVersion.self,
        CompareVersions.self, MigrateSession.self, UndoMigration.self, MigrateSessions.self,
        SealDates.self, CompareProfiles.self, GetStatistics.self, GetExtracts.self,
    ]
}
