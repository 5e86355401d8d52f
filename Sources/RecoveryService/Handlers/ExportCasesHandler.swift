import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct ExportCasesHandler: RequestHandler {
    let export: PersonExport

    func handle(_ request: ExportCases, context: RequestContext) async throws -> ExportPage {
        // Auth has checked that the person may have the export.
        try await export.page(of: context.person().userID, after: request.after) { _ in }
    }
}
