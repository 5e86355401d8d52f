import BusProtocol
import BusRuntime
import ServiceRuntime

struct ExportVerificationHandler: RequestHandler {
    let export: PersonExport

    func handle(_ request: ExportVerification, context: RequestContext) async throws -> ExportPage {
        // Auth has checked that the person may have the export.
        try await export.page(of: context.person().userID, after: request.after) { _ in }
    }
}
