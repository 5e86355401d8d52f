import Cryptography
import EventLoop
import HTTPServer
import ServiceRuntime

/// The shipped pictures, by names that change with their content. So caches may keep them for ever.
@Loop final class Pictures {
    static nonisolated let path = "/visual-preferences/images/"
    /// The part of a picture's address before its path; empty for a path at the API's address.
    var base: String
    private let names: [String: String]
    private let contents: [String: [UInt8]]

    init(base: String) {
        self.base = base
        var (names, contents) = ([String: String](), [String: [UInt8]]())
        for file in EmbeddedFiles.Images.all {
            let name = "\(file.name)-\(Hex.encode(SHA256.digest(file.bytes).prefix(8))).svg"
            (names[file.name], contents[Self.path + name]) = (name, file.bytes)
        }
        (self.names, self.contents) = (names, contents)
    }

    func url(of item: String) -> String { base + Self.path + (names[item] ?? item) }

    func answer(_ head: HTTPRequestHead) -> HTTPResponse {
        guard head.method == "GET" || head.method == "HEAD", let content = contents[head.path] else {
            return HTTPResponse(status: 404, headers: ["content-type": "text/plain; charset=utf-8"])
        }
        return HTTPResponse(
            status: 200,
            headers: [
                "content-type": "image/svg+xml", "cache-control": "public, max-age=31536000, immutable",
                "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
                "x-content-type-options": "nosniff", "access-control-allow-origin": "*",
            ], body: content)
    }
}
