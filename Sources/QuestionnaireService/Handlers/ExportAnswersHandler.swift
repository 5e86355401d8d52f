import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct ExportAnswersHandler: RequestHandler {
    let export: PersonExport

    func handle(_ request: ExportAnswers, context: RequestContext) async throws -> ExportPage {
        // Auth has already decided that the person may have the export.
        try await export.page(of: context.person().userID, after: request.after) { _ in }
    }
}
