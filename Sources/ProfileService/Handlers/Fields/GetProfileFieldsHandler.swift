import BusProtocol
import BusRuntime
import EventLoop
import ServiceRuntime

struct GetProfileFieldsHandler: RequestHandler {
    /// One view per language. The first one is the fallback.
    let views: [ProfileFields]

    func handle(_ request: GetProfileFields, context: RequestContext) async throws -> ProfileFields {
        let languages = views.map(\.language)
        let language = LanguagePreference(request.acceptLanguage ?? "").choose(
            from: languages, fallback: languages.first ?? "")
        guard let view = views.first(where: { $0.language == language }) else {
            throw BusError(.notFound, "There is no catalogue.")
        }
        return view
    }
}
