import Foundation
import JSONText

/// Chooses between pictures as a person with a clear taste does, by what the alternative texts say.
enum DemoTaste {
    private static let likings = [("no glasses", -4), ("a wide smile", 2), ("dark hair", 1)]

    static func choice(_ comparison: JSONValue) -> JSONValue {
        let (left, right) = (rank(comparison["left"]), rank(comparison["right"]))
        return [
            "presentationId": comparison["presentationId"] ?? .null, "choice": left > right ? "left" : "right",
            "latencyMs": 1200, "mutationId": .string(UUID().uuidString.lowercased()),
        ]
    }

    /// Of two that are liked alike, the same one wins whatever its side.
    private static func rank(_ item: JSONValue?) -> (Int, String) {
        let text = item?["alt"]?.stringValue ?? ""
        return (likings.reduce(0) { $0 + (text.contains($1.0) ? $1.1 : 0) }, item?["id"]?.stringValue ?? "")
    }
}

extension DemoClient {
    /// Chooses between pictures until the preferences are known.
    func choosePictures(_ token: String) throws {
        var session = try step("pairs of pictures", "GET", "/visual-preferences/session", token: token, expect: 200)
        while let pairs = session["comparisons"]?.arrayValue, !pairs.isEmpty {
            let saved = try step(
                "\(pairs.count) choices are saved", "POST", "/visual-preferences/choices",
                body: ["sessionId": session["sessionId"] ?? .null, "choices": .array(pairs.map(DemoTaste.choice))],
                token: token, expect: 200)
            session = saved["session"] ?? .null
        }
        let profile = try step("what they say", "GET", "/visual-preferences/profile", token: token, expect: 200)
        try check(profile["status"] == "ready", "the choices agree with each other")
    }
}
