import EventLoop
import Glibc

/// Writes the bytes of a response.
enum HTTPWriter {
    static let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// - Parameters:
    ///   - method: of the request; `nil` if it could not be read.
    ///   - closes: whether the connection ends after this response.
    ///   - framing: of a response whose length is not known.
    ///   - withBody: `false` if the body is sent separately.
    @Loop static func bytes(
        of response: HTTPResponse, to method: String?, closes: Bool, _ framing: Framing = .chunks, withBody: Bool = true
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((withBody ? response.body.count : 0) + 512)
        append(statusLines[response.status] ?? statusLine(response.status, "Status"), to: &bytes)
        for field in response.headers.fields where !isOwned(field.name) {
            append(field.name, field.value, to: &bytes)
        }
        append("date", HTTPDate.now, to: &bytes)
        if closes { append("connection", "close", to: &bytes) }
        // RFC 9110, 8.6: 204 must have no length. With 304 it would be that of the 200 response.
        let hasContent = response.status != 204 && response.status != 304
        if response.rest != nil {
            if framing == .chunks { append("transfer-encoding", "chunked", to: &bytes) }
        } else if hasContent {
            append("content-length", String(response.body.count), to: &bytes)
        }
        bytes.append(HTTPGrammar.cr)
        bytes.append(HTTPGrammar.lf)
        guard hasContent, withBody, method != "HEAD" else { return bytes }
        bytes.append(contentsOf: response.rest == nil ? response.body : framing.piece(response.body))
        return bytes
    }

    /// How a client finds the end of a response in parts.
    enum Framing {
        case chunks
        case untilClose

        /// The bytes of one part. With chunks, an empty part has no bytes, since an empty chunk would be the last.
        func piece(_ bytes: [UInt8]) -> [UInt8] {
            guard self == .chunks, !bytes.isEmpty else { return bytes }
            return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [HTTPGrammar.cr, HTTPGrammar.lf]
        }

        var end: [UInt8] { self == .chunks ? Array("0\r\n\r\n".utf8) : [] }
    }

    /// Whether the server itself writes this field.
    private static func isOwned(_ name: String) -> Bool {
        switch name {
        case "content-length", "transfer-encoding", "connection", "date": true
        default: false
        }
    }

    /// Writes a field. Control characters in the value become spaces, so that no value can add a field.
    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        append(name, to: &bytes)
        bytes.append(HTTPGrammar.colon)
        bytes.append(HTTPGrammar.space)
        let start = bytes.count
        append(value, to: &bytes)
        for index in start..<bytes.count where !HTTPGrammar.isFieldContent(bytes[index]) {
            bytes[index] = HTTPGrammar.space
        }
        bytes.append(HTTPGrammar.cr)
        bytes.append(HTTPGrammar.lf)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private static func statusLine(_ status: Int, _ reason: String) -> String { "HTTP/1.1 \(status) \(reason)\r\n" }

    private static let statusLines = Dictionary(
        uniqueKeysWithValues: reasons.map { ($0.key, statusLine($0.key, $0.value)) })

    private static let reasons = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 304: "Not Modified", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
        415: "Unsupported Media Type", 417: "Expectation Failed", 422: "Unprocessable Content",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}

/// Dates as in `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// The present time. The text is made once a second.
    @Loop static var now: String {
        let second = time(nil)
        if second != made.second { made = (second, text(secondsSinceEpoch: second)) }
        return made.text
    }

    @Loop private static var made = (second: 0, text: "")

    static func text(secondsSinceEpoch: Int) -> String {
        var (seconds, parts) = (secondsSinceEpoch, tm())
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        let (day, month) = (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
        return "\(day), \(two(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(clock) GMT"
    }
}
