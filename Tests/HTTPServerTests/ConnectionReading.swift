@testable import HTTPServer

/// What the parser makes of all bytes of a connection. `scripts/http-cases` compiles this file, too.
struct ConnectionReading: Codable, Equatable {
    struct Request: Codable, Equatable {
        let method: String
        /// Without scheme and authority.
        let target: String
        let body: [UInt8]
    }

    /// The requests that are complete.
    var requests: [Request] = []
    /// How it ends: `open` for more requests, `closed` behind a request that closes the connection, `waiting` within a
    /// request, or `refused`.
    var end = "open"
    /// Why it is refused.
    var reason: String?
    /// The status of the refusal.
    var status: Int?

    init(of bytes: [UInt8]) {
        var parser = HTTPParser()
        parser.append(bytes)
        var head: HTTPRequestHead?
        do throws(HTTPRefusal) {
            while let event = try parser.next() {
                switch event {
                case .head(let found):
                    head = found
                    parser.admit(bodyLimit: 65_536)
                case .part: continue
                case .body(let body):
                    guard let head else { continue }
                    let target = head.path + (head.query.map { "?" + $0 } ?? "")
                    requests.append(Request(method: head.method, target: target, body: body))
                    guard head.keepsAlive else {
                        end = "closed"
                        return
                    }
                }
            }
            if parser.phase != .idle { end = "waiting" }
        } catch {
            (end, reason, status) = ("refused", error.sentence, error.status)
        }
    }
}
