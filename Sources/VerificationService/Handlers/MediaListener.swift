import BusProtocol
import BusRuntime
import Cryptography
import EventLoop
import Foundation
import HTTPServer
import JSONText
import Languages
import ServiceRuntime

/// Takes pictures from apps over HTTP, and serves the photos of profiles. The reverse proxy publishes it.
///
/// A picture is on the disk while it arrives. A photo is in memory while it is sent, so the number of connections is
/// limited. No address, byte or person appears in the log.
@Loop struct MediaListener {
    let photos: PhotoStore
    /// `nil` if this replica has no folders, which is allowed in development only.
    let vault: MediaVault?
    let log: Log
    private let statistics: VerificationStatistics
    /// A picture takes three times its length in memory until it is kept.
    private let keeping = LoopSemaphore(4)
    /// It may take 80 MiB while it is checked.
    private let checking = LoopSemaphore(2)
    /// A photo takes its length twice while it is decrypted.
    private let reading = LoopSemaphore(8)
    private var media: MediaStore { photos.media }

    init(photos: PhotoStore, vault: MediaVault?, log: Log, statistics: VerificationStatistics) {
        (self.photos, self.vault, self.log, self.statistics) = (photos, vault, log, statistics)
    }

    /// Times for phones on slow networks.
    static func limits(connections: Int64) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.connections = Int(connections)
        limits.bodyTimeout = .seconds(300)
        limits.idleTimeout = .seconds(10)
        return limits
    }

    func server(host: String, port: Int, sharesPort: Bool, connections: Int64) -> HTTPServer {
        HTTPServer(
            host: host, port: port, sharesPort: sharesPort, limits: Self.limits(connections: connections),
            delegate: HTTPServer.Delegate(
                admission: { head, _ in admission(of: head) },
                errorResponse: { refusal, head, _ in
                    let response = HTTPServer.plain(refusal, head, "")
                    return head.map { allowing(response, $0) } ?? response
                }, handler: { await answer($0) }))
    }

    private func admission(of head: HTTPRequestHead) -> BodyAdmission {
        .upload(PictureHTTPUpload(head, to: self), limit: Int(UploadLimits.length))
    }

    /// A picture that is arriving, and the place where its bytes are kept meanwhile. Its address is used up.
    struct Arrival: Sendable {
        let address: UploadAddress
        let spool: PictureSpool
    }

    /// Checks everything before the body is read. The last check uses the address up, so that only one of many requests
    /// wins.
    func begin(_ head: HTTPRequestHead) async throws -> Arrival {
        let address = try checked(head)
        guard let vault else { throw Self.unavailable }
        guard try await media.begin(address) else { throw UploadAddress.used }
        return try await abandoning(address) { Arrival(address: address, spool: try await vault.spool()) }
    }

    private func checked(_ head: HTTPRequestHead) throws -> UploadAddress {
        guard head.path.hasPrefix(UploadAddress.folder) else { throw Self.unknown }
        guard head.method == "PUT" else { throw Self.wrongMethod }
        guard let address = media.address(path: head.path, query: head.query) else { throw UploadAddress.unknown }
        let lengths = head.headers.all("content-length")
        if let refusal = address.refusal(
            contentType: head.headers.first("content-type"),
            length: lengths.count == 1 ? Int64(lengths[0]) : nil,
            now: Timestamp.now().microsecondsSinceEpoch / 1_000_000)
        {
            throw refusal
        }
        return address
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let head = request.head
        if head.path.hasPrefix(PhotoAddress.folder) { return await photo(head) }
        if head.method == "OPTIONS", head.path.hasPrefix(UploadAddress.folder) {
            return allowing(HTTPResponse(status: 204, headers: ["access-control-max-age": "86400"]), head)
        }
        // A request with a body is an upload. A request without one is refused, since no picture is empty.
        do {
            _ = try checked(head)
            throw UploadAddress.used
        } catch {
            return failed(error, head)
        }
    }

    /// Checks and keeps a picture that has arrived. Its address may have expired meanwhile.
    func take(_ arrival: Arrival) async throws {
        let (address, spool) = (arrival.address, arrival.spool)
        guard let vault, let purpose = try await media.arriving(address.media) else { throw UploadAddress.used }
        try await keeping.take()
        defer { keeping.give() }
        let checked = try await abandoning(address) {
            try await checking.take()
            defer { checking.give() }
            let bytes = try await Loop.offload { try spool.read(Int(address.length)) }
            return try await Loop.compute { try PictureCheck.checked(bytes, contentType: address.contentType) }
        }
        // The permits may have taken a minute, in which the row may have ended.
        guard try await media.arriving(address.media) != nil else { throw UploadAddress.used }
        do {
            try await vault.put(checked, address.media, purpose)
        } catch {
            try? await media.destroyIfEnded(address.media, purpose)
            throw error
        }
        guard try await media.store(address.media, purpose, length: checked.count) else { throw UploadAddress.used }
    }

    /// Runs a step of an upload. If the step fails, the upload has failed, and its row is removed.
    func abandoning<Result: Sendable>(
        _ address: UploadAddress, _ step: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await step()
        } catch {
            try await media.abandon(address.media)
            throw error
        }
    }

    /// The response to a picture that was kept.
    func taken(_ head: HTTPRequestHead) -> HTTPResponse {
        statistics.countUpload(status: 204)
        return allowing(HTTPResponse(status: 204, headers: ["cache-control": "no-store"]), head)
    }

    // MARK: Photos

    private func photo(_ head: HTTPRequestHead) async -> HTTPResponse {
        do {
            return try await served(head)
        } catch {
            return failed(error, head)
        }
    }

    /// A browser with a copy of a photo asks each time whether it still exists. So a removed photo disappears at once.
    private func served(_ head: HTTPRequestHead) async throws -> HTTPResponse {
        guard head.method == "GET" || head.method == "HEAD" else { throw Self.wrongMethod }
        guard let address = photos.address(path: head.path, query: head.query) else { throw UploadAddress.unknown }
        guard Timestamp.now().microsecondsSinceEpoch / 1_000_000 < address.expires else { throw UploadAddress.expired }
        guard let shown = try await photos.shown(address.media) else { throw Self.unknown }
        let size = shown.purpose == .profilePhoto && shown.hasSizes ? address.size : nil
        do {
            if let size, let response = try await served(head, shown, address.media, size) { return response }
        } catch SealError.cannotOpen {
            log.error("photo_size_unreadable", ["media": .string(address.media.description)])
        }
        guard let response = try await served(head, shown, address.media, nil) else { throw Self.unknown }
        return response
    }

    /// The picture, or a smaller size of it; `nil` if there is none.
    private func served(
        _ head: HTTPRequestHead, _ shown: PhotoStore.Shown, _ id: Identifier, _ size: PhotoSize?
    ) async throws -> HTTPResponse? {
        let tag = "\"\(BlobName(id, size))\""
        let headers: HTTPHeaders = [
            "content-type": size == nil ? shown.contentType : "image/jpeg",
            "cache-control": shown.purpose == .profilePhoto ? "private, no-cache" : "no-store", "etag": tag,
            "content-security-policy": "default-src 'none'", "x-content-type-options": "nosniff",
            "cross-origin-resource-policy": "cross-origin", "access-control-allow-origin": "*",
        ]
        if head.headers.tokens("if-none-match").contains(tag),
            try await vault?.has(id, shown.purpose) == true
        {
            return HTTPResponse(status: 304, headers: headers)
        }
        try await reading.take()
        defer { reading.give() }
        guard let bytes = try await vault?.get(id, shown.purpose, size) else { return nil }
        return HTTPResponse(status: 200, headers: headers, body: bytes)
    }

    // MARK: Answers

    /// Runs a step, and turns its error into a problem document.
    func refusing(_ head: HTTPRequestHead, _ step: () async throws -> Void) async -> HTTPResponse? {
        do {
            try await step()
            return nil
        } catch {
            return failed(error, head)
        }
    }

    private func failed(_ error: any Error, _ head: HTTPRequestHead) -> HTTPResponse {
        let known = error as? BusError
        if known == nil { log.error("media_failed", ["error": .string(Log.name(of: error))]) }
        let answer = problem(known ?? Self.unavailable, head)
        if head.path.hasPrefix(UploadAddress.folder) { statistics.countUpload(status: answer.status) }
        return answer
    }

    /// A page of any origin may send here: the address alone identifies the sender, and cookies do not count.
    private func allowing(_ response: HTTPResponse, _ head: HTTPRequestHead) -> HTTPResponse {
        var response = response
        response.headers.set("access-control-allow-origin", "*")
        response.headers.set("access-control-allow-methods", "PUT")
        response.headers.set("access-control-allow-headers", "content-type")
        return response
    }

    private func problem(_ error: BusError, _ head: HTTPRequestHead) -> HTTPResponse {
        let wanted = LanguagePreference(head.headers.first("accept-language") ?? "")
        let language = Language.named(wanted.choose(from: Language.all.map(\.tag), fallback: "en"))
        let code = Self.codes.first { $0.name == error.code } ?? .internalError
        var document: [String: JSONValue] = [
            "type": .string("urn:vestibule:problem:\(code.name)"),
            "title": .string(language.translation(of: code.title)),
            "status": .integer(Int64(code.httpStatus)), "code": .string(code.name),
            "detail": .string(language.translation(of: error.detail)),
        ]
        var headers: HTTPHeaders = [
            "content-type": "application/problem+json", "cache-control": "no-store", "content-language": language.tag,
            "vary": "Accept-Language",
        ]
        if code.httpStatus == 503 {
            document["retryAfterSeconds"] = .integer(1)
            headers.set("retry-after", "1")
        }
        if code.httpStatus == 405 {
            headers.set("allow", head.path.hasPrefix(PhotoAddress.folder) ? "GET, HEAD" : "PUT, OPTIONS")
        }
        return allowing(
            HTTPResponse(status: code.httpStatus, headers: headers, body: CanonicalJSON.bytes(of: .object(document))),
            head)
    }

    private static let codes: [ErrorCode] = [
        .notFound, .methodNotAllowed, .forbidden, .uploadExpired, .uploadUsed, .unsupportedMediaType, .bodyTooLarge,
        .validationFailed, .imageUnreadable, .serviceUnavailable,
    ]
    private static let unknown = BusError(.notFound, "There is nothing here.")
    private static let wrongMethod = BusError(.methodNotAllowed, "This method has no meaning here.")
    private static let unavailable = BusError(
        .serviceUnavailable, "This part of the service is not available right now. Please try again.")
}
