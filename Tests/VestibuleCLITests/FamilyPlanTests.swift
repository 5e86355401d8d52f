import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// Document 003 on a whole system: its named states, and children that are read and changed after the end.
@Suite("the family plan on a running system") struct FamilyPlanTests {
    @Test(.bounded) func everyStateIsServedAndChildrenMayChangeAfterTheEnd() async throws {
        let issuer = try DemoIssuer()
        let system = try RunningSystem(scale: "auth=1", variables: issuer.variables)
        defer { system.stop() }
        let client = try HTTPClient(system.address, patience: 30)
        let demo = try PlanDemo(
            client: client, spool: system.installation.state.spool, plan: "eko-family", issuer: issuer)
        let parent = Parent(client, token: try await demo.signIn())

        #expect(try parent.state() == "NOT_STARTED")
        try parent.open()
        #expect(try parent.state() == "USER_INFO")
        #expect(try parent.put("parentName", "  ").status == 422)
        #expect(try parent.state() == "USER_INFO", "a save that fails leads nowhere")
        try parent.answer("parentName", "Åsa-Karin O'Hara")
        #expect(try parent.get("/users/me")["profile"]?["displayName"] == "Åsa-Karin O'Hara")

        #expect(try parent.state() == "CHILD_INFO")
        let alva = try parent.add("Alva")
        #expect(try parent.state() == "CHILD_INFO")
        #expect(try parent.put("childBirthday", parent.day(plus: 2), of: alva).status == 422)
        #expect(try parent.state() == "CHILD_INFO")
        try parent.answer("childBirthday", parent.day(plus: 0), of: alva)

        #expect(try parent.state() == "GOALS")
        #expect(try parent.put("childGoals", [], of: alva).status == 422)
        let four: JSONValue = ["understand_feelings", "wellbeing", "life_skills", ["other": "More <time> & 🎪"]]
        #expect(try parent.put("childGoals", four, of: alva).status == 422)
        // The service dies here. Whoever comes back goes on here.
        let service = try #require(
            system.installation.processes().first { $0.contains("QuestionnaireService") }?.split(separator: " ").first)
        kill(try #require(pid_t(service)), SIGKILL)
        try system.installation.wait("the questionnaire's return") {
            (try? client.send("GET", "/readyz"))?.status == 200 && (try? parent.state()) == "GOALS"
        }
        try parent.answer("childGoals", ["wellbeing", ["other": "More <time> & 🎪"]], of: alva)

        #expect(try parent.state() == "TOPICS")
        #expect(try parent.put("childTopics", ["school", "future"], of: alva).status == 422)
        try parent.answer("childGoals", ["life_skills", "wellbeing", ["other": "More <time> & 🎪"]], of: alva)
        #expect(try parent.state() == "TOPICS", "going back does not lose the place")
        try parent.answer("childTopics", ["school", "future", "family"], of: alva)

        for _ in 0..<2 {
            #expect(try parent.state() == "DISPOSITIONS")
            let next = try parent.view()["next"]
            #expect(try parent.put(next?["question"]?.stringValue ?? "", nil, of: alva).status == 200, "5, as proposed")
        }
        #expect(try parent.state() == "DISPOSITIONS")
        try parent.answer("temperamentAccountability", 10, of: alva)

        #expect(try parent.state() == "REVIEW")
        let bo = try parent.add("Bo")
        #expect(try parent.state() == "CHILD_INFO", "the form of the next child")
        #expect(try parent.child(bo) == ["childName": "Bo"])
        try parent.describe(bo)
        #expect(try parent.state() == "REVIEW")
        let names = try parent.view()["review"]?.arrayValue?.compactMap { $0["texts"]?.arrayValue?.first?.stringValue }
        #expect(names?.contains("Alva") == true && names?.contains("Bo") == true)

        try parent.complete()
        try system.installation.wait("the end of the onboarding") { try parent.state() == "COMPLETE" }
        #expect(try parent.child(alva)["childBirthday"] == parent.day(plus: 0))
        #expect(
            try parent.child(alva)["childGoals"] == ["life_skills", "wellbeing", ["other": "More <time> & 🎪"]])

        // After the end.
        try parent.answer("childName", "Alva Maria", of: alva)
        try parent.answer("temperamentTalkative", 9, of: alva)
        #expect(try parent.put("childTopics", ["school"], of: alva).status == 422, "the same rules hold")
        let lo = try parent.add("Lo")
        #expect(try parent.state() == "COMPLETE", "the app stays open")
        #expect(try parent.view()["next"]?["question"] == "childBirthday", "what is to be said of the new child")
        try parent.describe(lo)
        #expect(try parent.send("DELETE", "\(parent.session)/subjects/\(bo)").status == 200)
        let session = try parent.get(parent.session)
        #expect(session["status"] == "amended" && session["next"] == .null)
        #expect(session["subjects"]?.arrayValue?.map { $0["label"] } == ["Alva Maria", "Lo"])
        let result = session["result"]?["answers"]
        #expect(result?["temperamentTalkative/\(alva)"]?["value"] == 9)
        #expect(result?["childName/\(lo)"]?["value"] == "Lo" && result?["childName/\(bo)"] == nil)
        #expect(try parent.send("PUT", "\(parent.session)/subjects/\(bo)", [:]).status == 200, "and back")
        #expect(try parent.child(bo)["childTopics"] == ["school", "values", "future"])
        #expect(try parent.state() == "COMPLETE")
    }
}

