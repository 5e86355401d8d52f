/// The contracts of the messages that questionnaire answers or tells.
enum QuestionnaireContracts {
    static let all: [any MessageContract.Type] = [
        GetQuestionsContract.self, SessionOpenedContract.self, SessionCompletedContract.self,
        SessionAmendedContract.self, SubmitResponsesContract.self,
        ExportAnswersContract.self, OpenSessionContract.self, ListQuestionnaireSessionsContract.self,
        GetSessionContract.self,
        CompleteSessionContract.self, ReopenSessionContract.self, StopSessionContract.self, PutAnswerContract.self,
        DeleteAnswerContract.self,
        PutAnswersContract.self, PutSubjectContract.self, RemoveSubjectContract.self,
        ListQuestionnairesContract.self, GetQuestionnaireContract.self, GetQuestionnaireVersionContract.self,
        ViewQuestionnaireContract.self, CreateDraftContract.self, GetDraftContract.self, PutDraftContract.self,
        CheckDraftContract.self, PublishDraftContract.self, RetireVersionContract.self, CompareVersionsContract.self,
        MigrateSessionContract.self, UndoMigrationContract.self, MigrateSessionsContract.self, SealDatesContract.self,
        CompareProfilesContract.self, GetStatisticsContract.self, GetExtractsContract.self,
    ]
}
