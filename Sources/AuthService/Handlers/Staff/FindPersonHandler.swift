import BusProtocol
import BusRuntime
import Database
import EventLoop
import ServiceRuntime

/// Finds a person for staff. The search stands in the trail of whom it found, or else in the service's.
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

/// What a person is searched by.
enum PersonKey {
    case phone(PhoneNumber)
    case id(Identifier)

    /// - Throws: ``BusError`` `validation_failed` unless there is exactly one; `invalid_phone`.
    init(_ request: FindPerson) throws(BusError) {
        switch (request.phone, request.id) {
        case (let text?, nil):
            // Of any country: a person keeps the account when codes go there no longer.
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
