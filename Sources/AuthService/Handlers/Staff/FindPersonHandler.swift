import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Finds a person for staff. The search is recorded in the audit chain of the person found. If nobody is found, it is
/// recorded in the service's chain.
struct FindPersonHandler: RequestHandler {
    let inbox: Inbox
    let audit: AuditTrail
    let bearer: BearerChecker
    let secrets: Secrets

    func handle(_ request: FindPerson, context: RequestContext) async throws -> PeopleFound {
        let staff = try bearer.actor(of: context)
        try SuspensionPolicy.mustBeStaff(staff)
        let key = try PersonKey(request)
        return try await inbox.once(context) { transaction in
            guard try await SessionStore.mayAct(staff, in: transaction) else {
                throw BusError(.unauthorized, "Please sign in.")
            }
            let person =
                switch key {
                case .phone(let number):
                    try await AccountStore.found(byPhone: secrets.hashes(of: number), in: transaction)
                case .id(let id): try await AccountStore.found(byID: id, in: transaction)
                }
            let name = try await audit.chain(of: staff.userID, in: transaction).name
            let chain =
                if let person { try await audit.chain(of: person.personId, in: transaction) } else {
                    AuditChain.service
                }
            audit.note(AuditAct("person_searched", ["by": name, "with": key.name]), on: chain, in: transaction)
            return .reply(PeopleFound(people: person.map { [$0] } ?? []))
        }
    }
}

/// The search key: a phone number or an account's id.
enum PersonKey {
    case phone(PhoneNumber)
    case id(Identifier)

    /// - Throws: ``BusError`` `validation_failed` unless the request has exactly one of phone and id; `invalid_phone`.
    init(_ request: FindPerson) throws(BusError) {
        switch (request.phone, request.id) {
        case (let text?, nil):
            // Numbers of all countries are allowed: an account remains when codes are no longer sent to its country.
            guard let number = PhoneNumber(text) else { throw PhoneError.notValid.busError }
            self = .phone(number)
        case (nil, let id?): self = .id(id)
        default:
            let message = "Exactly one of phone and id is needed."
            throw BusError(
                .validationFailed, message, errors: [.init(field: "phone", code: "not_allowed", message: message)])
        }
    }

    var name: String {
        switch self {
        case .phone: "phone"
        case .id: "id"
        }
    }
}
