import EventLoop
import Glibc

/// Writes the bytes of a response.
enum HTTPWriter {
    static let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// - Parameters:
    ///   - method: the method of the request; `nil` if the server could not read it.
    ///   - closes: whether the connection ends after this response.
    ///   - framing: the framing of a response whose length is not known.
    ///   - withBody: `false` if the body is sent separately.
    @Loop static func bytes(
        of response: HTTPResponse, to method: String?, closes: Bool, _ framing: Framing = .chunks, withBody: Bool = true
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((withBody ? response.body.count : 0) + 512)
        append("HTTP/1.1 ", to: &bytes)
        append(decimal: response.status, to: &bytes)
        append(" ", to: &bytes)
        append(reason(of: response.status), to: &bytes)
        append("\r\n", to: &bytes)
        response.headers.forEach { name, value in
            guard !owned.has(name) else { return }
            bytes.append(contentsOf: name)
            bytes.append(HTTPGrammar.colon)
            bytes.append(HTTPGrammar.space)
            // Control characters become spaces, so that no value can add a field.
            if HTTPGrammar.isFieldContent(value.span) {
                bytes.append(contentsOf: value)
            } else {
                bytes.append(contentsOf: value.map { HTTPGrammar.isFieldContent($0) ? $0 : HTTPGrammar.space })
            }
            append("\r\n", to: &bytes)
        }
        append("date: ", to: &bytes)
        append(HTTPDate.now, to: &bytes)
        append(closes ? "\r\nconnection: close\r\n" : "\r\n", to: &bytes)
        // RFC 9110, 8.6: 204 must have no length. With 304, the length would be that of the 200 response.
        let hasContent = response.status != 204 && response.status != 304
        if response.rest != nil {
            if framing == .chunks { append("transfer-encoding: chunked\r\n", to: &bytes) }
        } else if hasContent {
            append("content-length: ", to: &bytes)
            append(decimal: response.body.count, to: &bytes)
            append("\r\n", to: &bytes)
        }
        append("\r\n", to: &bytes)
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

    /// The fields that the server itself writes.
    private static let owned: HTTPHeaders = [
        "content-length": "", "transfer-encoding": "", "connection": "", "date": "",
    ]

    private static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// - Parameter number: from 0.
    private static func append(decimal number: Int, to bytes: inout [UInt8]) {
        if number >= 10 { append(decimal: number / 10, to: &bytes) }
        bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// The phrase of RFC 9110 that follows the code in the status line.
    private static func reason(of status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}

/// Dates as in `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// The present time. It makes the text once a second.
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
