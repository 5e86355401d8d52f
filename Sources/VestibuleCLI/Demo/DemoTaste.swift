import Foundation
import VestibuleClient

/// Chooses between pictures as a person with a clear taste does. It decides by the alternative texts.
enum DemoTaste {
    private static let likings = [("no glasses", -4), ("a wide smile", 2), ("dark hair", 1)]

    static func choice(_ comparison: VisualComparison) -> VisualChoice {
        VisualChoice(
            presentationId: comparison.presentationId,
            choice: rank(comparison.left) > rank(comparison.right) ? .left : .right, latencyMs: 1200, mutationId: UUID()
        )
    }

    /// If two items are liked equally, the same one wins on either side.
    private static func rank(_ item: VisualItem) -> (Int, String) {
        (likings.reduce(0) { $0 + (item.alt.contains($1.0) ? $1.1 : 0) }, item.id)
    }
}

extension DemoClient {
    /// Chooses between pictures until the preferences are known.
    func choosePictures() async throws {
        var session = try await step("pairs of pictures") { try await person.getVisualSession() }
        while !session.comparisons.isEmpty {
            let choices = session.comparisons.map(DemoTaste.choice)
            session = try await step("\(choices.count) choices are saved") { [session] in
                try await person.saveVisualChoices(.init(sessionId: session.sessionId, choices: choices)).session
            }
        }
        let profile = try await step("what they say") { try await person.getVisualProfile() }
        try check(profile.status == .ready, "the choices agree with each other")
    }
}
