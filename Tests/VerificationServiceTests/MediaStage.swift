import BusProtocol
import BusRuntime
import Database
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import VerificationService

/// The service with its folders and its listener, and a gateway that asks it.
@Loop struct MediaStage {
    let stage: ServiceStage
    let gateway: Bus
    let folder: ScratchFolder
    var blobs: String { folder.path + "/blobs" }
    var keys: String { folder.path + "/keys" }

    nonisolated static func run(
        judge: String = "staff", replicas: Int = 1, variables: [String: String] = [:],
        _ body: @escaping @Loop @Sendable (MediaStage) async throws -> Void
    ) async throws {
        let folder = try ScratchFolder()
        let environment = [
            "VERIFICATION_HTTP": "127.0.0.1:0", "VERIFICATION_BLOBS": folder.path + "/blobs",
            "VERIFICATION_KEY_STORE": folder.path + "/keys", "VERIFICATION_JUDGE": judge,
            // Each service runs it at its start, and most tests need no smaller sizes.
            "VERIFICATION_VIPSTHUMBNAIL": folder.path + "/none",
        ].merging(variables) { $1 }
        try await ServiceStage.run(
            VerificationServiceDefinition.definition, replicas: replicas, environment: environment
        ) { stage in
            let media = MediaStage(stage: stage, gateway: try stage.asking(as: .gateway), folder: folder)
            try await stage.untilReady()
            try await body(media)
        }
    }

    func ask<Request: BusRequest>(_ request: Request, _ person: Identifier) async throws -> Request.Reply {
        let actor = Actor(userID: person, sessionID: .ordered(), role: .user)
        let key = Request.rules.effect == .once ? "key of \(Identifier.random())" : nil
        return try await gateway.call(
            request, CallOptions(timeout: .seconds(10), actor: actor, idempotencyKey: key))
    }

    /// An upload whose address is at the listener of a replica.
    func promised(
        _ person: Identifier, length: Int = MediaStage.picture.count, type: String = "image/png"
    ) async throws -> UploadCreated {
        // The listener starts a moment after the replica is ready.
        while true {
            let upload = try await ask(
                CreateUpload(kind: "profile_photo", contentType: type, length: Int64(length)), person)
            if upload.uploadUrl.hasPrefix("http") { return upload }
            try await stage.rows("DELETE FROM media WHERE person_id IS NOT NULL; DELETE FROM upload_counts")
            try await Loop.sleep(for: .milliseconds(10))
        }
    }

    /// Sends bytes to an address.
    func send(
        _ bytes: [UInt8], to url: String, method: String = "PUT", type: String = "image/png", length: Int? = nil
    ) async throws -> Exchange {
        let (port, head) = try Self.head(of: url, method: method, type: type, length: length ?? bytes.count)
        return try await Exchange(port: port, bytes: head + bytes)
    }

    private static func head(
        of url: String, method: String = "PUT", type: String = "image/png", length: Int
    ) throws -> (port: Int, head: [UInt8]) {
        guard let url = URLComponents(string: url), let port = url.port else { throw URLError(.badURL) }
        let head =
            "\(method) \(url.percentEncodedPath)?\(url.percentEncodedQuery ?? "") HTTP/1.1\r\nHost: h\r\n"
            + "Connection: close\r\nContent-Type: \(type)\r\nContent-Length: \(length)\r\n\r\n"
        return (port, Array(head.utf8))
    }

    /// Sends all but the last byte to an address, and waits.
    func sendAllButOneByte(of bytes: [UInt8], to url: String) async throws -> RawClient {
        let (port, head) = try Self.head(of: url, length: bytes.count)
        let client = try RawClient(port: port)
        // `dropLast` of a sequence copies byte by byte.
        try await client.send(head + bytes[..<(bytes.count - 1)])
        return client
    }

    /// A picture that has arrived.
    func arrived(_ person: Identifier) async throws -> Identifier {
        let upload = try await promised(person)
        guard try await send(Self.picture, to: upload.uploadUrl).status == 204 else {
            throw URLError(.badServerResponse)
        }
        return upload.mediaId
    }

    /// The files in the folders, without their paths.
    var files: [String] {
        let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.split(separator: "/").last?.count ?? 0 >= 36 }.sorted()
    }

    /// Makes the keys of captures unreadable for a while, or readable again.
    func setKeys(away: Bool) throws {
        let (present, hidden) = (keys + "/captures", keys + "/hidden")
        if away {
            guard rename(present, hidden) == 0, FileManager.default.createFile(atPath: present, contents: nil) else {
                throw POSIXError(.EIO)
            }
        } else {
            guard unlink(present) == 0, rename(hidden, present) == 0 else { throw POSIXError(.EIO) }
        }
    }

    /// Every row of every table, as text.
    func everything() async throws -> String {
        let tables = try await stage.rows(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname LIKE 'verif%'")
        var all = ""
        for table in tables.split(separator: "\n") {
            all += try await stage.rows("SELECT string_agg(t::text, '') FROM \(table) t")
        }
        #expect(all.contains("m0001_media"), "the tables are read")
        return all
    }

    /// Every byte in the folders.
    var bytes: [UInt8] {
        files.flatMap { [UInt8](FileManager.default.contents(atPath: "\(folder.path)/\($0)") ?? Data()) }
    }

    /// Pictures that arrive: the files that a process has open here and that have no name, with at least so many bytes.
    func arriving(in process: pid_t = getpid(), atLeast length: Int = 0) -> [URL] {
        let descriptors = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
        return names.map { URL(filePath: "\(descriptors)/\($0)") }.filter { file in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)
            guard let target, target.hasPrefix(folder.path), target.hasSuffix(" (deleted)") else { return false }
            var status = stat()
            return stat(file.path, &status) == 0 && status.st_size >= length
        }
    }

    /// A PNG of 8 by 8 pixels. It has a comment that must appear nowhere, in the picture and behind its end, and arrives in
    /// several parts.
    static let picture = small + Array(repeatElement(Array(canary.utf8), count: 15_000).joined())
    /// The same without what stands behind its end.
    static let small = [UInt8](
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAE3RFWHRDb21tZW50AGNhbmFyeS0zZjlhhzsB5QAAABFJREFU"
                + "eJxjiKo4gRUxDC0JAPGRZoHNlH3HAAAAAElFTkSuQmCC") ?? Data())
    static let canary = "canary-3f9a"
}
