import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct ExportCasesHandler: RequestHandler {
    let export: PersonExport

    func handle(_ request: ExportCases, context: RequestContext) async throws -> ExportPage {
        // Whether the person may have it was auth's to say.
        try await export.page(of: context.person().userID, after: request.after) { _ in }
    }
}
