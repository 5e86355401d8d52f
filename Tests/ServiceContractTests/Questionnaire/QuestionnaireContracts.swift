/// The contracts of the messages that questionnaire answers or tells.
enum QuestionnaireContracts {
    static let all: [any MessageContract.Type] = [
        GetQuestionsContract.self, SessionCompletedContract.self, SubmitResponsesContract.self,
        ExportAnswersContract.self,
    ]
}
