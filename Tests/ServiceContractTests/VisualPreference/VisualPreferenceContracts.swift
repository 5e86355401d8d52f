import BusProtocol
import EventLoop
import Testing

@testable import VisualPreferenceService

private enum VisualSample {
    static let item = VisualItem(id: "face_01", imageUrl: "/visual-preferences/images/face_01-0a1b.svg", alt: "A face.")
    static let largest = VisualItem(
        id: String(repeating: "f", count: 64), imageUrl: String(repeating: "u", count: 2048),
        alt: String(repeating: "ö", count: 1000))
    static let session = VisualSession(
        sessionId: Sample.session, status: "in_progress", answered: 5, total: 20,
        comparisons: [VisualComparison(presentationId: Sample.challenge, left: item, right: item)])
    static let smallest = VisualSession(
        sessionId: Sample.session, status: "ready", answered: 0, total: 0, comparisons: [])
    static let full = VisualSession(
        sessionId: Sample.session, status: "insufficient", answered: 100, total: 100,
        comparisons: [VisualComparison](
            repeating: VisualComparison(presentationId: Sample.challenge, left: largest, right: largest), count: 5),
        newSessionAt: Sample.latest)
    static let choice = VisualChoice(
        presentationId: Sample.challenge, choice: "left", latencyMs: 1400, mutationId: Sample.device)
}

extension GetVisualSession: MessageContract {
    static let canonical = GetVisualSession()
    static let minimal = GetVisualSession()
    static let maximal = GetVisualSession()
    static let canonicalReply = VisualSample.session
    static let minimalReply = VisualSample.smallest
    static let maximalReply = VisualSample.full
    static let errors: [BusError] = [Sample.unauthorized]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<GetVisualSession> {
        Asked(GetVisualSession(), for: .random())
    }

    static let provocations: [String: Provocation<VisualPreferenceProvider, GetVisualSession>] = [
        "unauthorized": { _ in Asked(GetVisualSession()) }
    ]
}

extension SaveVisualChoices: MessageContract {
    static let canonical = SaveVisualChoices(sessionId: Sample.session, choices: [VisualSample.choice])
    static let minimal = SaveVisualChoices(sessionId: Sample.session)
    static let maximal = SaveVisualChoices(
        sessionId: Sample.session,
        choices: [VisualChoice](
            repeating: VisualChoice(
                presentationId: Sample.challenge, choice: "neither", latencyMs: 86_400_000, mutationId: Sample.device),
            count: 25), defer: true)
    static let canonicalReply = VisualChoicesSaved(
        results: [VisualChoiceResult(presentationId: Sample.challenge, mutationId: Sample.device, saved: true)],
        session: VisualSample.session)
    static let minimalReply = VisualChoicesSaved(results: [], session: VisualSample.smallest)
    static let maximalReply = VisualChoicesSaved(
        results: [VisualChoiceResult](
            repeating: VisualChoiceResult(
                presentationId: Sample.challenge, mutationId: Sample.device, saved: false,
                code: String(repeating: "c", count: 64)), count: 25), session: VisualSample.full)
    static let errors: [BusError] = [
        Sample.unauthorized, BusError(.notFound, "There is no such session."),
        BusError(
            .validationFailed, "Some fields need another look.",
            errors: [.init(field: "choices", code: "required", message: "Send choices, or defer the rest.")]),
    ]
    static let hasEffect = true
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<SaveVisualChoices> {
        let (person, session) = try await provider.opened()
        let choices = session.comparisons.map {
            VisualChoice(presentationId: $0.presentationId, choice: "left", latencyMs: 900, mutationId: .ordered())
        }
        return Asked(SaveVisualChoices(sessionId: session.sessionId, choices: choices), for: person, key: "gw 1")
    }

    static let provocations: [String: Provocation<VisualPreferenceProvider, SaveVisualChoices>] = [
        "unauthorized": { _ in Asked(SaveVisualChoices(sessionId: .ordered(), defer: true), key: "gw 1") },
        "not_found": { _ in Asked(SaveVisualChoices(sessionId: .ordered(), defer: true), for: .random(), key: "gw 1") },
        "validation_failed": { provider in
            let (person, session) = try await provider.opened()
            return Asked(SaveVisualChoices(sessionId: session.sessionId), for: person, key: "gw 1")
        },
    ]
}

