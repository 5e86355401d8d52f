import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import JSONText
import TestSupport
import Testing

@testable import Gateway
@testable import QuestionnaireService

/// Sessions as a client sees them: over HTTP, through the gateway, down to the rows.
@Suite("questionnaire sessions over HTTP") @Loop struct QuestionnaireSessionRouteTests {
    private static let base = "/questionnaires/yoked-compat/sessions"

    private static func put(_ value: JSONValue, base: Int64? = nil, mutation: Identifier = .ordered()) -> JSONValue {
        var members: [String: JSONValue] = [
            "mutationId": .string(mutation.description), "state": "answered", "value": value,
        ]
        members["baseRevision"] = base.map { .integer($0) }
        return .object(members)
    }

    @Test func onePersonOnTwoDevices() async throws {
        try await TestSystem.run { system in
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", Self.base, as: person)
            #expect(opened.status == 201 && opened.json["status"] == "in_progress")
            let again = try await system.send("POST", Self.base, as: person)
            #expect(again.status == 200 && again.json["id"] == opened.json["id"])
            let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")

            let mutation = Identifier.ordered()
            let write = Self.put("never", base: 0, mutation: mutation)
            let saved = try await system.send("PUT", session + "/answers/smoking", write, as: person)
            #expect(saved.status == 200 && saved.json["revision"] == 1 && saved.json["hidden"] == [])
            #expect(saved.json["next"]?["question"] == "relationshipGoal")
            let other = try await system.send(
                "PUT", session + "/answers/drinking", Self.put("rarely", base: 0), as: person)
            #expect(other.status == 200, "another question is no conflict")
            let late = try await system.send(
                "PUT", session + "/answers/smoking", Self.put("socially", base: 0), as: person)
            #expect(late.status == 409 && late.json["code"] == "answer_conflict")
            #expect(late.json["current"] == ["revision": 1, "state": "answered", "value": "never"])
            let equal = try await system.send(
                "PUT", session + "/answers/smoking", Self.put("never", base: 0), as: person)
            #expect(equal.status == 200 && equal.json["revision"] == 1)
            let repeated = try await system.send("PUT", session + "/answers/smoking", write, as: person)
            #expect(repeated.body == saved.body, "the stored answer, to the byte")
            let reused = try await system.send(
                "PUT", session + "/answers/smoking", Self.put("socially", mutation: mutation), as: person)
            #expect(reused.status == 422 && reused.json["code"] == "mutation_id_reused")

            let gone = try await system.send("DELETE", session + "/answers/smoking", as: person)
            #expect(gone.status == 200 && gone.json["revision"] == 2)
            let view = try await system.send("GET", session, as: person)
            let states = view.json["answers"]?.arrayValue?.compactMap { $0["state"]?.stringValue }
            #expect(states == ["unanswered", "answered"] && view.json["progress"]?["answered"] == 1)
            let early = try await system.send("POST", session + "/complete", as: person)
            #expect(early.status == 409 && early.json["missing"]?.arrayValue?.count == 10)
            let list = try await system.send("GET", Self.base, as: person)
            #expect(list.json["sessions"]?.arrayValue?.count == 1)
        }
    }

    @Test func theClientMayNameThePlatformOfASession() async throws {
        try await TestSystem.run { system in
            let person = try await system.signIn("+14155550123")
            let wrong = try await system.send("POST", Self.base, ["platform": "vax"], as: person)
            #expect(wrong.status == 422 && wrong.json["errors"]?.arrayValue?.first?["field"] == "platform")
            let opened = try await system.send("POST", Self.base, ["platform": "android"], as: person)
            #expect(opened.status == 201)
            let again = try await system.send("POST", Self.base, ["platform": "web"], as: person)
            #expect(again.status == 200 && again.json["id"] == opened.json["id"])
            let facts = try await system.rows(.questionnaire, "SELECT facts FROM sessions")
            #expect(try JSONValue.parse(Array(facts.utf8)) == ["locale": "en", "platform": "android"])
        }
    }

