import BusProtocol
import JSONText

/// `vestibule role`: lists, grants and revokes the roles staff and admin.
enum RoleCommand {
    private static let commands = CommandGroup(
        name: "role", usages: ["ls", "grant PERSON ROLE", "revoke PERSON ROLE"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(
            words, options: ["--state", "--operator"], flags: ["--json"], mostWords: 3)
        let bus = try BusAccess(state: arguments["--state"])
        do {
            switch (arguments.rest.first, arguments.rest.count) {
            case ("ls", 1): try list(bus, asJSON: arguments.has("--json"))
            case ("grant", 3), ("revoke", 3): try change(arguments, bus)
            default:
                throw commands.misuse(of: arguments.rest.first)
            }
        } catch let error as BusError {
            throw CommandError(error)
        }
    }

    private static func change(_ arguments: Arguments, _ bus: BusAccess) throws {
        let words = arguments.rest
        guard let person = Identifier(words[1]) else {
            throw CommandError.usage("\(words[1]) is not a person's id: expected 36 characters, as in GET /users/me")
        }
        let role = Role(rawValue: words[2])
        guard [.staff, .admin].contains(role) else {
            throw CommandError.usage("there is no role \(role): expected staff or admin")
        }
        let request = ChangeRole(
            userID: person, role: role, isGranted: words[0] == "grant",
            operatorName: try OperatorName.given(arguments["--operator"]))
        let changed = try BusCommand.waiting { try await BusCommand.asOperator(request, bus) }
        switch changed.status {
        case "changed": say("\(person) is \(changed.role) now, and must sign in again.")
        case "awaiting_second_operator":
            say("\(person) is still \(changed.role): another operator must run the same command within a day.")
        default: say("\(person) is \(changed.role), as before.")
        }
    }

    private static func list(_ bus: BusAccess, asJSON: Bool) throws {
        let roles = try BusCommand.waiting { try await BusCommand.asOperator(ListRoles(), bus) }
        if asJSON { return say(String(decoding: try WireJSON.encode(roles), as: UTF8.self)) }
        let people = roles.people.map { [$0.userID.description, $0.role.description, ""] }
        let awaiting = roles.awaiting.map {
            [
                $0.userID.description, $0.isGranted ? "admin, if confirmed" : "no longer admin, if confirmed",
                "requested by \($0.operatorName), a second operator until \($0.until)",
            ]
        }
        guard !(people + awaiting).isEmpty else { return say("Nobody has a role.") }
        say(TextTable.text(of: [["person", "role", ""]] + people + awaiting))
    }
}
