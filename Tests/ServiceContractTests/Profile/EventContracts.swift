import BusProtocol
import EventLoop

extension RecordEvents: MessageContract {
    static let canonical = RecordEvents(
        anonymousId: "a9b1f0d2",
        events: [
            ClientEvent(
                eventId: Sample.notification, name: "app_opened", at: Sample.everyday,
                properties: EventProperties(entryPoint: "deep_link", platform: "ios")),
            ClientEvent(eventId: Sample.recovery, name: "phone_entered", at: Sample.everyday),
        ])
    static let minimal = RecordEvents(events: [
        ClientEvent(eventId: Sample.notification, name: "vps_ready", at: Sample.earliest)
    ])
    static let maximal = RecordEvents(
        anonymousId: String(repeating: "ö", count: 64),
        events: (0..<50).map { _ in
            ClientEvent(
                eventId: Sample.notification, name: "verification_consent_given", at: Sample.latest,
                properties: EventProperties(entryPoint: "return_after_logout", platform: "android"))
        })

    static let canonicalReply = EventsRecorded(recorded: 2)
    static let minimalReply = EventsRecorded(recorded: 0)
    static let maximalReply = EventsRecorded(recorded: 50)

    static let errors: [BusError] = [
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "anonymousId", code: "required", message: "This is needed before the sign-in.")])
    ]

    static let hasEffect = true
    /// A repeat records nothing new.
    static let clockMembers: Set<String> = ["recorded"]

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<RecordEvents> {
        let event = ClientEvent(eventId: .random(), name: "questionnaire_started", at: .now())
        return Asked(RecordEvents(events: [event]), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, RecordEvents>] = [
        "validation_failed": { _ in
            Asked(RecordEvents(events: [ClientEvent(eventId: .random(), name: "app_opened", at: .now())]))
        }
    ]
}

extension GetFunnel: MessageContract {
    static let canonical = GetFunnel(from: CivilDate("2026-02-01")!, to: CivilDate("2026-02-28")!)
    static let minimal = GetFunnel()
    static let maximal: GetFunnel = canonical

    static let canonicalReply = Funnel(
        from: CivilDate("2026-02-01")!, to: CivilDate("2026-02-28")!,
        steps: [
            .init(key: "app_opened", people: 1000),
            .init(key: "phone_entered", people: 812, dropOffPercent: 18.8, medianSeconds: 41.5),
        ],
        events: [.init(name: "app_opened", people: 1000)])
    static let minimalReply = Funnel(
        from: CivilDate("0001-01-01")!, to: CivilDate("0001-01-01")!, steps: [], events: [])
    static let maximalReply = Funnel(
        from: CivilDate("9999-12-31")!, to: CivilDate("9999-12-31")!,
        steps: (0..<32).map { _ in
            .init(
                key: String(repeating: "ö", count: 64), people: Sample.largestInteger, dropOffPercent: 100,
                medianSeconds: 0.25)
        },
        events: (0..<64).map { _ in .init(name: String(repeating: "ö", count: 64), people: Sample.largestInteger) })

    static let errors: [BusError] = [
        BusError(
            .validationFailed, "From the first to the last day are 0 to 400 days.",
            errors: [
                .init(field: "from", code: "not_allowed", message: "From the first to the last day are 0 to 400 days.")
            ])
    ]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetFunnel> {
        Asked(GetFunnel(), for: try await profile.person())
    }

    static let provocations: [String: Provocation<ProfileProvider, GetFunnel>] = [
        "validation_failed": { _ in
            Asked(GetFunnel(from: CivilDate("2026-02-02")!, to: CivilDate("2026-02-01")!))
        }
    ]
}
