import Cryptography
import Foundation
import HTTPServer
import JSONText

/// The web app of `clients/web`, which this program contains. Its paths begin with `/app/`.
struct WebApp: Sendable {
    /// The operator's settings of the app.
    struct Settings: Sendable {
        /// Further origins that pictures come from and go to, such as `https://pictures.example`.
        var sources: [String] = []
        /// Clients at identity providers, by the provider's name. Each has an ID, and an address unless the provider's
        /// own is right.
        var clients: [String: (id: String, address: String?)] = [:]
        /// Whether there are ``DevelopmentCodes`` to show.
        var showsCodes = false

        init() {}

        /// - Parameter clients: each as `google=ID` or `google=ID=ADDRESS`. For another form, this returns `nil`.
        init?(sources: [String], clients: [String]) {
            self.sources = sources
            for client in clients {
                let parts = client.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
                guard (2...3).contains(parts.count), ["apple", "google"].contains(parts[0]), !parts.contains("") else {
                    return nil
                }
                self.clients[parts[0]] = (parts[1], parts.count == 3 ? parts[2] : nil)
            }
        }

        fileprivate var document: JSONValue {
            [
                "showsCodes": .bool(showsCodes),
                "clients": .object(
                    clients.mapValues { client in
                        var value: [String: JSONValue] = ["id": .string(client.id)]
                        value["address"] = client.address.map { .string($0) }
                        return .object(value)
                    }),
            ]
        }
    }

    private struct File: Sendable {
        let bytes: [UInt8]
        let type: String
        let tag: String
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "svg": "image/svg+xml", "json": "application/json", "webmanifest": "application/manifest+json",
    ]

    private let files: [String: File]
    private let policy: String
    /// The paths of all files.
    var paths: [String] { files.keys.sorted() }

    init(_ settings: Settings) {
        let own = (["'self'"] + settings.sources).joined(separator: " ")
        policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src \(own) blob:; connect-src \(own); "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
            + "trusted-types 'none'"
        var files: [String: File] = [:]
        for file in EmbeddedFiles.all {
            guard let path = Self.path(of: file.path), let type = Self.types[URL(filePath: path).pathExtension] else {
                continue
            }
            // The file in the folder has the defaults. The operator's settings replace it.
            let isSettings = path == "/app/settings.json"
            let bytes = isSettings ? CanonicalJSON.bytes(of: settings.document) : file.bytes
            // A browser keeps the policy together with a cached file. So another policy must give the file another tag.
            let digest = Data(SHA256.digest(bytes + Array(policy.utf8))).base64EncodedString()
            files[path] = File(bytes: bytes, type: type, tag: "\"\(digest)\"")
        }
        files["/app/"] = files.removeValue(forKey: "/app/index.html")
        self.files = files
    }

    /// The path of an embedded file; `nil` for a file that is not the web app's.
    private static func path(of file: String) -> String? {
        for (folder, path) in [("WebApp/", "/app/"), ("WebSDK/", "/app/sdk/")] where file.hasPrefix(folder) {
            return path + file.dropFirst(folder.count)
        }
        return nil
    }

    /// - Returns: `nil` if the app has no such file, or the method is not `GET` or `HEAD`.
    func answer(_ head: HTTPRequestHead) -> HTTPResponse? {
        guard head.method == "GET" || head.method == "HEAD" else { return nil }
        if head.path == "/app" {
            return HTTPResponse(status: 308, headers: ["location": "/app/" + (head.query.map { "?\($0)" } ?? "")])
        }
        guard let file = files[head.path] else { return nil }
        // With `no-cache`, a browser gets a new release at its next load.
        let headers: HTTPHeaders = ["cache-control": "no-cache", "etag": file.tag]
        guard !head.headers.knows(file.tag) else {
            return HTTPResponse(status: 304, headers: headers)
        }
        var response = HTTPResponse(status: 200, headers: headers, body: file.bytes)
        response.headers.set("content-type", file.type)
        response.headers.set("content-security-policy", policy)
        response.headers.set("referrer-policy", "no-referrer")
        response.headers.set("cross-origin-opener-policy", "same-origin")
        return response
    }
}

/// The codes that the development providers wrote down, for the web app to show. Every caller gets them.
struct DevelopmentCodes: Sendable {
    static let path = "/app/development/codes"
    /// How many bytes are read, from the end of each file.
    private static let most = 65_536
    private static let mostMessages = 5

    /// `SPOOL_DIR` of the development providers.
    let folder: String

    /// The newest messages to a contact, the newest first.
    ///
    /// - Parameter contact: an address, or a number in E.164, whose spaces and hyphens do not count.
    func answer(to contact: String) -> HTTPResponse {
        let plain = contact.contains("@") ? contact : "+" + contact.filter(\.isNumber)
        let lines = ["sms.jsonl", "email.jsonl"].flatMap { Self.lines("\(folder)/\($0)") }
        let messages = lines.filter { $0["to"]?.stringValue == plain }.suffix(Self.mostMessages).reversed()
            .map { line -> JSONValue in ["body": line["body"] ?? .null] }
        return HTTPResponse(
            status: 200, headers: ["content-type": "application/json", "cache-control": "no-store"],
            body: CanonicalJSON.bytes(of: ["messages": .array(messages)]))
    }

    private static func lines(_ path: String) -> [JSONValue] {
        guard let file = FileHandle(forReadingAtPath: path), let end = try? file.seekToEnd() else { return [] }
        defer { try? file.close() }
        try? file.seek(toOffset: end > most ? end - UInt64(most) : 0)
        let data = (try? file.readToEnd()) ?? Data()
        return data.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue.parse([UInt8]($0)) }
    }
}
