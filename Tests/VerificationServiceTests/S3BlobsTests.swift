import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import HTTPServer
import TestSupport
import Testing

@testable import VerificationService

@Suite("pictures in a bucket") @Loop struct S3BlobsTests {
    private static let bytes: [UInt8] = [0, 255, 13, 10, 128]

    private static func blobs(_ url: String, _ patience: S3Blobs.Patience = quick) throws -> S3Blobs {
        S3Blobs(
            bucket: try #require(URL(string: url + "/pictures")), region: "eu-north-1",
            credentials: .init(accessKey: "AKIDEXAMPLE", secretKey: "a secret of the test"), patience: patience)
    }

    private static var quick: S3Blobs.Patience {
        .init(transfer: .seconds(5), request: .seconds(5), pauses: [.milliseconds(1), .milliseconds(1)])
    }

    @Test func bytesArePutFoundListedAndRemoved() async throws {
        try await Bucket.run { bucket in
            let blobs = try Self.blobs(bucket.url)
            let ids = (0..<5).map { _ in Identifier.random() }
            for id in ids { try await blobs.put(Self.bytes, BlobName(id)) }
            #expect(try await blobs.get(BlobName(ids[0])) == Self.bytes)
            #expect(try await blobs.home().isEmpty)
            try await blobs.setHome(Array("home".utf8))
            #expect(try await blobs.home() == Array("home".utf8))
            func listed(before time: Date) async throws -> [Identifier] {
                var all: [Identifier] = []
                try await blobs.list(before: time) { all += $0 }
                return all
            }
            #expect(try await listed(before: Bucket.modified + 1) == ids.sorted { $0.description < $1.description })
            #expect(try await listed(before: Bucket.modified).isEmpty, "they may still be arriving")
            for _ in 0..<2 { try await blobs.delete(BlobName(ids[0])) }
            #expect(try await blobs.get(BlobName(ids[0])) == nil)
            #expect(bucket.objects.count == 5, "four pictures and the identity of the database")
        }
    }

    @Test func overloadIsRetriedAndRefusalsAreNot() async throws {
        try await Bucket.run { bucket in
            let (blobs, id) = (try Self.blobs(bucket.url), Identifier.random())
            bucket.refusals = [(503, "SlowDown"), (500, "InternalError")]
            try await blobs.put(Self.bytes, BlobName(id))
            #expect(bucket.requests == 3 && bucket.objects[id.description] == Self.bytes)
            bucket.refusals = [(503, "SlowDown"), (503, "SlowDown"), (503, "SlowDown")]
            await Self.expect("http_503_SlowDown") { _ = try await blobs.get(BlobName(id)) }
            for (status, code) in [(403, "SignatureDoesNotMatch"), (404, "NoSuchBucket"), (400, "a <b> \u{1b}")] {
                (bucket.refusals, bucket.requests) = ([(status, code)], 0)
                await Self.expect("http_\(status)\(status == 400 ? "" : "_\(code)")") {
                    _ = try await blobs.get(BlobName(id))
                }
                #expect(bucket.requests == 1)
            }
            (bucket.refusals, bucket.requests) = ([(503, "SlowDown")], 0)
            await Self.expect("http_503_SlowDown") { try await blobs.delete(BlobName(id)) }
            #expect(bucket.requests == 1, "whoever destroys comes again anyway")
        }
    }

    @Test func aHangingServerTimesOut() async throws {
        let server = try ProviderServer(.hangs)
        var patience = Self.quick
        (patience.transfer, patience.request, patience.pauses) = (.milliseconds(50), .milliseconds(50), [])
        let blobs = try Self.blobs(server.url, patience)
        await Self.expect("no_answer") { try await blobs.put(Self.bytes, BlobName(.random())) }
        await Self.expect("no_answer") { try await blobs.delete(BlobName(.random())) }
        await server.stop()
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let other = try ProviderServer(.answers(status: 200, body: ""))
        let server = try ProviderServer(.redirects(to: other.url))
        await Self.expect("http_307") { try await Self.blobs(server.url).put(Self.bytes, BlobName(.random())) }
        #expect(other.requests.isEmpty)
        await server.stop()
        await other.stop()
    }

