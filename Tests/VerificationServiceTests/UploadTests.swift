import BusProtocol
import Cryptography
import EventLoop
import Foundation
import HTTPServer
import TestSupport
import Testing

@testable import VerificationService

@Suite @Loop struct UploadTests {
    @Test func aPictureIsKeptEncryptedAndItsAddressServesOnce() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let upload = try await media.promised(person)
            #expect(media.files.isEmpty, "no key before there is a picture")
            let sent = try await media.send(MediaStage.picture, to: upload.uploadUrl)
            #expect(sent.status == 204 && sent.headers["access-control-allow-origin"] == "*")
            #expect(try await media.stage.rows("SELECT media_id, state FROM media") == "\(upload.mediaId)|stored")
            #expect(media.files.filter { $0.hasPrefix("keys/photos/") }.count == 1)
            #expect(media.files.count == 2)
            #expect(media.bytes.firstRange(of: Array(MediaStage.canary.utf8)) == nil)
            let again = try await media.send(MediaStage.picture, to: upload.uploadUrl)
            #expect(again.status == 409 && again.json["code"] == "upload_used")
            let log = media.stage.log.text
            for secret in [MediaStage.canary, "signature", "\(upload.mediaId)", "\(person)"] {
                #expect(!log.contains(secret), "the log has \(secret)")
            }
        }
    }

    @Test func ofFiftyPicturesToOneAddressOneWins() async throws {
        try await MediaStage.run(replicas: 2) { media in
            let upload = try await media.promised(.random())
            let sent = try await atOnce(50) {
                try await media.send(MediaStage.picture, to: upload.uploadUrl).status
            }
            #expect(sent.filter { $0 == 204 }.count == 1 && sent.filter { $0 == 409 }.count == 49)
            #expect(media.files.count == 2)
        }
    }

    @Test func anUploadThatDiffersFromItsPromiseIsRefusedBeforeItsBody() async throws {
        try await MediaStage.run { media in
            let upload = try await media.promised(.random())
            let url = upload.uploadUrl
            // The bodies are announced and never sent.
            let refused: [(String, String, Int, String)] = [
                ("POST", "image/png", MediaStage.picture.count, "method_not_allowed"),
                ("PUT", "image/gif", MediaStage.picture.count, "unsupported_media_type"),
                ("PUT", "image/png", MediaStage.picture.count + 1, "body_too_large"),
                ("PUT", "image/png", 1, "validation_failed"),
            ]
            for (method, type, length, code) in refused {
                let sent = try await media.send([], to: url, method: method, type: type, length: length)
                #expect(
                    sent.json["code"] == .string(code) && sent.headers["content-type"] == "application/problem+json")
            }
            let forged = url.replacing("length=\(MediaStage.picture.count)", with: "length=9")
            #expect(try await media.send([], to: forged, length: 9).json["code"] == "forbidden")
            let other = url.replacing("\(upload.mediaId)", with: "\(Identifier.random())")
            #expect(try await media.send(MediaStage.picture, to: other).json["code"] == "forbidden")
            #expect(try await media.send(MediaStage.picture, to: url).status == 204, "no attempt used the address up")
            let person = Identifier.random()
            let bare = try await media.promised(person)
            #expect(try await media.send([], to: bare.uploadUrl, length: 0).json["code"] == "validation_failed")
            let origin = bare.uploadUrl.prefix { $0 != "?" }.dropLast("/uploads/\(bare.mediaId)".count)
            @Loop func signed(length: Int, for time: Duration) -> String {
                let reserved = media.store.reserved(
                    bare.mediaId, owner: person, contentType: "image/png", length: Int64(length),
                    expiresAt: .now() + time)
                return origin + reserved.url
            }
            let late = signed(length: MediaStage.picture.count, for: .seconds(-1))
            #expect(try await media.send(MediaStage.picture, to: late).status == 410)
            let large = 8 * 1024 * 1024 + 1
            let sent = try await media.send([], to: signed(length: large, for: .seconds(60)), length: large)
            #expect(sent.status == 413, "a signature does not make room")
            try await media.stage.rows("UPDATE media SET expires_at = now() - interval '1 second'")
            #expect(try await media.send(MediaStage.picture, to: bare.uploadUrl).json["code"] == "upload_used")
        }
    }

    @Test func anUploadThatIsNoPictureLeavesNothing() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            let upload = try await media.promised(person, length: 5)
            #expect(try await media.send(Array("hello".utf8), to: upload.uploadUrl).json["code"] == "image_unreadable")
            #expect(media.files.isEmpty)
            #expect(try await media.stage.rows("SELECT count(*) FROM media") == "0")
        }
    }

    @Test func aPictureIsOfTheTypeThatWasAnnounced() async throws {
        try await MediaStage.run { media in
            let upload = try await media.promised(.random(), type: "image/jpeg")
            let sent = try await media.send(MediaStage.picture, to: upload.uploadUrl, type: "image/jpeg")
            #expect(sent.status == 422 && sent.json["code"] == "image_unreadable" && media.files.isEmpty)
        }
    }

    @Test func anUploadMayEndAfterItsAddressExpires() async throws {
        try await MediaStage.run { media in
            let (person, container) = (Identifier.random(), media.stage.containers[0])
            let upload = try await media.promised(person)
            try await media.stage.rows("UPDATE media SET state = 'arriving'")
            let late = UploadAddress(
                media: upload.mediaId, owner: person, contentType: "image/png",
                length: Int64(MediaStage.picture.count), expires: 1)
            let target = late.target(KeyedHash(container.keys, purpose: "upload-address")).split(separator: "?")
            let head = HTTPRequestHead(method: "PUT", path: String(target[0]), query: String(target[1]))
            let listener = MediaListener(
                photos: PhotoStore(media: media.store, keys: container.keys), vault: media.vault, log: container.log,
                statistics: VerificationStatistics(container.database))
            #expect(await listener.answer(HTTPRequest(head: head)).status == 410, "it has no body")
            let (spool, picture) = (try await media.vault.spool(), MediaStage.picture)
            try await Loop.offload {
                for (number, start) in stride(from: 0, to: picture.count, by: HTTPServer.partLength).enumerated() {
                    try spool.write(Array(picture[start...].prefix(HTTPServer.partLength)), number: number)
                }
            }
            try await listener.take(MediaListener.Arrival(address: late, spool: spool))
            #expect(try await media.stage.rows("SELECT state FROM media") == "stored")
        }
    }

    @Test func anUploadIsEncryptedAndVanishesWithItsConnection() async throws {
        try await MediaStage.run { media in
            let upload = try await media.promised(.random())
            var client: RawClient? = try await media.sendAllButOneByte(of: MediaStage.picture, to: upload.uploadUrl)
            #expect(try await eventually { !media.arriving(atLeast: 100_000).isEmpty })
            let file = try #require(media.arriving().first)
            #expect(try [UInt8](Data(contentsOf: file)).firstRange(of: Array(MediaStage.canary.utf8)) == nil)
            #expect(client != nil && media.files.isEmpty)
            client = nil
            #expect(try await eventually { media.arriving().isEmpty })
            #expect(media.files.isEmpty)
        }
    }

    @Test func picturesThatArriveSlowlyTakeLittleMemory() async throws {
        try await MediaStage.run(replicas: 0) { media in
            let environment = media.stage.environment.merging(["LOG_LEVEL": "error"]) { $1 }
            let program = try ServiceProgram("VerificationService", environment)
            let picture = [UInt8](repeating: 1, count: 8 << 20)
            var clients: [RawClient] = []
            var before = 0
            for number in 0..<5 {
                let upload = try await media.promised(.random(), length: picture.count)
                clients.append(try await media.sendAllButOneByte(of: picture, to: upload.uploadUrl))
                let have = clients.count
                let hasArrived = try await eventually {
                    media.arriving(in: program.process, atLeast: picture.count - HTTPServer.partLength).count == have
                }
                try #require(hasArrived)
                if number == 0 { before = try Self.residentBytes(of: program.process) }
            }
            let grown = try Self.residentBytes(of: program.process) - before
            #expect(grown < 4 << 20, "four pictures of 8 MiB took \(grown) bytes")
            withExtendedLifetime(clients) {}
        }
    }

    private static func residentBytes(of process: pid_t) throws -> Int {
        let figures = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(figures[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test func noPartOfASpoolCanReplaceAnother() async throws {
        let folder = try ScratchFolder()
        try await Loop.offload {
            let length = HTTPServer.partLength
            let parts = [UInt8(1), 2, 3].map { [UInt8](repeating: $0, count: length) }
            // A file system may have no files without a name. Then the file loses its name.
            let file = try PictureSpool.unlinked(in: folder.path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            let spool = PictureSpool(file: file)
            for (number, part) in (parts + [[4]]).enumerated() { try spool.write(part, number: number) }
            #expect(try spool.read(3 * length + 1) == parts.joined() + [4])
            #expect(throws: MediaFolder.Failure.self) { try spool.read(5 * length) }
            let second = try MediaFolder.read(length + AESGCM.overhead, from: file, at: length + AESGCM.overhead)
            try MediaFolder.write(second, to: file, at: 0)
            #expect(throws: SealError.self) { try spool.read(length) }
        }
    }

    @Test func aBrowsersPreflightIsAnswered() async throws {
        try await MediaStage.run { media in
            let upload = try await media.promised(.random())
            let sent = try await media.send([], to: upload.uploadUrl, method: "OPTIONS")
            #expect(sent.status == 204 && sent.headers["access-control-allow-methods"] == "PUT")
            #expect(sent.headers["access-control-allow-credentials"] == nil)
        }
    }

    @Test func aPersonHasFewOpenUploads() async throws {
        try await MediaStage.run { media in
            let person = Identifier.random()
            for _ in 0..<10 { _ = try await media.promised(person) }
            await #expect(throws: BusError.self) { _ = try await media.promised(person) }
            #expect(try await media.stage.rows("SELECT uploads FROM upload_counts") == "10", "a refusal does not count")
            _ = try await media.promised(.random())
        }
    }

    @Test func theAddressBindsTypeLengthOwnerAndExpiry() throws {
        let key = KeyedHash(try KeyRing(contents: KeyRing.generate(id: "test")), purpose: "upload-address")
        let address = UploadAddress(
            media: .random(), owner: .random(), contentType: "image/png", length: 7, expires: 1000)
        let parts = address.target(key).split(separator: "?").map(String.init)
        #expect(UploadAddress(path: parts[0], query: parts[1], key) == address)
        for name in ["type", "length", "expires", "owner", "signature"] {
            let query = parts[1].replacing("\(name)=", with: "\(name)=1")
            #expect(UploadAddress(path: parts[0], query: query, key) == nil, "\(name) is signed")
        }
        #expect(address.refusal(contentType: "Image/PNG", length: 7, now: 999) == nil)
        #expect(address.refusal(contentType: "image/png", length: 7, now: 1000)?.code == "upload_expired")
        #expect(address.refusal(contentType: nil, length: 7, now: 0)?.code == "unsupported_media_type")
        #expect(address.refusal(contentType: "image/png", length: nil, now: 0)?.code == "validation_failed")
    }
}