/// A parent, by the requests of an app that knows the plan's questionnaire.
private final class Parent {
    private static let sessions = "/questionnaires/eko-family/sessions"
    /// Document 003's names of the states, by the screen of the next question.
    private static let states = [
        "parent-name": "USER_INFO", "child-name": "CHILD_INFO", "child-birthday": "CHILD_INFO", "goals": "GOALS",
        "topics": "TOPICS", "talkative": "DISPOSITIONS", "sensitivity": "DISPOSITIONS",
        "accountability": "DISPOSITIONS",
    ]

    private let client: HTTPClient
    private let token: String
    private(set) var session = ""

    init(_ client: HTTPClient, token: String) { (self.client, self.token) = (client, token) }

    func send(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> HTTPAnswer {
        try client.send(method, path, body: body, headers: ["Authorization": "Bearer \(token)"])
    }

    func get(_ path: String) throws -> JSONValue {
        let answer = try send("GET", path)
        try #require(answer.status == 200, "\(path): \(answer.body)")
        return answer.body
    }

    func view() throws -> JSONValue { try get("\(session)/view") }

    /// The state as document 003 names it.
    func state() throws -> String {
        if try get("/users/me/onboarding")["onboardingStatus"] == "complete" { return "COMPLETE" }
        guard try get(Self.sessions)["sessions"]?.arrayValue?.isEmpty == false else { return "NOT_STARTED" }
        let view = try view()
        guard let next = view["next"], next != .null else { return "REVIEW" }
        let screen = try #require(
            view["screens"]?.arrayValue?.first { screen in
                screen["questions"]?.arrayValue?.contains {
                    $0["key"] == next["question"] && $0["subject"] == next["subject"]
                } == true
            })
        return try #require(Self.states[screen["slug"]?.stringValue ?? ""])
    }

    func open() throws {
        let opened = try send("POST", Self.sessions, [:])
        session = "\(Self.sessions)/\(try #require(opened.body["id"]?.stringValue))"
    }

    /// - Parameter value: `nil` to take what is proposed.
    func put(_ question: String, _ value: JSONValue?, of child: String? = nil) throws -> HTTPAnswer {
        var body: [String: JSONValue] = ["mutationId": .string(UUID().uuidString.lowercased())]
        body["state"] = value == nil ? "acknowledged" : "answered"
        body["value"] = value
        let subject = child.map { "?subject=\($0)" } ?? ""
        return try send("PUT", "\(session)/answers/\(question)\(subject)", .object(body))
    }

    func answer(_ question: String, _ value: JSONValue?, of child: String? = nil) throws {
        let saved = try put(question, value, of: child)
        try #require(saved.status == 200, "\(question): \(saved.body)")
    }

    /// - Returns: the new child's id.
    func add(_ name: String) throws -> String {
        let id = UUID().uuidString.lowercased()
        let added = try send("PUT", "\(session)/subjects/\(id)", ["label": .string(name)])
        try #require(added.status == 200, "\(added.body)")
        return id
    }

    /// Answers what is asked about a child that has only a name.
    func describe(_ child: String) throws {
        try answer("childBirthday", "2019-05-04", of: child)
        try answer("childGoals", ["deeper_connection"], of: child)
        try answer("childTopics", ["school", "values", "future"], of: child)
        for question in ["temperamentTalkative", "temperamentSensitivity", "temperamentAccountability"] {
            try answer(question, nil, of: child)
        }
    }

    /// The answers about a child, by question.
    func child(_ id: String) throws -> [String: JSONValue] {
        let answers = try view()["answers"]?.arrayValue ?? []
        return Dictionary(
            uniqueKeysWithValues: answers.filter { $0["subject"] == .string(id) }.compactMap { answer in
                guard let key = answer["question"]?.stringValue, let value = answer["value"] else { return nil }
                return (key, value)
            })
    }

    func complete() throws {
        let completed = try send("POST", "\(session)/complete", [:])
        try #require(completed.status == 200, "\(completed.body)")
    }

    /// A day of the calendar in UTC, from today.
    func day(plus days: Double) -> JSONValue {
        let text = Date().addingTimeInterval(days * 86_400).formatted(.iso8601.year().month().day())
        return .string(text)
    }
}