    /// Half a picture is no picture, and a longer one is not read to its end.
    @Test(arguments: [
        ("Content-Length: 100\r\n", 50, "transfer closed with 50 bytes remaining to read"),
        ("", 9 << 20, "answer_too_large"),
    ])
    func anAnswerOfAnotherLengthIsRefused(header: String, count: Int, reason: String) async throws {
        let server = try OneAnswer("HTTP/1.1 200 OK\r\n\(header)Connection: close\r\n\r\n", bytes: count)
        var patience = Self.quick
        patience.pauses = []
        let blobs = try Self.blobs(server.url, patience)
        await Self.expect(reason) { _ = try await blobs.get(BlobName(.random())) }
    }

    private static func expect(_ reason: String, _ body: @Loop () async throws -> Void) async {
        do {
            try await body()
            Issue.record("\(reason) was expected")
        } catch {
            #expect((error as? S3Blobs.Failure)?.reason == reason, "\(error)")
        }
    }

    // MARK: The service with a bucket

    @Test func theBucketGetsEncryptedBytesAndLosesThem() async throws {
        try await Self.withService { bucket, media in
            let person = Identifier.random()
            let photo = try await media.arrived(person)
            let url = try #require(
                try await media.ask(PutPhotos(photos: [photo]), person).photos.first?.url)
            #expect(try await media.get(url).status == 200)
            let stored = try #require(bucket.objects[photo.description])
            let pixels = Array(MediaStage.small.suffix(40).prefix(16))
            #expect(stored.firstRange(of: pixels) == nil && bucket.objects["database"] != nil)
            bucket.refusals = [(503, "SlowDown"), (503, "SlowDown"), (503, "SlowDown")]
            let upload = try await media.promised(person)
            #expect(try await media.send(MediaStage.picture, to: upload.uploadUrl).status == 503)
            #expect(media.stage.log.text.contains("s3_put_http_503_SlowDown"))
            _ = try await media.ask(DeletePhoto(mediaId: photo), person)
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            try await media.untilDestroyed()
            #expect(Set(bucket.objects.keys) == ["database"] && media.files.isEmpty)
        }
    }

    /// Keys are gone, other replicas and statements go on, and nothing is noted before the bytes are gone, too. Removals do
    /// not wait for each other.
    @Test func aSlowBucketDelaysOnlyTheRecordOfDestruction() async throws {
        try await Self.withService { bucket, media in
            for _ in 0..<2 { _ = try await media.arrived(.random()) }
            let outage = bucket.hang()
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            let isAsked = try await eventually {
                media.stage.containers[0].hurry()
                return bucket.removals == 2
            }
            #expect(isAsked && media.files.isEmpty && bucket.objects.count == 3)
            let rows = try await media.stage.rows("SELECT due_at > now() FROM destructions FOR UPDATE NOWAIT")
            #expect(rows == "t\nt", "they are taken, and not locked")
            outage.resolve(.success(()))
            try await media.untilDestroyed()
            #expect(Set(bucket.objects.keys) == ["database"])
            #expect(try await media.stage.rows(Self.noted) == "2")
        }
    }

    /// What was taken may be written once more, or be taken by another replica.
    @Test func aDestructionRescheduledMeanwhileKeepsItsRow() async throws {
        try await Self.withService { bucket, media in
            _ = try await media.arrived(.random())
            let outage = bucket.hang()
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            let isAsked = try await eventually {
                media.stage.containers[0].hurry()
                return bucket.removals == 1
            }
            #expect(isAsked)
            try await media.stage.rows("UPDATE destructions SET due_at = now()")
            outage.resolve(.success(()))
            try await media.untilDestroyed()
            #expect(bucket.removals >= 6, "all objects are removed again")
            #expect(try await media.stage.rows(Self.noted) == "1")
        }
    }

    /// The bucket does not answer. Keys are destroyed nevertheless, and bytes once it answers again.
    @Test func manyKeysAreDestroyedWhileTheBucketHangs() async throws {
        try await Self.withService { bucket, media in
            let count = 200
            // The search for objects without a row would find all of them.
            bucket.pageLength = 0
            let rows = try await media.stage.rows(
                """
                INSERT INTO destructions (media_id, purpose, reason, due_at)
                SELECT gen_random_uuid(), 'verification', 'withdrawn', now() + interval '1 h'
                FROM generate_series(1, \(count)) RETURNING media_id
                """)
            for picture in rows.split(separator: "\n").compactMap({ Identifier(String($0)) }) {
                try MediaFolder(path: media.keys + "/captures").write(Self.bytes, BlobName(picture))
                bucket.objects[picture.description] = Self.bytes
            }
            #expect(media.files.count == count && bucket.objects.count == count + 1)

            let outage = bucket.hang()
            try await media.stage.rows("UPDATE destructions SET due_at = now()")
            // Without the five seconds between two looks at what is due.
            let destroyed = try await eventually {
                media.stage.containers[0].hurry()
                return try await media.stage.rows("SELECT count(key_destroyed_at) FROM destructions") == "\(count)"
            }
            #expect(destroyed && media.files.isEmpty)
            #expect(bucket.objects.count == count + 1, "the bucket hangs")

            outage.resolve(.success(()))
            try await media.stage.rows("UPDATE destructions SET due_at = now()")
            let removed = try await eventually {
                media.stage.containers[0].hurry()
                return try await media.stage.rows("SELECT count(*) FROM destructions") == "0"
            }
            #expect(removed)
            #expect(Set(bucket.objects.keys) == ["database"])
            let noted = "SELECT count(*) FROM audit WHERE act = 'media_destroyed'"
            #expect(try await media.stage.rows(noted) == "\(count)")
        }
    }

    @Test func aKeyThatIsWrittenLateIsDestroyedWhileTheBucketHangs() async throws {
        try await Self.withService { bucket, media in
            let picture = Identifier.random()
            let outage = bucket.hang()
            try MediaFolder(path: media.keys + "/captures").write(Self.bytes, BlobName(picture))
            try await media.stage.rows(
                """
                INSERT INTO destructions (media_id, purpose, reason, due_at, key_destroyed_at)
                VALUES ('\(picture)', 'verification', 'withdrawn', now(), now())
                """)
            let isGone = try await eventually {
                media.stage.containers[0].hurry()
                return media.files.isEmpty
            }
            #expect(isGone)
            outage.resolve(.success(()))
        }
    }

    /// A replica that starts asks the bucket whose pictures it has. Keys do not wait for the answer.
    @Test func aReplicaThatStartsWhileTheBucketHangsDestroysKeys() async throws {
        try await Self.withService { bucket, media in
            _ = try await media.arrived(.random())
            await media.stage.containers[0].stop(notice: .zero)
            let outage = bucket.hang()
            try await media.stage.rows("UPDATE media SET expires_at = now()")
            let replica = try await media.stage.addReplica()
            #expect(try await eventually { media.files.isEmpty })
            #expect(replica.bus.state != .ready)
            outage.resolve(.success(()))
            #expect(try await eventually { replica.bus.state == .ready })
            let isGone = try await eventually {
                replica.hurry()
                return Set(bucket.objects.keys) == ["database"]
            }
            #expect(isGone)
        }
    }

    private static let noted = """
        SELECT count(*) FROM audit WHERE act = 'media_destroyed' AND details::jsonb ->> 'reason' = 'expired'
        """

    private nonisolated static func withService(
        _ body: @escaping @Loop @Sendable (Bucket, MediaStage) async throws -> Void
    ) async throws {
        try await Bucket.run { bucket in
            let folder = try ScratchFolder()
            let environment = [
                "VERIFICATION_HTTP": "127.0.0.1:0", "VERIFICATION_BLOBS": "s3://pictures",
                "VERIFICATION_KEY_STORE": folder.path + "/keys", "VERIFICATION_S3_URL": bucket.url,
                "VERIFICATION_S3_KEY_ID": "AKIDEXAMPLE", "VERIFICATION_S3_KEY": "a secret of the test",
                // The making of sizes asks the bucket, too.
                "VERIFICATION_VIPSTHUMBNAIL": "/nowhere/vipsthumbnail",
            ]
            try await ServiceStage.run(VerificationServiceDefinition.definition, environment: environment) { stage in
                let media = MediaStage(stage: stage, gateway: try stage.asking(as: .gateway), folder: folder)
                try await stage.untilReady()
                try await body(bucket, media)
            }
        }
    }
}

