import BusProtocol
import BusRuntime
import Documents
import EventLoop

extension RequestContext {
    /// Requires a signed-in person, an operator or a service. The latter two have no account.
    ///
    /// - Throws: ``BusError`` `unauthorized`.
    fileprivate func requireReader() throws(BusError) {
        if caller == .gateway { _ = try person() }
    }

    /// Whether the reader may see whole definitions.
    ///
    /// - Throws: as ``requireReader()``.
    fileprivate func readsWhole() throws(BusError) -> Bool {
        if caller == .operator { return true }
        return try person().isStaff
    }
}

/// Lists the questionnaires that a person can start now.
struct ListQuestionnairesHandler: RequestHandler {
    let definitions: PublishedDefinitions

    func handle(_ request: ListQuestionnaires, context: RequestContext) async throws -> QuestionnaireList {
        try context.requireReader()
        var found: [QuestionnaireReference] = []
        for newest in try await definitions.documents.current() {
            let published = try await definitions.definition(newest.hash)
            found.append(published.reference(in: published.language(for: request.acceptLanguage)))
        }
        return QuestionnaireList(questionnaires: found)
    }
}

/// Shows the newest version of a questionnaire that is not retired.
struct GetQuestionnaireHandler: RequestHandler {
    let definitions: PublishedDefinitions

    func handle(_ request: GetQuestionnaire, context: RequestContext) async throws -> PublishedQuestionnaire {
        let isWhole = try context.readsWhole()
        guard let found = try await definitions.published(request.questionnaire, version: nil, isWhole: isWhole) else {
            throw BusError(.notFound, "There is no such questionnaire.")
        }
        return found
    }
}

/// Shows one version of a questionnaire.
struct GetQuestionnaireVersionHandler: RequestHandler {
    let definitions: PublishedDefinitions

    func handle(_ request: GetQuestionnaireVersion, context: RequestContext) async throws -> PublishedQuestionnaire {
        let isWhole = try context.readsWhole()
        guard let version = Int64(documentNumber: request.version),
            let found = try await definitions.published(request.questionnaire, version: version, isWhole: isWhole)
        else { throw BusError(.notFound, "There is no such version.") }
        return found
    }
}
