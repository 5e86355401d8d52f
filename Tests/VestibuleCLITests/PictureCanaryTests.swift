import Foundation
import JSONText
import TestSupport
import Testing

@testable import VestibuleCLI

/// The test sends a picture that contains a unique word as a profile's photo, a capture, a document and evidence of a
/// recovery. Then it searches for the word in all logs and in a backup.
@Suite struct PictureCanaryTests {
    private static let canaries = ["canarycomment", "canaryverdict", "canaryversion"]
    private static let operatorKey = Data("an operator's key of 32 bytes...".utf8).base64EncodedString()

    @Test func noCaptureLeavesItsBlobAndNoBackupMakesOneReadable() async throws {
        let system = try RunningSystem(
            scale: "auth=1",
            variables: ["LOG_LEVEL": "debug", "VERIFICATION_JUDGE": "staff", "GATEWAY_OPS_KEY": Self.operatorKey])
        defer { system.stop() }
        let state = system.installation.state
        // What traces say of each message is written down beside the logs.
        let tail = try system.installation.start("bus", "tail", "--json", "--state", state.path)
        defer {
            kill(tail, SIGTERM)
            _ = Subprocess.wait(tail)
        }
        try system.installation.wait("the first trace") { system.installation.text.contains("auth.follow-revocations") }
        let client = try HTTPClient(system.address)
        let person = try SignedIn(system, client, "+46709182736")
        let reviewer = try SignedIn(system, client, "+46709182737")
        try reviewer.becomeStaff()

        let picture = Self.picture()
        let photo = try person.send("POST", "/media", Self.promise(picture, kind: "profile_photo"), expect: 201)
        let photoAddress = try await Self.upload(picture, to: photo["uploadUrl"])
        let photos: JSONValue = ["photos": [photo["mediaId"] ?? .null]]
        let seven: JSONValue = ["photos": .array((0..<7).map { _ in .string("\(UUID())".lowercased()) })]
        let refused = try person.send("PUT", "/users/me/photos", seven, expect: 422)
        #expect(refused["code"] == "validation_failed")
        let shown = try person.send("PUT", "/users/me/photos", photos, expect: 200)["photos"]?.arrayValue?.first?["url"]
        let consent: JSONValue = [
            "biometric": true, "textVersion": "canaryversion", "at": .string(Date().ISO8601Format()),
        ]
        let begun = try person.send("POST", "/verification/session", ["consent": consent], expect: 201)
        let session = try #require(begun["sessionId"]?.stringValue)
        let capture = try person.send(
            "POST", "/verification/session/\(session)/capture", Self.promise(picture), expect: 201)
        let captureAddress = try await Self.upload(picture, to: capture["uploadUrl"])
        _ = try person.send(
            "POST", "/verification/session/\(session)/complete", [:], expect: 202,
            headers: ["Vestibule-Test-Verdict": "canaryverdict"])
        let seen = try reviewer.send("GET", "/admin/verification/\(session)", expect: 200)["captureUrl"]?.stringValue
        let window = Array(picture[2000..<2048])
        let served = try await Self.get(seen)
        #expect(served.status == 200 && served.body.firstRange(of: window) != nil, "the test looks for the right bytes")

        let (documentSession, document) = try await Self.sendDocument(picture, person, reviewer)
        let (recovery, evidence) = try await Self.sendEvidence(picture, system, reviewer)

        // What was written down while the photos were there.
        let metrics = try await Self.metrics(system)
        #expect(metrics.contains(#"vestibule_uploads_total{service="verification""#))
        let all = try Self.dump(state, [])
        let dump = try Self.dump(state, ["--schema", "verification"])
        #expect(all.contains(session) && dump.contains(session))
        let addresses =
            [photoAddress, captureAddress, try #require(seen), try #require(shown?.stringValue)] + document + evidence
        let secrets = try addresses.map {
            try #require($0.firstMatch(of: /signature=([^&]+)/)?.output.1)
        }.map(String.init)
        // Of these words, only the version of the consent is kept.
        let words = Self.canaries + secrets + Self.spellings(of: window)
        func search(_ texts: [(name: String, text: String)]) {
            for (name, text) in texts {
                let found = words.filter { text.contains($0) && !($0 == "canaryversion" && name == "dump") }
                #expect(found.isEmpty, "\(name)")
            }
        }
        try system.installation.wait("the traces of the pictures") {
            ["verification.add-capture", "recovery.see-picture"].allSatisfy(system.installation.text.contains)
        }
        search(try Self.files(of: state) + [("metrics", metrics), ("dump", all)])
        for folder in ["pictures", "picture-keys"] {
            let bytes = try Self.bytes(in: "\(state.path)/\(folder)")
            #expect(!bytes.isEmpty && bytes.firstRange(of: window) == nil)
        }

        // Last night's backup, as the operators' page says: the database, the bytes, and the keys of profile photos.
        let backup = "\(state.path)/backup"
        try Self.copy(["pictures", "picture-keys/photos"], from: state.path, to: backup)
        _ = try person.send("DELETE", "/verification/consent", expect: 204)
        let decision: JSONValue = ["verdict": "verified"]
        _ = try reviewer.send(
            "POST", "/admin/verification/\(documentSession)/decide-document", decision, expect: 204)
        _ = try reviewer.send("POST", "/admin/recovery/\(recovery)/reject", ["note": "Another face."], expect: 200)
        try system.installation.wait("the destruction of all but the profile's photo") {
            try Self.bytes(in: "\(state.path)/picture-keys/captures").isEmpty
                && Self.originals(in: "\(state.path)/pictures").count == 1
        }
        let spool = "\(state.spool)/push.jsonl"
        try system.installation.wait("the notice of the decision") {
            ((try? String(contentsOfFile: spool, encoding: .utf8)) ?? "").contains(documentSession)
        }
        search(try Self.files(of: state))
        try PostgresServer(state).query("vestibule", "BEGIN; DROP SCHEMA verification CASCADE; \(dump); COMMIT;")
        try Self.copy(["pictures", "picture-keys/photos"], from: backup, to: state.path)
        #expect(Self.originals(in: "\(state.path)/pictures").count == 5, "the bytes of the others are back")
        var again: String?
        try system.installation.wait("the restored review") {
            again = try? reviewer.send("GET", "/admin/verification/\(session)", expect: 200)["captureUrl"]?.stringValue
            return again != nil
        }
        let restored = try reviewer.send("GET", "/admin/verification/\(documentSession)", expect: 200)
        for url in [again, restored["captureUrl"]?.stringValue, restored["backUrl"]?.stringValue] {
            #expect(try await Self.get(url).status == 404, "and without its key nobody reads it")
        }
        #expect(try Self.bytes(in: "\(state.path)/picture-keys/captures").isEmpty, "nor the evidence")
        #expect(try await Self.get(shown?.stringValue).status == 200, "the profile's photo is there as before")
    }

    /// Sends both sides of a document, and lets a reviewer look.
    ///
    /// - Returns: the session, and the addresses, which are secrets.
    private static func sendDocument(
        _ picture: [UInt8], _ person: SignedIn, _ reviewer: SignedIn
    ) async throws -> (session: String, addresses: [String]) {
        let consent: JSONValue = [
            "document": true, "textVersion": "canaryversion", "at": .string(Date().ISO8601Format()),
        ]
        let begun = try person.send(
            "POST", "/verification/document/session", ["consent": consent], expect: 201)
        let session = try #require(begun["sessionId"]?.stringValue)
        var addresses: [String] = []
        for side in ["front", "back"] {
            let capture = try person.send(
                "POST", "/verification/session/\(session)/capture",
                promise(picture, side: side), expect: 201)
            addresses.append(try await upload(picture, to: capture["uploadUrl"]))
        }
        _ = try person.send("POST", "/verification/session/\(session)/complete", [:], expect: 202)
        let seen = try reviewer.send("GET", "/admin/verification/\(session)", expect: 200)
        for member in ["captureUrl", "backUrl"] {
            let url = try #require(seen[member]?.stringValue)
            #expect(try await get(url).status == 200)
            addresses.append(url)
        }
        return (session, addresses)
    }

    /// A claimant of another account sends a picture, and a reviewer looks at it beside what the account is known by.
    ///
    /// - Returns: the case, which the reviewer has taken, and the addresses, which are secrets.
    private static func sendEvidence(
        _ picture: [UInt8], _ system: RunningSystem, _ reviewer: SignedIn
    ) async throws -> (recovery: String, addresses: [String]) {
        let desk = try Desk(system)
        let (owner, claimant) = ("+46709182738", "+46709182739")
        _ = try desk.signUp(owner)
        let claim = try desk.claim(owner, by: claimant)
        try desk.endHolds()
        var promise = promise(picture).objectValue ?? [:]
        (promise["challengeId"], promise["code"]) = try desk.code(for: claimant, "recovery")
        let promised = try desk.send("POST", "\(claim.path)/pictures", .object(promise), claim.token)
        try #require(promised.status == 201)
        let sent = try await upload(picture, to: promised.body["uploadUrl"])
        let given = try desk.send(
            "POST", "\(claim.path)/identity", ["evidenceReference": "the picture"], claim.token)
        try #require(given.status == 202)
        try desk.untilJudged(claim)

        _ = try reviewer.send("POST", "/admin/recovery/\(claim.id)/claim", expect: 200)
        let page = try reviewer.send("GET", "/admin/recovery/\(claim.id)", expect: 200)
        let device = try #require(page["account"]?["devices"]?.arrayValue?.first?.objectValue)
        #expect(device.keys.sorted() == ["addedAt", "lastUsedAt", "platform"])
        #expect(page["account"]?["firstName"] == "Åsa")
        let text = String(decoding: CanonicalJSON.bytes(of: page), as: UTF8.self)
        #expect(!text.contains("7091827"), "no reviewer sees a number")
        let media = try #require(page["pictures"]?.arrayValue?.first?["mediaId"]?.stringValue)
        let seen = try reviewer.send("GET", "/admin/recovery/\(claim.id)/pictures/\(media)", expect: 200)
        let url = try #require(seen["url"]?.stringValue)
        #expect(try await get(url).status == 200)
        return (claim.id, [sent, url])
    }

    /// The demo's photo with a comment in it.
    private static func picture() -> [UInt8] {
        let comment = Array("canarycomment".utf8)
        let photo = DemoPhoto.jpeg()
        return photo.prefix(2) + [0xff, 0xfe, 0, UInt8(comment.count + 2)] + comment + photo.dropFirst(2)
    }

    private static func promise(_ picture: [UInt8], kind: String? = nil, side: String? = nil) -> JSONValue {
        var body: [String: JSONValue] = ["contentType": "image/jpeg", "length": .integer(Int64(picture.count))]
        if let kind { body["kind"] = .string(kind) }
        if let side { body["side"] = .string(side) }
        return .object(body)
    }

    private static func upload(_ picture: [UInt8], to url: JSONValue?) async throws -> String {
        let url = try #require(url?.stringValue)
        let parts = try #require(URLComponents(string: url))
        let head = """
            PUT \(parts.percentEncodedPath)?\(parts.percentEncodedQuery ?? "") HTTP/1.1\r
            Host: h\r
            Connection: close\r
            Content-Type: image/jpeg\r
            Content-Length: \(picture.count)\r
            \r

            """
        let sent = try await Exchange(port: try #require(parts.port), bytes: Array(head.utf8) + picture)
        try #require(sent.status == 204)
        return url
    }

    private static func get(_ url: String?) async throws -> Exchange {
        let parts = try #require(URLComponents(string: url ?? ""))
        return try await Exchange(
            port: try #require(parts.port),
            request: "GET \(parts.percentEncodedPath)?\(parts.percentEncodedQuery ?? "") HTTP/1.1\r\n"
                + "Host: h\r\nConnection: close\r\n\r\n")
    }

    private static func metrics(_ system: RunningSystem) async throws -> String {
        let port = try #require(Int(system.address.split(separator: ":")[1]))
        let request =
            "GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer \(operatorKey)\r\n\r\n"
        return try await Exchange(port: port, request: request).text
    }

    /// The bytes as a dump, a log or a document would write them.
    private static func spellings(of bytes: [UInt8]) -> [String] {
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        // Where the bytes begin within a group of three is not known.
        let base64 = (0..<3).map { Data(bytes.dropFirst($0).prefix(30)).base64EncodedString() }
        return [hex, hex.uppercased()] + base64
    }

    private static func dump(_ state: StateFolder, _ options: [String]) throws -> String {
        let database = try PostgresServer(state).superuser.replacing("dbname=postgres", with: "dbname=vestibule")
        let command = ["pg_dump", "--dbname", database] + options
        return try Subprocess.run(getuid() == 0 ? ["runuser", "-u", "postgres", "--"] + command : command)
    }

    private static func files(of state: StateFolder) throws -> [(name: String, text: String)] {
        let logs = names(in: state.logs).map { "\(state.logs)/\($0)" }
        let spooled = names(in: state.spool).map { "\(state.spool)/\($0)" }
        return (logs + spooled + [try PostgresServer(state).log]).map {
            ($0, String(decoding: FileManager.default.contents(atPath: $0) ?? Data(), as: UTF8.self))
        }
    }

    /// The names of the files in a folder, at any depth, without the one that names the database.
    private static func names(in folder: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return all.filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
                && !isFolder.boolValue
                && !$0.hasSuffix("database")
        }
    }

    /// The names of the pictures as they came. The smaller sizes of a profile's photo are made when there is time; their names
    /// have a dot.
    private static func originals(in folder: String) -> [String] { names(in: folder).filter { !$0.contains(".") } }

    private static func bytes(in folder: String) throws -> [UInt8] {
        names(in: folder).flatMap { [UInt8](FileManager.default.contents(atPath: "\(folder)/\($0)") ?? Data()) }
    }

    private static func copy(_ folders: [String], from source: String, to target: String) throws {
        for folder in folders {
            try FileManager.default.createDirectory(atPath: "\(target)/\(folder)", withIntermediateDirectories: true)
            try Subprocess.run(["cp", "-a", "\(source)/\(folder)/.", "\(target)/\(folder)"])
        }
    }
}

/// Somebody who is signed in.
private final class SignedIn {
    private let system: RunningSystem
    private let client: HTTPClient
    private var session: JSONValue

