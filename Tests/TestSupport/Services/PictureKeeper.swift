import BusProtocol
import BusRuntime
import EventLoop

/// Stands in for verification, which keeps the pictures of recovery cases. Each promised picture counts as arrived.
@Loop package final class PictureKeeper: RequestHandler {
    package private(set) var promised: [PromiseEvidence] = []
    /// Recovery's events about cases that are over.
    package let ended = EventRecorder<EvidenceEnded>()
    /// Called before the stand-in answers a promise.
    package var before: @Loop @Sendable (PromiseEvidence) async throws -> Void = { _ in }

    package init() {}

    package func handle(_ request: PromiseEvidence, context: RequestContext) async throws -> EvidencePromised {
        try await before(request)
        promised.append(request)
        return EvidencePromised(
            uploadURL: "/uploads/\(request.mediaID)", expiresAt: Timestamp("2026-02-20T09:15:00Z") ?? .now())
    }

    /// Answers with the pictures of a case.
    package var list: some RequestHandler { Lister(keeper: self) }

    private struct Lister: RequestHandler {
        let keeper: PictureKeeper

        func handle(_ request: ListEvidence, context: RequestContext) async throws -> EvidenceList {
            EvidenceList(
                pictures: keeper.promised.filter { $0.caseID == request.caseID }.map {
                    .init(
                        mediaID: $0.mediaID, side: $0.side, at: Timestamp("2026-02-20T09:00:00Z") ?? .now(),
                        url: "/photos/\($0.mediaID)")
                })
        }
    }
}

/// Stands in for profile when recovery asks for the description of a person.
package struct PersonDescriber: RequestHandler {
    package init() {}

    package func handle(_ request: DescribePerson, context: RequestContext) async throws -> PersonDescription {
        PersonDescription(firstName: "Zoë", ageBand: "25-34", badges: ["photo_verified"])
    }
}

/// Stands in for auth when recovery asks which devices an account has.
package struct DeviceDescriber: RequestHandler {
    package init() {}

    package func handle(_ request: DescribeDevices, context: RequestContext) async throws -> DevicesDescribed {
        let (added, used) = (Timestamp("2026-01-20T09:00:00Z"), Timestamp("2026-02-20T09:00:00Z"))
        return DevicesDescribed(
            devices: [.init(platform: "android", addedAt: added ?? .now(), lastUsedAt: used ?? .now())])
    }
}