    /// The slower of two devices learns the other's answer and device. It may force its own answer, and nothing is
    /// lost.
    @Test func aConflictShowsTheOtherAnswerAndCanBeForced() async throws {
        try await TestSystem.run { system in
            @Loop func write(_ value: JSONValue, _ device: String, base: Int64, force: Bool? = nil) -> JSONValue {
                var members = Self.put(value, base: base).objectValue ?? [:]
                members["device"] = .string(device)
                members["force"] = force.map { .bool($0) }
                return .object(members)
            }
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", Self.base, as: person)
            let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")
            let smoking = session + "/answers/smoking"
            _ = try await system.send("PUT", smoking, write("never", "Zoë’s iPad", base: 0), as: person)
            let late = try await system.send("PUT", smoking, write("socially", "Pixel 9", base: 0), as: person)
            #expect(
                late.json["current"] == [
                    "revision": 1, "state": "answered", "value": "never", "device": "Zoë’s iPad",
                ])
            let forced = try await system.send(
                "PUT", smoking, write("socially", "Pixel 9", base: 0, force: true), as: person)
            #expect(forced.status == 200 && forced.json["revision"] == 2)
            var queued = write("never", "Zoë’s iPad", base: 1).objectValue ?? [:]
            queued["question"] = "smoking"
            let batch = session + "/answers:batch"
            let refused = try await system.send("POST", batch, ["answers": [.object(queued)]], as: person)
            #expect(
                refused.json["results"]?.arrayValue?.first?["error"]?["current"]?["device"] == "Pixel 9")
            (queued["force"], queued["mutationId"]) = (true, .string(Identifier.ordered().description))
            let won = try await system.send("POST", batch, ["answers": [.object(queued)]], as: person)
            #expect(won.json["results"]?.arrayValue?.first?["revision"] == 3)
            let gone = try await system.send(
                "DELETE", smoking, ["baseRevision": 1, "device": "Pixel 9", "force": true], as: person)
            #expect(gone.status == 200 && gone.json["revision"] == 4)
            let history = try await system.rows(
                .questionnaire,
                "SELECT string_agg(device || ' ' || state || ' ' || coalesce(value #>> '{}', '-'), ', ' ORDER BY revision) FROM answer_history"
            )
            #expect(
                history
                    == "Zoë’s iPad answered never, Pixel 9 answered socially, Zoë’s iPad answered never, Pixel 9 unanswered -"
            )
            let lines = try await system.send("GET", "/users/me/export", as: person).text.components(
                separatedBy: "\r\n")
            let body = stride(from: 1, to: lines.count, by: 2).map { lines[$0] }.joined()
            let records = try JSONValue.parse(Array(body.utf8))["questionnaire"]?.arrayValue ?? []
            let devices = ["answer_history", "answer"].flatMap { kind in
                records.filter { $0["kind"]?.stringValue == kind }.map { $0["device"]?.stringValue }
            }
            #expect(devices == ["Zoë’s iPad", "Pixel 9", "Zoë’s iPad", "Pixel 9", "Pixel 9"])
        }
    }

    @Test func anOfflineQueueIsReplayedAndTheSessionCompletedAndAmended() async throws {
        try await TestSystem.run { system in
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", Self.base, as: person)
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
            let replayed = try await system.send("POST", session + "/answers:batch", body, as: person)
            let results = replayed.json["results"]?.arrayValue ?? []
            #expect(replayed.status == 200 && results.map { $0["saved"] } == [false] + queue.map { _ in true })
            #expect(results[0]["error"]?["field"] == "value" && results[0]["error"]?["reason"] == "unknown_option")
            let again = try await system.send("POST", session + "/answers:batch", body, as: person)
            #expect(again.json["results"] == replayed.json["results"])
            #expect(try await system.rows(.questionnaire, "SELECT count(*) FROM answer_history") == "10")

            let done = try await system.send("POST", session + "/complete", as: person)
            #expect(done.status == 200 && done.json["status"] == "completed")
            #expect(done.json["result"]?["answers"]?["smoking"]?["value"] == "never")
            let twice = try await system.send("POST", session + "/complete", as: person)
            #expect(twice.body == done.body)
            _ = try await system.send("PUT", session + "/answers/smoking", Self.put("socially"), as: person)
            let amended = try await system.send("GET", session, as: person)
            #expect(amended.json["status"] == "amended" && amended.json["result"]?["number"] == 2)
            let open = try await system.send("POST", session + "/reopen", as: person)
            #expect(open.json["status"] == "in_progress" && open.json["completedAt"] == nil)
            let closed = try await system.send("POST", session + "/complete", as: person)
            #expect(closed.json["status"] == "amended" && closed.json["result"]?["number"] == 3)
        }
    }

    /// A person who stopped a session is asked again. The stopped session is kept, does not count and is deleted with
    /// the person.
    @Test func aStoppedSessionIsReadAndNothingElse() async throws {
        try await TestSystem.run { system in
            @Loop func isAsked(_ person: Session) async throws -> Bool {
                let due = try await system.send("GET", "/users/me/requirements", as: person).json["match"]
                return due?["currentlyDue"]?.arrayValue?.contains("questionnaire") == true
            }
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", Self.base, as: person)
            let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")
            let write = Self.put("never")
            let saved = try await system.send("PUT", session + "/answers/smoking", write, as: person)
            let stopped = try await system.send("POST", session + "/stop", as: person)
            #expect(stopped.status == 200 && stopped.json["status"] == "stopped")
            #expect(try await system.send("POST", session + "/stop", as: person).body == stopped.body)
            #expect(try await system.send("GET", session, as: person).body == stopped.body)

            let queue: JSONValue = [
                "answers": [
                    .object((Self.put("never").objectValue ?? [:]).merging(["question": "drinking"]) { $1 })
                ]
            ]
            let subject = session + "/subjects/\(Identifier.ordered())"
            let refusals: [(String, String, JSONValue?)] = [
                ("PUT", session + "/answers/smoking", Self.put("socially")),
                ("DELETE", session + "/answers/smoking", nil), ("POST", session + "/answers:batch", queue),
                ("PUT", subject, ["label": "Kim"]), ("DELETE", subject, nil), ("POST", session + "/complete", nil),
                ("POST", session + "/reopen", nil),
                (
                    "POST", "/compatibility/responses",
                    ["sessionId": opened.json["id"] ?? .null, "answers": [], "complete": true]
                ),
            ]
            for (method, path, body) in refusals {
                let refused = try await system.send(method, path, body, as: person)
                #expect(refused.status == 409 && refused.json["code"] == "session_stopped", "\(method) \(path)")
            }
            let moved = try await system.send("POST", session + "/migrations", as: person)
            #expect(moved.status == 409 && moved.json["code"] == "session_not_open")
            let repeated = try await system.send("PUT", session + "/answers/smoking", write, as: person)
            #expect(repeated.body == saved.body, "what was saved before is answered as then")
            #expect(try await system.send("GET", session, as: person).body == stopped.body)

            // A new session is shown, and the person is asked for it until it is completed.
            let questions = try await system.send("GET", "/compatibility/questions", as: person)
            #expect(questions.json["sessionId"] != opened.json["id"] && questions.json["answers"] == [])
            #expect(try await isAsked(person))
            let again = try await system.send("POST", Self.base, as: person)
            #expect(again.status == 200 && again.json["id"] == questions.json["sessionId"])
            let list = try await system.send("GET", Self.base, as: person).json["sessions"]?.arrayValue
            #expect(list?.map { $0["status"] } == ["in_progress", "stopped"])
            _ = try await system.ask(
                SubmitResponses(answers: QuestionnaireProvider.required, complete: true), as: person)
            #expect(try await eventually { try await !isAsked(person) })
            let second = Self.base + "/" + (again.json["id"]?.stringValue ?? "")
            let late = try await system.send("POST", second + "/stop", as: person)
            #expect(late.status == 409 && late.json["code"] == "session_not_open")
            #expect(try await system.rows(.profile, "SELECT count(*) FROM profiles") == "1")

            let lines = try await system.send("GET", "/users/me/export", as: person).text.components(
                separatedBy: "\r\n")
            let body = stride(from: 1, to: lines.count, by: 2).map { lines[$0] }.joined()
            let records = try JSONValue.parse(Array(body.utf8))["questionnaire"]?.arrayValue ?? []
            let statuses = records.filter { $0["kind"] == "session" }.compactMap { $0["status"]?.stringValue }
            #expect(Set(statuses) == ["stopped", "completed"])
            #expect(records.contains { $0["kind"] == "answer" && $0["sessionId"] == opened.json["id"] })
            #expect(try await system.send("DELETE", "/users/me", as: person).status == 202)
            #expect(
                try await eventually { try await system.rows(.questionnaire, "SELECT count(*) FROM sessions") == "0" })
        }
    }

    /// A person reads what they wrote, as the next thing that they ask.
    @Test(.bounded) func onboardingIsPastTheQuestionsAtOnceAfterCompletion() async throws {
        try await TestSystem.run { system in
            for number in 0..<5 {
                let person = try await system.signIn("+1415555012\(number)")
                let fields: [String: JSONValue] = [
                    "displayName": "Zoë", "dateOfBirth": "1994-02-28", "gender": "other", "lookingFor": ["everyone"],
                ]
                _ = try await system.ask(UpdateMe(fields: fields), as: person)
                let opened = try await system.send("POST", Self.base, as: person)
                _ = try await system.ask(SubmitResponses(answers: QuestionnaireProvider.required), as: person)
                let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")
                #expect(try await system.send("POST", session + "/complete", as: person).status == 200)
                let onboarding = try await system.send("GET", "/users/me/onboarding", as: person)
                #expect(onboarding.json["next"]?["step"] == "visual_preferences", .time)
                try await system.age()
            }
        }
    }

    @Test func aClosingScreenIsShownUntilAcknowledged() async throws {
        try await TestSystem.run { system in
            let base = "/questionnaires/eko-family/sessions"
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", base, as: person)
            let session = base + "/" + (opened.json["id"]?.stringValue ?? "")
            var view = try await system.send("PUT", session + "/answers/parentName", Self.put("Kim"), as: person)
            let child = session + "/subjects/\(Identifier.ordered())"
            view = try await system.send("PUT", child, ["label": "Alva"], as: person)
            let values: [String: JSONValue] = [
                "childBirthday": "2019-05-04", "childGoals": ["wellbeing"],
                "childTopics": ["school", "future", "family"],
            ]
            while let next = view.json["next"], next != .null {
                let question = next["question"]?.stringValue ?? ""
                let subject = next["subject"]?.stringValue.map { "?subject=" + $0 } ?? ""
                let write =
                    values[question].map { Self.put($0) }
                    ?? ["mutationId": .string(Identifier.ordered().description), "state": "acknowledged"]
                view = try await system.send("PUT", session + "/answers/\(question)\(subject)", write, as: person)
                try #require(view.status == 200, "\(question): \(view.text)")
                #expect((view.json["closing"] == nil) == (view.json["next"] != .null))
            }
            #expect(view.json["closing"] == ["review"])
            #expect(try await system.send("GET", session, as: person).json["closing"] == ["review"])
            let seen: JSONValue = ["mutationId": .string(Identifier.ordered().description), "state": "acknowledged"]
            let last = try await system.send("PUT", session + "/answers/review", seen, as: person)
            #expect(last.status == 200 && last.json["next"] == .null && last.json["closing"] == nil)
        }
    }

    @Test func aFamilyIsAskedAboutEachOfItsChildren() async throws {
        try await TestSystem.run { system in
            try await system.publish(QuestionnaireProvider.family)
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/family/sessions", as: person)
            #expect(opened.json["next"] == ["before": [], "question": "childName", "reason": "subject_wanted"])
            #expect(opened.json["progress"]?["total"] == 1 && opened.json["progress"]?["percentage"] == 0)
            let session = "/questionnaires/family/sessions/" + (opened.json["id"]?.stringValue ?? "")
            let children = (0..<4).map { _ in Identifier.ordered().description }
            for child in children.prefix(3) {
                let put = try await system.send(
                    "PUT", session + "/subjects/\(child)", ["label": .string("Child " + child)], as: person)
                #expect(put.status == 200)
            }
            let tooMany = try await system.send("PUT", session + "/subjects/\(children[3])", [:], as: person)
            #expect(tooMany.status == 422 && tooMany.json["errors"]?.arrayValue?.first?["code"] == "too_many")
            let birthday = session + "/answers/childBirthday?subject=\(children[1])"
            let saved = try await system.send("PUT", birthday, Self.put("2019-05-04"), as: person)
            #expect(saved.json["next"]?["subject"] == .string(children[0]))
            let nobody = try await system.send(
                "PUT", session + "/answers/childBirthday", Self.put("2019-05-04"), as: person)
            #expect(nobody.status == 422 && nobody.json["errors"]?.arrayValue?.first?["field"] == "subject")
            _ = try await system.send("DELETE", session + "/subjects/\(children[1])", as: person)
            let view = try await system.send("GET", session, as: person)
            let labels = view.json["subjects"]?.arrayValue?.compactMap { $0["label"]?.stringValue }
            #expect(labels == ["Child \(children[0])", "Child \(children[2])"])
            #expect(view.json["answers"]?.arrayValue?.count == 2, "hers are kept and count for nothing")
            _ = try await system.send("PUT", session + "/subjects/\(children[1])", [:], as: person)
            let back = try await system.send("GET", session, as: person)
            #expect(back.json["subjects"]?.arrayValue?.map { $0["id"] } == children.prefix(3).map { .string($0) })
            #expect(back.json["answers"]?.arrayValue?.count == 4)

            // Subjects that were removed are kept, but not forever.
            _ = try await system.send("DELETE", session + "/subjects/\(children[1])", as: person)
            try await system.rows(
                .questionnaire,
                """
                INSERT INTO subjects (person_id, session_id, subject, kind, position, added_at, removed_at)
                SELECT person_id, session_id, gen_random_uuid(), 'child', 3 + n, now(), now()
                FROM sessions, generate_series(1, 197) AS n
                """)
            let oneMore = try await system.send("PUT", session + "/subjects/\(children[3])", [:], as: person)
            #expect(oneMore.status == 422 && oneMore.json["errors"]?.arrayValue?.first?["code"] == "too_many")
            #expect(try await system.send("PUT", session + "/subjects/\(children[1])", [:], as: person).status == 200)
            let early = try await system.send("POST", session + "/complete", as: person)
            #expect(early.json["missing"]?.arrayValue?.count == 2)
        }
    }

    @Test func aViewIsInOneLanguageAndNotSentTwice() async throws {
        try await TestSystem.run { system in
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", Self.base, as: person)
            let session = Self.base + "/" + (opened.json["id"]?.stringValue ?? "")
            @Loop func view(_ language: String, knowing tag: String? = nil) async throws -> Exchange {
                var headers = ["Accept-Language": language]
                headers["If-None-Match"] = tag
                return try await system.send("GET", session + "/view", as: person, headers: headers)
            }
            let first = try await view("sv;q=0.9, de")
            #expect(first.status == 200 && first.json["locale"] == "sv" && first.json["revision"] == 0)
            #expect(first.headers["content-language"] == "sv" && first.headers["vary"] == "Accept-Language")
            #expect(first.headers["cache-control"] == "no-cache")
            #expect(first.json["screens"]?.arrayValue?.count == 25 && first.json["answers"] == [])
            let tag = try #require(first.headers["etag"])
            #expect(tag == "\"\(first.json["tag"]?.stringValue ?? "")\"")
            let known = try await view("sv", knowing: tag)
            #expect(known.status == 304 && known.body.isEmpty && known.headers["etag"] == tag)
            let other = try await view("en", knowing: tag)
            #expect(other.status == 200 && other.headers["content-language"] == "en" && other.headers["etag"] != tag)

            var tags: Set = [tag]
            let subject = session + "/answers/smoking"
            for (number, write) in [Self.put("never"), Self.put("socially"), Self.put("never")].enumerated() {
                _ = try await system.send("PUT", subject, write, as: person)
                let written = try await view("sv", knowing: tag)
                #expect(written.status == 200 && written.json["answers"]?.arrayValue?.count == 1)
                #expect(tags.insert(written.headers["etag"] ?? "").inserted, "\(number)")
                #expect(try await view("sv", knowing: written.headers["etag"]).status == 304)
            }
            let body = first.text
            for word in ["score", "weight", "dimensions", "visibleIf", "requiredIf", "importance", "extract"] {
                #expect(!body.contains("\"\(word)\""))
            }
        }
    }

    @Test func aVersionIsNamedByItsHashAndNotSentTwice() async throws {
        try await TestSystem.run { system in
            let person = try await system.signIn("+14155550123")
            let first = try await system.send("GET", "/questionnaires/yoked-compat", as: person)
            let hash = first.json["hash"]?.stringValue ?? ""
            #expect(first.status == 200 && first.headers["etag"] == "\"\(hash)\"" && hash.count == 64)
            #expect(first.json["isWhole"] == nil && first.json["definition"]?["dimensions"] == nil)
            let staff = try await system.staff("+14155550188")
            let whole = try await system.send(
                "GET", "/questionnaires/yoked-compat", as: staff, headers: ["If-None-Match": "\"\(hash)\""])
            #expect(whole.status == 200 && whole.headers["etag"] == "\"r3\"" && whole.json["isWhole"] == true)
            let canonical = CanonicalJSON.bytes(of: whole.json["definition"] ?? .null)
            #expect(Hex.encode(SHA256.digest(canonical)) == hash && whole.json["hash"] == .string(hash))
            #expect(first.json["definition"] == PublicDefinition.document(of: whole.json["definition"] ?? .null))
            let version = try await system.send("GET", "/questionnaires/yoked-compat/versions/3", as: person)
            #expect(version.body == first.body)
            let known = try await system.send(
                "GET", "/questionnaires/yoked-compat", as: person, headers: ["If-None-Match": "\"\(hash)\""])
            #expect(known.status == 304 && known.body.isEmpty)
            #expect(try await system.send("GET", "/questionnaires/yoked-compat/versions/03", as: person).status == 404)
            #expect(try await system.send("GET", "/admin/questionnaires/yoked-compat", as: person).status == 403)
            let list = try await system.send("GET", "/questionnaires", as: person)
            let all = list.json["questionnaires"]?.arrayValue ?? []
            #expect(
                all.map { $0["key"] } == ["eko-family", "realsingles-profile", "skin-care", "yoked-compat"]
                    && all.last?["hash"] == .string(hash))
        }
    }

    /// From the draft to a published version, a migration of open sessions, and the retirement.
    @Test func aQuestionnaireIsDraftedPublishedMovedToAndRetired() async throws {
        try await TestSystem.run { system in
            try await system.publish(QuestionnaireProvider.family)
            let person = try await system.signIn("+14155550123")
            let opened = try await system.send("POST", "/questionnaires/family/sessions", as: person)
            let session = "/questionnaires/family/sessions/" + (opened.json["id"]?.stringValue ?? "")
            _ = try await system.send(
                "PUT", session + "/subjects/\(Identifier.ordered())", ["label": "Alva"], as: person)

            func editor<Request: BusRequest>(_ request: Request) async throws -> Request.Reply {
                let actor = Actor(userID: person.user.id, sessionID: person.sessionId, role: .admin)
                return try await system.gateway.bus.call(
                    request,
                    CallOptions(timeout: .seconds(10), actor: actor, idempotencyKey: "key-\(Identifier.random())"))
            }
            let draft = try await editor(CreateDraft(questionnaire: "family", from: 1))
            #expect(draft.number == 1 && draft.from == 1)
            let first = try await system.send("GET", "/questionnaires/family/versions/1", as: person)
            #expect(
                draft.definition["derivedFrom"]
                    == ["version": 1, "contentHash": first.json["hash"] ?? .null])
            let number = String(draft.number)
            _ = try await editor(
                PutDraft(questionnaire: "family", draft: number, definition: ["key": "family"], ifMatch: "\"r1\""))
            let report = try await editor(CheckDraft(questionnaire: "family", draft: number))
            #expect(!report.publishable && report.findings.allSatisfy { $0.code == "malformed" })
            _ = try await editor(
                PutDraft(
                    questionnaire: "family", draft: number, definition: QuestionnaireProvider.largerFamily,
                    ifMatch: "\"r2\""))
            let refused = await #expect(throws: BusError.self) {
                try await editor(PublishDraft(questionnaire: "family", draft: number, acceptClass: "additive"))
            }
            #expect(refused?.details?["changeClass"] == "reask" && refused?.details?["openSessions"] == 1)
            let published = try await editor(
                PublishDraft(questionnaire: "family", draft: number, acceptClass: "reask"))
            #expect(published.version == 2 && published.openSessions == 1 && published.answers == 0)
            let stays = try await system.send("GET", session, as: person)
            #expect(stays.json["questionnaire"]?["version"] == 1, "open sessions stay with theirs")

            let dry = try await system.send("POST", session + "/migrations?dryRun=true", as: person)
            #expect(dry.status == 200 && dry.json["newQuestions"] == ["homeTown"])
            #expect(try await system.send("GET", session, as: person).body == stays.body, "nothing was written")
            let real = try await system.send("POST", session + "/migrations", as: person)
            #expect(real.json == dry.json && real.json["kept"]?.arrayValue?.count == 1)
            let moved = try await system.send("GET", session, as: person)
            #expect(moved.json["questionnaire"]?["version"] == 2)
            let again = try await system.send("POST", session + "/migrations", as: person)
            #expect(again.json["fromVersion"] == 2 && again.json["newQuestions"] == [])
            let undone = try await system.send("POST", session + "/migrations/undo", as: person)
            #expect(undone.status == 200 && undone.json == stays.json)
            _ = try await system.send("POST", session + "/migrations", as: person)
            _ = try await system.send("PUT", session + "/answers/homeTown", Self.put("Umeå"), as: person)
            let late = try await system.send("POST", session + "/migrations/undo", as: person)
            #expect(late.status == 409 && late.json["code"] == "migration_final")

            _ = try await editor(RetireVersion(questionnaire: "family", version: "2"))
            let back = try await system.send("GET", "/questionnaires/family", as: person)
            #expect(back.json["version"] == 1, "whoever begins now begins with the version before")
            #expect(try await system.send("GET", session, as: person).json["questionnaire"]?["version"] == 2)
            let overview = try await editor(ViewQuestionnaire(questionnaire: "family"))
            #expect(overview.versions.map(\.status) == ["retired", "published"])
            #expect(overview.versions.map(\.current) == [false, true])
            #expect(overview.drafts.map(\.publishedAs) == [2])
        }
    }

    @Test func aDeletedDraftsNumberIsNotUsedAgain() async throws {
        try await QuestionnaireProvider.run { questionnaire in
            let (kept, deleted) = (try await questionnaire.draft(), try await questionnaire.draft())
            try await questionnaire.reply(
                to: DraftSamples.admin(DeleteDraft(questionnaire: "family", draft: deleted)))
            let overview = try await questionnaire.reply(
                to: DraftSamples.admin(ViewQuestionnaire(questionnaire: "family")))
            #expect(overview.drafts.map(\.number) == [1] && kept == "1" && deleted == "2")
            for refused in [DraftSamples.noDraft] {
                await #expect(throws: refused) {
                    try await questionnaire.reply(
                        to: DraftSamples.admin(GetDraft(questionnaire: "family", draft: deleted)))
                }
                await #expect(throws: refused) {
                    try await questionnaire.reply(
                        to: DraftSamples.admin(PublishDraft(questionnaire: "family", draft: deleted), key: "key-1"))
                }
            }
            #expect(try await questionnaire.stage.rows("SELECT content FROM drafts WHERE number = 2") == "{}")
            #expect(try await questionnaire.draft() == "3")
        }
    }

    @Test func allOpenSessionsAreMovedInBatchesAndNoneTwice() async throws {
        try await TestSystem.run { system in
            try await system.publish(QuestionnaireProvider.family)
            let people = (0..<7).map { _ in Identifier.random() }
            for person in people {
                let actor = Actor(userID: person, sessionID: .ordered(), role: .user)
                let options = CallOptions(timeout: .seconds(10), actor: actor)
                let session = try await system.gateway.bus.call(OpenSession(questionnaire: "family"), options)
                let child = PutSubject(
                    questionnaire: "family", sessionId: session.id, subject: .ordered(), label: "Alva")
                _ = try await system.gateway.bus.call(child, options)
            }
            try await system.publish(QuestionnaireProvider.largerFamily.setting("version", to: 2))
            let bus = try system.voice(of: .operator)
            func batch(after: String? = nil, dryRun: Bool = false) async throws -> SessionsMigrated {
                try await bus.call(
                    MigrateSessions(questionnaire: "family", limit: 3, after: after, dryRun: dryRun),
                    CallOptions(timeout: .seconds(10)))
            }
            let dry = try await batch(dryRun: true)
            #expect(dry.sessions == 3 && dry.kept == 3 && dry.remaining == 4)
            let first = try await batch()
            #expect(first == dry, "a dry run tells what the real one does")
            let second = try await batch(after: first.next)
            let third = try await batch(after: second.next)
            #expect([second.sessions, third.sessions] == [3, 1] && third.next == nil && third.remaining == 0)
            let anew = try await batch()
            #expect(anew.sessions == 0 && anew.remaining == 0)
            let versions = try await system.rows(.questionnaire, "SELECT DISTINCT version FROM sessions")
            #expect(versions == "2")
        }
    }
}

extension JSONValue {
    fileprivate func setting(_ name: String, to value: JSONValue) -> JSONValue {
        .object((objectValue ?? [:]).merging([name: value]) { $1 })
    }
}
