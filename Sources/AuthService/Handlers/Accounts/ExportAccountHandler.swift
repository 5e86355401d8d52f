import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// Exports auth's data about a person. The caller asks auth before the other services, so that auth can refuse an
/// export that is not allowed.
struct ExportAccountHandler: RequestHandler {
    let export: PersonExport

    func handle(_ request: ExportAccount, context: RequestContext) async throws -> ExportPage {
        let actor = try context.person()
        return try await export.page(of: actor.userID, after: request.after) { transaction in
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustNotBeFrozen()
            // Only the first page needs a fresh sign-in.
            if request.after == nil { try permission.mustBeFresh(to: Sentence("export your data")) }
        }
    }
}

struct BeginExportHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail

    func handle(_ request: BeginExport, context: RequestContext) async throws -> ExportBegun {
        let actor = try context.person()
        return try await inbox.once(context) { transaction in
            let permission = try await AccountChangeGuard.permission(of: actor, in: transaction)
            try permission.mustNotBeFrozen()
            try permission.mustBeFresh(to: Sentence("export your data"))
            let chain = try await audit.chain(of: actor.userID, in: transaction)
            audit.note(
                AuditAct("data_exported", ["session": actor.sessionID.description]), on: chain, in: transaction)
            return .reply(ExportBegun())
        }
    }
}
