import BusProtocol
import BusRuntime
import Database
import EventLoop

/// Records every call of an operator in the log and in the service's audit trail, even if the call fails.
///
/// A message about a person also writes an audit act of its own.
@Loop struct OperatorCalls {
    let database: Database
    let audit: AuditTrail
    let log: Log

    func note(_ type: MessageType, _ messageID: Identifier) async {
        log.warning("operator_call", ["type": .string(type.rawValue), "messageId": .string(messageID.description)])
        let act = AuditAct("operator_called", ["type": type.rawValue, "message": messageID.description])
        do {
            try await database.transaction { audit.note(act, on: .service, in: $0) }
        } catch {
            log.error("operator_call_not_audited", ["messageId": .string(messageID.description)])
        }
    }
}