extension GetVisualProfile: MessageContract {
    static let canonical = GetVisualProfile()
    static let minimal = GetVisualProfile()
    static let maximal = GetVisualProfile()
    static let canonicalReply = VisualProfile(
        status: "ready", confidence: 0.81,
        attributes: [VisualAttribute(key: "glasses", weight: -0.42, standardError: 0.31)], updatedAt: Sample.everyday)
    static let minimalReply = VisualProfile(status: "not_started", attributes: [])
    static let maximalReply = VisualProfile(
        status: "insufficient", confidence: 1,
        attributes: [VisualAttribute](
            repeating: VisualAttribute(key: String(repeating: "k", count: 64), weight: -1000, standardError: 1000),
            count: 64), updatedAt: Sample.latest, newSessionAt: Sample.latest)
    static let errors: [BusError] = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<GetVisualProfile> {
        Asked(GetVisualProfile(), for: try await provider.opened().person)
    }

    static let provocations: [String: Provocation<VisualPreferenceProvider, GetVisualProfile>] = [
        "unauthorized": { _ in Asked(GetVisualProfile()) }
    ]
}

extension GetStimulusStatistics: MessageContract {
    static let canonical = GetStimulusStatistics(version: "1")
    static let minimal = canonical
    static let maximal = GetStimulusStatistics(version: "2147483647")
    static let canonicalReply = StimulusStatistics(
        version: 1, licence: "CC0-1.0", sessions: 2, statuses: ["ready": 1, "insufficient": 1], flags: ["one_side": 1],
        answered: 45, left: 30, neither: 2, checks: 15, checksHeld: 9, medianMs: 1400.5,
        items: [StimulusItemStatistics(id: "face_01", shown: 12, chosen: 7)])
    static let minimalReply = StimulusStatistics(
        version: 1, licence: "x", sessions: 0, statuses: [:], flags: [:], answered: 0, left: 0, neither: 0, checks: 0,
        checksHeld: 0, items: [])
    static let maximalReply = StimulusStatistics(
        version: 2_147_483_647, licence: String(repeating: "ö", count: 1000), sessions: 5000,
        statuses: ["ready": Sample.largestInteger], flags: ["too_fast": Sample.largestInteger],
        answered: Sample.largestInteger, left: Sample.largestInteger, neither: Sample.largestInteger,
        checks: Sample.largestInteger, checksHeld: Sample.largestInteger, medianMs: 86_400_000,
        items: [
            StimulusItemStatistics(
                id: String(repeating: "f", count: 64), shown: Sample.largestInteger, chosen: Sample.largestInteger)
        ])
    static let errors: [BusError] = [Sample.unauthorized, DraftSamples.forbidden, DraftSamples.noVersion]
    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<GetStimulusStatistics> {
        _ = try await provider.opened()
        return DraftSamples.admin(canonical)
    }

    static let provocations: [String: Provocation<VisualPreferenceProvider, GetStimulusStatistics>] = [
        "unauthorized": { _ in Asked(canonical) }, "forbidden": { _ in Asked(canonical, for: .random()) },
        "not_found": { _ in DraftSamples.admin(maximal) },
    ]
}

extension ExportVisualPreferences: MessageContract {
    static let canonical = ExportVisualPreferences(after: "1:0199")
    static let minimal = ExportVisualPreferences(after: nil)
    static let maximal = ExportVisualPreferences(after: String(repeating: "ö", count: 300))
    static let canonicalReply = ExportSample.page
    static let minimalReply = ExportSample.smallest
    static let maximalReply = ExportSample.largest
    static let errors: [BusError] = [Sample.unauthorized]
    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ provider: VisualPreferenceProvider) async throws -> Asked<ExportVisualPreferences> {
        Asked(ExportVisualPreferences(after: nil), for: try await provider.opened().person)
    }

    static let provocations: [String: Provocation<VisualPreferenceProvider, ExportVisualPreferences>] = [
        "unauthorized": { _ in Asked(ExportVisualPreferences(after: nil)) }
    ]
}
