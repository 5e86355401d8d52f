import BusProtocol
import EventLoop

extension ListSessions: MessageContract {
    static let canonical = ListSessions()
    static let minimal = ListSessions()
    static let maximal = ListSessions()

    static let canonicalReply = SessionList(sessions: [
        KnownSession(
            id: Sample.session, device: .init(id: Sample.device, name: "Pixel 9", platform: "android"),
            createdAt: Sample.everyday, lastUsedAt: Sample.everyday, current: true)
    ])
    static let minimalReply = SessionList(sessions: [])
    static let maximalReply = SessionList(sessions: [
        KnownSession(
            id: Sample.session,
            device: .init(id: Sample.device, name: String(repeating: "📱", count: 100), platform: "ios"),
            createdAt: Sample.earliest, lastUsedAt: Sample.latest, current: false),
        KnownSession(
            id: Sample.session, device: .init(id: Sample.device, name: "x", platform: "web"),
            createdAt: Sample.earliest, lastUsedAt: Sample.earliest, current: true),
    ])

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<ListSessions> {
        let session = try await auth.session()
        return Asked(ListSessions(), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, ListSessions>] = [
        "unauthorized": { _ in Asked(ListSessions()) }
    ]
}

extension EndSession: MessageContract {
    static let canonical = EndSession(sessionId: Sample.session)
    static let minimal: EndSession = canonical
    static let maximal: EndSession = canonical

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [Sample.unauthorized, BusError(.notFound, "There is no such session.")]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<EndSession> {
        let session = try await auth.session()
        return Asked(EndSession(sessionId: session.sessionId), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, EndSession>] = [
        "unauthorized": { Asked(EndSession(sessionId: try await $0.session().sessionId)) },
        "not_found": { auth in
            let (session, stranger) = (try await auth.session(), try await auth.session())
            return Asked(
                EndSession(sessionId: stranger.sessionId), for: session.user.id, in: session.sessionId)
        },
    ]
}

extension EndOtherSessions: MessageContract {
    static let canonical = EndOtherSessions()
    static let minimal = EndOtherSessions()
    static let maximal = EndOtherSessions()

    static let canonicalReply = NoContent()
    static let minimalReply = NoContent()
    static let maximalReply = NoContent()

    static let errors: [BusError] = [Sample.unauthorized]

    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ auth: AuthProvider) async throws -> Asked<EndOtherSessions> {
        let phone = auth.newPhone()
        _ = try await auth.session(phone: phone)
        try await auth.age("2 minutes")
        let session = try await auth.session(phone: phone)
        return Asked(EndOtherSessions(), for: session.user.id, in: session.sessionId)
    }

    static let provocations: [String: Provocation<AuthProvider, EndOtherSessions>] = [
        "unauthorized": { _ in Asked(EndOtherSessions()) }
    ]
}
