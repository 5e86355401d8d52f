/// The contracts of the messages that questionnaire answers or tells.
enum QuestionnaireContracts {
    static let all: [any MessageContract.Type] = []
}
