import BusProtocol
import BusRuntime
import EventLoop

struct GetProfileFieldsHandler: RequestHandler {
    /// One of each language.
    let views: [ProfileFields]

    func handle(_ request: GetProfileFields, context: RequestContext) async throws -> ProfileFields {
        let language = LanguageChoice.best(of: request.acceptLanguage, among: views.map(\.language))
        guard let view = views.first(where: { $0.language == language }) else {
            throw BusError(.notFound, "There is no catalogue.")
        }
        return view
    }
}