/// A bucket in memory, which answers as S3 does.
@Loop private final class Bucket {
    static let modified = Date(timeIntervalSince1970: 1_700_000_000)
    var objects: [String: [UInt8]] = [:]
    /// The next answers, before it works again.
    var refusals: [(status: Int, code: String)] = []
    var requests = 0
    /// How many objects it lists at a time.
    var pageLength = 2
    /// What all answers wait for, if anything.
    private var outage: LoopPromise<Void>?
    /// How many objects were to be removed.
    private(set) var removals = 0
    private var server: HTTPServer?
    var url: String { "http://127.0.0.1:\(server?.boundPort ?? 0)" }

    nonisolated static func run(_ body: @escaping @Loop @Sendable (Bucket) async throws -> Void) async throws {
        let test = Loop.spawn {
            let bucket = try await Bucket()
            do {
                try await body(bucket)
            } catch {
                await bucket.stop()
                throw error
            }
            await bucket.stop()
        }
        try await test.value
    }

    private func stop() async { await server?.drain(within: .zero) }

    /// Answers nothing until the caller resolves what this returns.
    func hang() -> LoopPromise<Void> {
        let outage = LoopPromise<Void>()
        self.outage = outage
        return outage
    }

    private init() throws {
        let server = HTTPServer(
            host: "127.0.0.1", port: 0,
            delegate: HTTPServer.Delegate { [weak self] in await self?.answer($0) ?? HTTPResponse(status: 500) })
        try server.start()
        self.server = server
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        requests += 1
        if request.head.method == "DELETE" { removals += 1 }
        try? await outage?.get()
        let headers = request.head.headers
        guard headers.first("authorization")?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") == true,
            headers.first("x-amz-content-sha256") == Hex.encode(SHA256.digest(request.body))
        else { return Self.error(403, "AccessDenied") }
        if !refusals.isEmpty {
            let (status, code) = refusals.removeFirst()
            return Self.error(status, code)
        }
        let parts = request.head.path.split(separator: "/").map(String.init)
        guard parts.first == "pictures" else { return Self.error(404, "NoSuchBucket") }
        guard parts.count == 2 else { return list(request.head.query ?? "") }
        switch request.head.method {
        case "PUT": objects[parts[1]] = request.body
        case "DELETE":
            objects[parts[1]] = nil
            return HTTPResponse(status: 204)
        default:
            guard let bytes = objects[parts[1]] else { return Self.error(404, "NoSuchKey") }
            return HTTPResponse(status: 200, body: bytes)
        }
        return HTTPResponse(status: 200)
    }