    init(_ system: RunningSystem, _ client: HTTPClient, _ phone: String) throws {
        (self.system, self.client) = (system, client)
        let sent = try client.send("POST", "/auth/otp/send", body: ["phone": .string(phone)])
        let spool = Spool(file: "\(system.installation.state.spool)/sms.jsonl")
        let sms = try spool.wait(for: "the SMS") { $0["to"]?.stringValue == phone }
        session =
            try client.send(
                "POST", "/auth/otp/verify",
                body: [
                    "challengeId": sent.body["challengeId"] ?? .null,
                    "code": .string(String(sms["body"]?.stringValue?.prefix(6) ?? "")),
                    "device": ["name": "Pixel 9", "platform": "android", "pushToken": .string("push of \(phone)")],
                ]
            ).body
    }

    func becomeStaff() throws {
        let person = try #require(session["user"]?["id"]?.stringValue)
        try system.sql("UPDATE auth.accounts SET role = 'staff' WHERE id = '\(person)'")
        session = try send(
            "POST", "/auth/token/refresh", ["refreshToken": session["refreshToken"] ?? .null], expect: 200)
    }

    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, expect: Int, headers: [String: String] = [:]
    ) throws -> JSONValue {
        var headers = headers
        headers["Authorization"] = "Bearer \(session["accessToken"]?.stringValue ?? "")"
        if method == "POST" { headers["Idempotency-Key"] = UUID().uuidString }
        let answer = try client.send(method, path, body: body, headers: headers)
        try #require(answer.status == expect, "\(method) \(path) answered \(answer.status): \(answer.body)")
        return answer.body
    }
}
