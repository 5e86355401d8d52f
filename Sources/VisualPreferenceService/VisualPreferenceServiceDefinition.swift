import BusProtocol
import Documents
import EventLoop
import HTTPServer
import ServiceRuntime

@main enum VisualPreferenceMain {
    static func main() async {
        StimulusSetCommand.runIfAsked(Array(CommandLine.arguments.dropFirst()))
        await ServiceProcess.main(VisualPreferenceServiceDefinition.definition)
    }
}

/// Assembles the service of visual preferences.
enum VisualPreferenceServiceDefinition {
    static let definition = ServiceDefinition(
        name: .visualPreference, variables: variables, migrations: VisualPreferenceMigrations.all, peers: [.profile],
        countsPeople: true, assemble: assemble)

    private static let variables: [ConfigurationVariable] = [
        .init(
            "VISUAL_PREFERENCE_HTTP", .text, nil,
            "Where to serve the pictures: a numeric address and a port. Port 0 is any free one"),
        .init(
            "VISUAL_PREFERENCE_IMAGES", .text, nil,
            "What stands before the path of a picture: https://HOST, or nothing for the address of the API"),
        .init(
            "VISUAL_PREFERENCE_NEW_SESSION_AFTER", .duration(1...31_536_000, mayBeOff: false), "168h",
            "How long a person waits for a new session after unclear answers"),
    ]

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let configuration = container.configuration
        let sets = StimulusSets(database: container.database, log: container.log)
        let store = CaptureStore(database: container.database)
        let pictures = Pictures(base: configuration.optionalText("VISUAL_PREFERENCE_IMAGES") ?? "")
        let service = CaptureService(
            store: store, sets: sets, outbox: container.outbox, pictures: pictures,
            newSessionAfter: try configuration.duration("VISUAL_PREFERENCE_NEW_SESSION_AFTER"))
        container.handle(GetVisualSessionHandler(service: service))
        container.handle(SaveVisualChoicesHandler(service: service))
        container.handle(GetVisualProfileHandler(store: store))
        handleSets(container, sets)
        container.handlePersonalData(ExportVisualPreferences.self)
        container.prepare = {
            try await sets.offerShipped()
            return nil
        }
        // A version that was published in the last seconds is not followed yet.
        container.background("sets", every: .seconds(5)) { sets.refresh() }
        if configuration.optionalText("VISUAL_PREFERENCE_HTTP") != nil {
            let (host, port) = try configuration.address("VISUAL_PREFERENCE_HTTP")
            let server = HTTPServer(
                host: host, port: port, sharesPort: configuration.profile == .development,
                delegate: HTTPServer.Delegate(admission: { _, _ in .read(limit: 0) }) { pictures.answer($0.head) })
            container.background("pictures", every: nil) {
                try server.start()
                if port == 0 { pictures.base = "http://\(host):\(server.boundPort)" }
            } end: {
                await server.drain()
            }
        }
    }

    /// Handles the requests of editors of the stimulus set.
    @Loop private static func handleSets(_ container: ServiceContainer, _ sets: StimulusSets) {
        let drafts = DocumentDrafts(sets.documents)
        container.handle(ViewStimulusSetsHandler(drafts: drafts))
        container.handle(GetStimulusSetHandler(drafts: drafts))
        container.handle(
            GetStimulusStatisticsHandler(statistics: StatisticsStore(database: container.statistics), drafts: drafts))
        container.handleSetDrafts(drafts)
        container.handle(
            PublishStimulusSetDraftHandler(
                inbox: container.inbox, audit: container.audit, drafts: drafts, sets: sets))
    }
}