    private func list(_ query: String) -> HTTPResponse {
        let after = query.components(separatedBy: "start-after=").last.map { $0.prefix { $0 != "&" } } ?? ""
        let names = objects.keys.sorted().filter { $0 > after }
        let rows = names.prefix(pageLength).map {
            "<Contents><Key>\($0)</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified></Contents>"
        }
        let goesOn = "<IsTruncated>\(names.count > pageLength)</IsTruncated>"
        let text = "<ListBucketResult>\(goesOn)\(rows.joined())</ListBucketResult>"
        return HTTPResponse(status: 200, body: Array(text.utf8))
    }

    private static func error(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(status: status, body: Array("<Error><Code>\(code)</Code></Error>".utf8))
    }
}

/// Answers one request with a head and zeros, and closes the connection.
private struct OneAnswer {
    let url: String

    init(_ head: String, bytes count: Int) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard result else { throw POSIXError(.EIO) }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread {
            let connection = accept(listener, nil, nil)
            var room = [UInt8](repeating: 0, count: 65_536)
            _ = recv(connection, &room, room.count, 0)
            let answer = Array(head.utf8) + [UInt8](repeating: 0, count: count)
            var sent = 0
            while sent < answer.count {
                let some = answer[sent...].withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if some <= 0 { break }
                sent += some
            }
            close(connection)
            close(listener)
        }.start()
    }
}
