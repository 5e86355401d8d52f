import BusProtocol
import EventLoop

extension DeleteDraft: MessageContract {
    static let canonical = DeleteDraft(questionnaire: "family", draft: "1")
    static let minimal = DeleteDraft(questionnaire: "a", draft: "1")
    static let maximal = DeleteDraft(questionnaire: DraftSamples.longest, draft: "2147483647")
    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()
    static let errors = [
        Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noDraft,
        BusError(.draftPublished, "This draft was published, and stays with its version."),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []
    static func everyday(_ questionnaire: QuestionnaireProvider) async throws -> Asked<DeleteDraft> {
        DraftSamples.admin(DeleteDraft(questionnaire: "family", draft: try await questionnaire.draft()))
    }
    static let provocations: [String: Provocation<QuestionnaireProvider, DeleteDraft>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
        "draft_published": { questionnaire in
            DraftSamples.admin(DeleteDraft(questionnaire: "family", draft: try await questionnaire.published()))
        },
    ]
}
