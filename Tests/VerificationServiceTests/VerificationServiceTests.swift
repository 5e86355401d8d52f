import BusProtocol
import BusRuntime
import EventLoop
import TestSupport
import Testing

@testable import VerificationService

@Suite @Loop struct VerificationServiceTests {
    @Test func theExportOfAPersonWithoutPicturesIsEmpty() async throws {
        try await ServiceStage.run(VerificationServiceDefinition.definition) { stage in
            let gateway = try stage.asking(as: .gateway)
            let actor = Actor(userID: .random(), sessionID: .ordered(), role: "user")
            let page = try await gateway.call(
                ExportVerification(after: nil), CallOptions(timeout: .seconds(10), actor: actor))
            #expect(page.records == [] && page.next == nil)
        }
    }
}
