import BusProtocol
import EventLoop
import JSONText

/// `vestibule plan`: checks, compares, imports and publishes plans of onboarding.
///
/// `check` and `diff` work without a running system and without a database.
enum PlanCommand {
    static let commands = CommandGroup(
        name: "plan",
        usages: [
            "ls [KEY]", "check FILE", "diff OLD NEW", "import FILE", "publish KEY DRAFT", "delete-draft KEY DRAFT",
        ])

    static func run(_ words: ArraySlice<String>) throws {
        switch words.first {
        case "ls": try list(words.dropFirst())
        default: guard try DraftCommand<Plans>.run(words) else { throw commands.misuse(of: words.first) }
        }
    }

    private static func list(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"], mostWords: 1)
        let bus = try BusAccess(state: arguments["--state"])
        do {
            guard let key = arguments.rest.first else {
                let list = try BusCommand.waiting { try await BusCommand.asOperator(ListPlans(), bus) }
                return say(try arguments.has("--json") ? json(list) : PlanText.table(of: list))
            }
            let overview = try BusCommand.waiting { try await BusCommand.asOperator(ViewPlan(key: key), bus) }
            guard !overview.versions.isEmpty || !overview.drafts.isEmpty else {
                throw CommandError("there is no plan \(key): see vestibule plan ls")
            }
            say(try arguments.has("--json") ? json(overview) : PlanText.page(of: overview))
        } catch let error as BusError {
            throw CommandError(error)
        }
    }

    private static func json(_ reply: some BusReply) throws -> String {
        String(decoding: try WireJSON.encode(reply), as: UTF8.self)
    }
}
