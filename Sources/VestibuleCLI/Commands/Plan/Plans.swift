import BusProtocol
import EventLoop
import JSONText

/// The plans of onboarding.
enum Plans: DocumentClient {
    static let commands = PlanCommand.commands
    static let noun = "plan"
    static let service = "profile"

    @Loop static func create(_ content: JSONValue, of key: String, _ bus: BusAccess) async throws -> Int64 {
        try await BusCommand.asOperator(CreatePlanDraft(key: key, plan: content), bus).number
    }

    @Loop static func check(_ draft: String, of key: String, _ bus: BusAccess) async throws -> DraftReport {
        try await BusCommand.asOperator(CheckPlanDraft(key: key, draft: draft), bus)
    }

    @Loop static func publish(
        _ draft: String, of key: String, accepting accepted: String?, _ bus: BusAccess
    ) async throws -> PublishedDraft {
        let made = try await BusCommand.asOperator(
            PublishPlanDraft(key: key, draft: draft, acceptClass: accepted), bus)
        return PublishedDraft(
            version: made.version, changeClass: made.changeClass, changes: made.changes,
            note: made.people > 0 ? "\(people(made.people)) with older versions go on with them." : nil)
    }

    @Loop static func delete(_ draft: String, of key: String, _ bus: BusAccess) async throws {
        _ = try await BusCommand.asOperator(DeletePlanDraft(key: key, draft: draft), bus)
    }

    /// The published `versions` of the plan, the oldest first, and the current versions of all `plans`. It also has the
    /// keys of the `questionnaires`, and the newest `library` of fields.
    @Loop static func system(for key: String, _ bus: BusAccess) async throws -> JSONValue {
        let numbers = try await BusCommand.asOperator(ViewPlan(key: key), bus).versions.map(\.version).sorted()
        let questionnaires = try await BusCommand.asOperator(ListQuestionnaires(), bus).questionnaires
        return [
            "versions": try await contents(of: numbers.map { (key, $0) }, bus),
            "plans": try await contents(
                of: BusCommand.asOperator(ListPlans(), bus).plans.map { ($0.key, $0.version) }, bus),
            "questionnaires": .array(questionnaires.map { .string($0.key) }),
            "library": try await SingleDocumentClient<FieldLibraryMessages>.newest(bus),
        ]
    }

    @Loop private static func contents(
        of versions: [(key: String, number: Int64)], _ bus: BusAccess
    ) async throws -> JSONValue {
        var contents: [JSONValue] = []
        for (key, number) in versions {
            let request = GetPlanVersion(key: key, version: String(number))
            contents.append(try await BusCommand.asOperator(request, bus).plan)
        }
        return .array(contents)
    }

    static func affected(_ details: [String: JSONValue]) -> String {
        "\(people(details["people"]?.integerValue ?? 0)) with older versions, who go on with them"
    }

    private static func people(_ count: Int64) -> String { count == 1 ? "1 person" : "\(count) people" }
}
