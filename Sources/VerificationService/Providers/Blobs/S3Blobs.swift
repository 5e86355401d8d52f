import Cryptography
import EventLoop
import Foundation
import FoundationNetworking
import ProcessRuntime
import ProviderHTTP
import Values

/// A bucket of a server that speaks S3. Each picture, and each smaller size of it, is one object under its name.
///
/// The server gets encrypted bytes only. Nobody can read them without the keys, and the server never gets these.
struct S3Blobs: BlobStore {
    /// Why the server did not carry out a request. It contains nothing that was sent.
    struct Failure: Error, LogNamed {
        let call: String
        /// Such as `no_answer`, `http_503` or `http_403_AccessDenied`.
        let reason: String
        /// Whether the same request may succeed later.
        let isPassing: Bool
        var logName: String { "s3_\(call)_\(reason)" }
    }

    /// How long to wait for the server, and how often to ask it.
    struct Patience {
        /// Of one request that carries a picture.
        var transfer = Duration.seconds(30)
        /// Of any other request.
        var request = Duration.seconds(5)
        /// The pauses before a request is repeated.
        var pauses = [Duration.milliseconds(200), .milliseconds(800)]
    }

    /// The address of the bucket, with the bucket as its path.
    private let bucket: URL
    private let signer: AWSSigner
    private let patience: Patience

    /// - Parameter bucket: the server's address with the name of the bucket as its path.
    init(bucket: URL, region: String, credentials: AWSSigner.Credentials, patience: Patience = Patience()) {
        (self.bucket, self.patience) = (bucket, patience)
        signer = AWSSigner(credentials, region: region, service: "s3")
    }

    // MARK: Pictures

    func put(_ bytes: [UInt8], _ name: BlobName) async throws { try await put(bytes, name.description) }

    func get(_ name: BlobName) async throws -> [UInt8]? {
        try await get(name.description, atMost: Int(UploadLimits.length) + 1024)
    }

    /// The request is not repeated here: the destruction of a picture is tried again anyway.
    func delete(_ name: BlobName) async throws {
        do {
            _ = try await ask("delete", Request(method: "DELETE", object: name.description), pauses: [])
        } catch let failure as Failure where failure.reason == Self.missing {
            // It is gone.
        }
    }

    func list(before time: Date, _ some: @Loop ([Identifier]) async throws -> Void) async throws {
        var last = ""
        repeat {
            let query = [("list-type", "2"), ("start-after", last)]
            let page = S3Page(try await ask("list", Request(query: query, most: 2 << 20), pauses: patience.pauses))
            let old = page.objects.filter { $0.modified < time }.compactMap { BlobName.media(of: $0.name) }
            if !old.isEmpty { try await some(old) }
            guard page.goesOn, let next = page.objects.last?.name, next > last else { return }
            last = next
        } while true
    }

    func home() async throws -> [UInt8] { try await get("database", atMost: 1024) ?? [] }
    func setHome(_ identity: [UInt8]) async throws { try await put(identity, "database") }

    // MARK: Requests

    private struct Request {
        var method = "GET"
        var object = ""
        var query: [(name: String, value: String)] = []
        var body: [UInt8]?
        /// The largest answer.
        var most = 65_536
    }

    private static let missing = "http_404_NoSuchKey"

    private func put(_ bytes: [UInt8], _ object: String) async throws {
        _ = try await ask("put", Request(method: "PUT", object: object, body: bytes), pauses: patience.pauses)
    }

    private func get(_ object: String, atMost most: Int) async throws -> [UInt8]? {
        do {
            return try await ask("get", Request(object: object, most: most), pauses: patience.pauses)
        } catch let failure as Failure where failure.reason == Self.missing {
            return nil
        }
    }

    /// Repeats a request that may succeed later. All requests may be repeated: a second one changes nothing more.
    private func ask(_ call: String, _ request: Request, pauses: [Duration]) async throws -> [UInt8] {
        for pause in pauses {
            do {
                return try await once(call, request)
            } catch let failure as Failure where failure.isPassing {
                try await Loop.sleep(for: pause)
            }
        }
        return try await once(call, request)
    }

    private func once(_ call: String, _ request: Request) async throws -> [UInt8] {
        let limit = request.body != nil || request.most > 2 << 20 ? patience.transfer : patience.request
        let answer: ProviderAnswer
        switch await ProviderClient.ask(try await signed(request), within: limit, atMost: request.most) {
        case .success(let given): answer = given
        case .failure(let failure):
            throw Failure(call: call, reason: failure.reason, isPassing: failure.reason != "answer_too_large")
        }
        guard !(200...299).contains(answer.status) else { return answer.body }
        let code = S3Page.text(of: "Code", in: String(decoding: answer.body.prefix(4096), as: UTF8.self))
        let word = code.flatMap { $0.wholeMatch(of: /[A-Za-z]{1,64}/) }.map { "_\($0.output)" } ?? ""
        throw Failure(
            call: call, reason: "http_\(answer.status)\(word)", isPassing: answer.status >= 500 || answer.status == 429)
    }

    private func signed(_ request: Request) async throws -> URLRequest {
        let body = request.body ?? []
        // A picture has megabytes.
        let hash = try await Loop.compute { Hex.encode(SHA256.digest(body)) }
        let path = request.object.isEmpty ? bucket.path : "\(bucket.path)/\(request.object)"
        let port = bucket.port.map { ":\($0)" } ?? ""
        let headers = [("host", "\(bucket.host ?? "")\(port)"), ("x-amz-content-sha256", hash)]
        let added = signer.headers(
            for: .init(method: request.method, path: path, query: request.query, headers: headers, payloadHash: hash),
            at: Timestamp.now().microsecondsSinceEpoch / 1_000_000)
        var address = URLComponents()
        (address.scheme, address.host, address.port) = (bucket.scheme, bucket.host, bucket.port)
        address.percentEncodedPath = AWSSigner.Request.encode(path, keeping: "/")
        if !request.query.isEmpty { address.percentEncodedQuery = AWSSigner.Request.encode(request.query) }
        guard let url = address.url else { throw URLError(.badURL) }
        var asked = URLRequest(url: url)
        asked.httpMethod = request.method
        asked.httpBody = request.body.map { Data($0) }
        for (name, value) in added + [headers[1]] { asked.setValue(value, forHTTPHeaderField: name) }
        return asked
    }
}

/// One page of a list of objects, as S3 writes it in XML.
struct S3Page {
    struct Object: Equatable {
        let name: String
        let modified: Date
    }

    /// In the order of their names.
    let objects: [Object]
    /// Whether there are more behind the last one.
    let goesOn: Bool

    init(_ xml: [UInt8]) {
        let text = String(decoding: xml, as: UTF8.self)
        goesOn = Self.text(of: "IsTruncated", in: text) == "true"
        objects = text.components(separatedBy: "<Contents>").dropFirst().compactMap { part in
            guard let name = Self.text(of: "Key", in: part), let time = Self.text(of: "LastModified", in: part),
                let modified = Timestamp(time)
            else { return nil }
            return Object(
                name: name, modified: Date(timeIntervalSince1970: Double(modified.microsecondsSinceEpoch) / 1_000_000))
        }
    }

    /// The text in the first element with a name. Neither names nor times of this service need an escape.
    static func text(of element: String, in xml: String) -> String? {
        guard let start = xml.range(of: "<\(element)>"),
            let end = xml.range(of: "</\(element)>", range: start.upperBound..<xml.endIndex)
        else { return nil }
        return String(xml[start.upperBound..<end.lowerBound])
    }
}
