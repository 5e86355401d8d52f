import BusProtocol
import EventLoop
import JSONText
import Testing

/// Sessions as a client has them: over HTTP, through the gateway, to the rows.
@Suite("sessions over HTTP") @Loop struct SessionRouteTests {
    private static let base = "/questionnaires/yoked-compat/sessions"

    private static func put(_ value: JSONValue, base: Int64? = nil, mutation: Identifier = .ordered()) -> JSONValue {
        var members: [String: JSONValue] = [
            "mutationId": .string(mutation.description), "state": "answered", "value": value,
        ]
        members["baseRevision"] = base.map { .integer($0) }
        return .object(members)
    }

    @Test func onePersonOnTwoDevices() async throws {
        try await Town.run { town in
            let person = try await town.signIn("+14155550123")
            let opened = try await town.send("POST", Self.base, as: person)
            #expect(opened.status == 201 && opened.json["status"] == "in_progress")
            let again = try await town.send("POST", Self.base, as: person)
            #expect(again.status == 200 && again.json["id"] == opened.json["id"])
            let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")

            let mutation = Identifier.ordered()
            let write = Self.put("never", base: 0, mutation: mutation)
            let saved = try await town.send("PUT", session + "/answers/smoking", write, as: person)
            #expect(saved.status == 200 && saved.json["revision"] == 1 && saved.json["hidden"] == [])
            #expect(saved.json["next"]?["question"] == "relationshipGoal")
            let other = try await town.send(
                "PUT", session + "/answers/drinking", Self.put("rarely", base: 0), as: person)
            #expect(other.status == 200, "another question is no conflict")
            let late = try await town.send(
                "PUT", session + "/answers/smoking", Self.put("socially", base: 0), as: person)
            #expect(late.status == 409 && late.json["code"] == "answer_conflict")
            #expect(late.json["current"] == ["revision": 1, "state": "answered", "value": "never"])
            let equal = try await town.send("PUT", session + "/answers/smoking", Self.put("never", base: 0), as: person)
            #expect(equal.status == 200 && equal.json["revision"] == 1)
            let repeated = try await town.send("PUT", session + "/answers/smoking", write, as: person)
            #expect(repeated.body == saved.body, "the stored answer, to the byte")
            let reused = try await town.send(
                "PUT", session + "/answers/smoking", Self.put("socially", mutation: mutation), as: person)
            #expect(reused.status == 422 && reused.json["code"] == "mutation_id_reused")

            let gone = try await town.send("DELETE", session + "/answers/smoking", as: person)
            #expect(gone.status == 200 && gone.json["revision"] == 2)
            let view = try await town.send("GET", session, as: person)
            let states = view.json["answers"]?.arrayValue?.compactMap { $0["state"]?.stringValue }
            #expect(states == ["unanswered", "answered"] && view.json["progress"]?["answered"] == 1)
            let early = try await town.send("POST", session + "/complete", as: person)
            #expect(early.status == 409 && early.json["missing"]?.arrayValue?.count == 10)
            let list = try await town.send("GET", Self.base, as: person)
            #expect(list.json["sessions"]?.arrayValue?.count == 1)
        }
    }

