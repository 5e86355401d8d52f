import BusProtocol
import EventLoop
import Foundation
import JSONText

/// `vestibule questionnaire ls`: the questionnaires, their versions and drafts.
enum QuestionnaireText {
    static func list(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], flags: ["--json"], mostWords: 1)
        let bus = try BusAccess(state: arguments["--state"])
        let overviews: [QuestionnaireOverview]
        do {
            overviews = try BusCommand.waiting { try await look(at: arguments.rest.first, bus) }
        } catch let error as BusError {
            throw CommandError(error)
        }
        if arguments.has("--json") {
            return say(String(decoding: try WireJSON.encode(overviews), as: UTF8.self))
        }
        guard let key = arguments.rest.first else { return say(table(of: overviews)) }
        guard let overview = overviews.first, !overview.versions.isEmpty || !overview.drafts.isEmpty else {
            throw CommandError("there is no questionnaire \(key): see vestibule questionnaire ls")
        }
        say(page(of: overview))
    }

    /// - Parameter key: `nil` for every questionnaire that has a version in use.
    @Loop private static func look(at key: String?, _ bus: BusAccess) async throws -> [QuestionnaireOverview] {
        var keys = [key].compactMap(\.self)
        if key == nil {
            keys = try await BusCommand.asOperator(ListQuestionnaires(), bus).questionnaires.map(\.key)
        }
        var found: [QuestionnaireOverview] = []
        for key in keys { found.append(try await BusCommand.asOperator(ViewQuestionnaire(questionnaire: key), bus)) }
        return found
    }

    static func table(of overviews: [QuestionnaireOverview]) -> String {
        let head = ["questionnaire", "version", "published", "open", "completed", "drafts"]
        let rows = overviews.map { overview in
            let current = overview.versions.first(where: \.current)
            return [
                overview.key, current.map { "\($0.version)" } ?? "",
                current.map { RecoveryText.time($0.publishedAt) } ?? "",
                "\(overview.versions.reduce(0) { $0 + $1.openSessions })",
                "\(overview.versions.reduce(0) { $0 + $1.completedSessions })",
                "\(overview.drafts.count { $0.publishedAs == nil })",
            ]
        }
        return TextTable.text(of: [head] + rows)
    }

    static func page(of overview: QuestionnaireOverview) -> String {
        let versions = overview.versions.map { version in
            [
                "\(version.version)", version.current ? "in use" : version.status,
                RecoveryText.time(version.publishedAt), "\(version.openSessions)", "\(version.completedSessions)",
            ]
        }
        return TextTable.text(of: [["version", "state", "published", "open", "completed"]] + versions) + "\n\n"
            + DraftText.table(of: overview.drafts)
    }
}
