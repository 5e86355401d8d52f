import BusProtocol
import BusRuntime
import Database
import EventLoop
import Languages
import ServiceRuntime

/// The parts of the visual session handlers that run in one transaction.
@Loop struct CaptureService {
    let store: CaptureStore
    let sets: StimulusSets
    let outbox: Outbox
    let pictures: Pictures
    let newSessionAfter: Duration

    /// Opens a session if there is none or if a new one may begin. It then changes the session, and tells profile the
    /// result. It waits a moment until profile has the event.
    ///
    /// - Parameter change: changes the session.
    func changing<Value: Sendable>(
        _ person: Identifier, opening: Bool, _ change: @Loop (inout Capture) throws -> Value
    ) async throws -> (Capture, Value) {
        try await outbox.awaitingDelivery { watch in
            try await changed(person, opening: opening, watch, change)
        }
    }

    private func changed<Value: Sendable>(
        _ person: Identifier, opening: Bool, _ watch: DeliveryWatch, _ change: @Loop (inout Capture) throws -> Value
    ) async throws -> (Capture, Value) {
        let newest = opening ? try await sets.newest() : nil
        return try await store.database.transaction { transaction in
            let (stored, now) = try await store.locked(person, in: transaction)
            var capture: Capture
            if let known = try await read(stored, in: transaction), !(opening && known.mayBeginAgain(now: now)) {
                capture = known
            } else {
                guard let newest else { throw Self.unknown }
                capture = fresh(newest)
                guard try await store.begin(capture, of: person, in: transaction) else { throw Self.unauthorized }
            }
            let (status, shown) = (capture.status, capture.shown)
            let value = try change(&capture)
            capture.advance(now: now, newSessionAfter: newSessionAfter)
            if status != capture.status || shown.map(\.comparison) != capture.comparisons {
                store.write(capture, since: shown, CaptureResult(capture), of: person, in: transaction)
            }
            if capture.status != status || capture.isDeferredNow {
                try await publish(capture.status, of: person, at: now, watch, in: transaction)
            }
            return (capture, value)
        }
    }

    private func read(_ stored: CaptureStore.Stored?, in transaction: Transaction) async throws -> Capture? {
        guard let stored else { return nil }
        guard let set = try await sets.version(stored.setVersion, in: transaction) else {
            throw StimulusSets.unavailable
        }
        return try stored.capture(of: set)
    }

    private func fresh(_ set: StimulusSet) -> Capture {
        Capture(
            session: .ordered(), seed: .random(in: 0...UInt64.max), ridge: Capture.ridge, set: set,
            status: .inProgress, shown: [])
    }

    /// Unclear answers count as deferred: the person is matched provisionally, and asked again.
    private func publish(
        _ status: Capture.Status, of person: Identifier, at now: Timestamp, _ watch: DeliveryWatch,
        in transaction: Transaction
    ) async throws {
        switch status {
        case .inProgress: break
        case .ready:
            try await outbox.publish(VisualPreferencesReady(personID: person, at: now), watch: watch, in: transaction)
        case .deferred, .insufficient:
            try await outbox.publish(
                VisualPreferencesDeferred(personID: person, at: now), watch: watch, in: transaction)
        }
    }

    func view(_ capture: Capture, in language: Language) -> VisualSession {
        VisualSession(
            sessionId: capture.session, status: capture.status.rawValue, answered: Int64(capture.answered),
            total: Int64(capture.total),
            comparisons: (capture.isOver ? [] : capture.open).map { shown in
                VisualComparison(
                    presentationId: shown.id, left: item(capture.set.items[shown.comparison.left], language),
                    right: item(capture.set.items[shown.comparison.right], language))
            }, newSessionAt: capture.newSessionAt)
    }

    private func item(_ item: StimulusSet.Item, _ language: Language) -> VisualItem {
        VisualItem(
            id: item.id, imageUrl: item.image ?? pictures.url(of: item.id),
            alt: item.alt[language.tag] ?? item.alt[Language.english.tag] ?? item.id)
    }

    static let unknown = BusError(.notFound, "There is no such session.")
    private static let unauthorized = BusError(.unauthorized, "Please sign in.")
}