    @Test func anOfflineQueueIsReplayedAndTheSessionCompletedAndAmended() async throws {
        try await Town.run { town in
            let person = try await town.signIn("+14155550123")
            let opened = try await town.send("POST", Self.base, as: person)
            let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")
            let queue = QuestionnaireProvider.required.map { item -> JSONValue in
                var members: [String: JSONValue] = [
                    "question": .string(item.question), "mutationId": .string(Identifier.ordered().description),
                    "state": .string(item.state?.rawValue ?? "answered"),
                ]
                members["value"] = item.value
                return .object(members)
            }
            let bad: JSONValue = [
                "question": "drinking", "mutationId": .string(Identifier.ordered().description), "state": "answered",
                "value": "certainly",
            ]
            let body: JSONValue = ["answers": .array([bad] + queue)]
            let replayed = try await town.send("POST", session + "/answers:batch", body, as: person)
            let results = replayed.json["results"]?.arrayValue ?? []
            #expect(replayed.status == 200 && results.map { $0["saved"] } == [false] + queue.map { _ in true })
            #expect(results[0]["error"]?["field"] == "value" && results[0]["error"]?["reason"] == "unknown_option")
            let again = try await town.send("POST", session + "/answers:batch", body, as: person)
            #expect(again.json["results"] == replayed.json["results"])
            #expect(try await town.rows(.questionnaire, "SELECT count(*) FROM answer_history") == "10")

            let done = try await town.send("POST", session + "/complete", as: person)
            #expect(done.status == 200 && done.json["status"] == "completed")
            #expect(done.json["result"]?["answers"]?["smoking"]?["value"] == "never")
            let twice = try await town.send("POST", session + "/complete", as: person)
            #expect(twice.body == done.body)
            _ = try await town.send("PUT", session + "/answers/smoking", Self.put("socially"), as: person)
            let amended = try await town.send("GET", session, as: person)
            #expect(amended.json["status"] == "amended" && amended.json["result"]?["number"] == 2)
            let open = try await town.send("POST", session + "/reopen", as: person)
            #expect(open.json["status"] == "in_progress" && open.json["completedAt"] == nil)
            let closed = try await town.send("POST", session + "/complete", as: person)
            #expect(closed.json["status"] == "amended" && closed.json["result"]?["number"] == 3)
        }
    }

    @Test func aFamilyIsAskedAboutEachOfItsChildren() async throws {
        try await Town.run { town in
            try await town.publish(QuestionnaireProvider.family)
            let person = try await town.signIn("+14155550123")
            let opened = try await town.send("POST", "/questionnaires/family/sessions", as: person)
            #expect(opened.json["next"] == ["before": [], "question": "childName", "reason": "subject_wanted"])
            #expect(opened.json["progress"]?["total"] == 1 && opened.json["progress"]?["percentage"] == 0)
            let session = "/questionnaires/family/sessions/" + (opened.json["id"]?.stringValue ?? "")
            let children = (0..<4).map { _ in Identifier.ordered().description }
            for child in children.prefix(3) {
                let put = try await town.send(
                    "PUT", session + "/subjects/\(child)", ["label": .string("Child " + child)], as: person)
                #expect(put.status == 200)
            }
            let tooMany = try await town.send("PUT", session + "/subjects/\(children[3])", [:], as: person)
            #expect(tooMany.status == 422 && tooMany.json["errors"]?.arrayValue?.first?["code"] == "too_many")
            let birthday = session + "/answers/childBirthday?subject=\(children[1])"
            let saved = try await town.send("PUT", birthday, Self.put("2019-05-04"), as: person)
            #expect(saved.json["next"]?["subject"] == .string(children[0]))
            let nobody = try await town.send(
                "PUT", session + "/answers/childBirthday", Self.put("2019-05-04"), as: person)
            #expect(nobody.status == 422 && nobody.json["errors"]?.arrayValue?.first?["field"] == "subject")
            _ = try await town.send("DELETE", session + "/subjects/\(children[1])", as: person)
            let view = try await town.send("GET", session, as: person)
            let labels = view.json["subjects"]?.arrayValue?.compactMap { $0["label"]?.stringValue }
            #expect(labels == ["Child \(children[0])", "Child \(children[2])"])
            #expect(view.json["answers"]?.arrayValue?.count == 2, "hers are kept and count for nothing")
            _ = try await town.send("PUT", session + "/subjects/\(children[1])", [:], as: person)
            let back = try await town.send("GET", session, as: person)
            #expect(back.json["subjects"]?.arrayValue?.map { $0["id"] } == children.prefix(3).map { .string($0) })
            #expect(back.json["answers"]?.arrayValue?.count == 4)
            let early = try await town.send("POST", session + "/complete", as: person)
            #expect(early.json["missing"]?.arrayValue?.count == 2)
        }
    }
}
