import BusProtocol
import Testing

@testable import VestibuleCLI

@Suite("vestibule questionnaire") struct QuestionnaireCommandTests {
    /// An error before any work suggests nothing. After some work, the command says what is done, and to run it again.
    @Test func anInterruptedCommandReportsTheWorkDone() {
        let error = BusError(.notFound, "There is no such questionnaire.")
        #expect(
            QuestionnaireCommand.interruption(error, after: nil).message == "not_found: There is no such questionnaire."
        )
        #expect(
            QuestionnaireCommand.interruption(error, after: "Sealed 3 dates in 50 sessions.").message
                == "not_found: There is no such questionnaire. Sealed 3 dates in 50 sessions. Run it again to go on.")
    }
}
