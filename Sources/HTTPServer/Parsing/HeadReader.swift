/// Builds a head: lines without their CRLF in, a head and the framing of its body out.
struct HeadReader: Sendable {
    private var head = HTTPRequestHead(method: "", path: "")
    private var authority: String?

    /// Reads `method SP target SP version`, with exactly these two spaces.
    mutating func readRequestLine(_ line: Span<UInt8>) throws(HTTPRefusal) {
        guard let first = line.place(of: HTTPGrammar.space, from: 0),
            let second = line.place(of: HTTPGrammar.space, from: first + 1),
            line.place(of: HTTPGrammar.space, from: second + 1) == nil
        else { throw .malformed("The request line is not a method, a target and a version.") }
        guard first <= 32, HTTPGrammar.isToken(line.extracting(..<first)) else {
            throw .malformed("The method is not a token.")
        }
        head.method = line.extracting(..<first).text
        head.minorVersion = try Self.minorVersion(line.extracting((second + 1)...))
        try readTarget(line.extracting((first + 1)..<second))
    }

    private static func minorVersion(_ version: Span<UInt8>) throws(HTTPRefusal) -> Int {
        switch version.text {
        case "HTTP/1.1": return 1
        case "HTTP/1.0": return 0
        case "HTTP/2.0", "HTTP/3.0", "HTTP/0.9": throw .unsupportedVersion
        default: throw .malformed("The request line does not end with an HTTP version.")
        }
    }

    private mutating func readTarget(_ bytes: Span<UInt8>) throws(HTTPRefusal) {
        guard HTTPGrammar.isTarget(bytes) else { throw .malformed("The request target is not a path.") }
        var target = bytes.text
        if !target.hasPrefix("/"),
            let rest = ["http://", "https://"].first(where: target.lowercased().hasPrefix)?.count
        {
            // Absolute form is accepted only if its authority equals `Host`, so that both name the same server.
            target.removeFirst(rest)
            let slash = target.firstIndex { $0 == "/" || $0 == "?" } ?? target.endIndex
            authority = target[..<slash].lowercased()
            target = String(target[slash...])
            if !target.hasPrefix("/") { target = "/" + target }
        }
        guard target.hasPrefix("/") || (target == "*" && head.method == "OPTIONS") else {
            throw .malformed("The request target is not a path.")
        }
        let question = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        head.path = question.map { String(target[..<$0]) } ?? target
        head.query = question.map { String(target[target.utf8.index(after: $0)...]) }
    }

    mutating func readField(_ line: Span<UInt8>, limit: Int) throws(HTTPRefusal) {
        guard line.isEmpty || !HTTPGrammar.isBlank(line[0]) else {
            throw .malformed("A header is folded over several lines.")
        }
        guard let colon = line.place(of: HTTPGrammar.colon, from: 0), HTTPGrammar.isToken(line.extracting(..<colon))
        else { throw .malformed("A header does not start with a name and a colon.") }
        var (start, end) = (colon + 1, line.count)
        while start < end, HTTPGrammar.isBlank(line[start]) { start += 1 }
        while start < end, HTTPGrammar.isBlank(line[end - 1]) { end -= 1 }
        let value = line.extracting(start..<end)
        guard HTTPGrammar.isFieldContent(value) else {
            throw .malformed("A header has a control character or is not UTF-8.")
        }
        guard head.headers.count < limit else { throw .headersTooLarge }
        head.headers.append(line.extracting(..<colon), value)
    }

    func finish() throws(HTTPRefusal) -> (HTTPRequestHead, HTTPParser.Framing) {
        try checkHost()
        let framing = try framing()
        if head.minorVersion == 1, let expectation = head.headers.first("expect") {
            guard head.headers.all("expect").count == 1, expectation.lowercased() == "100-continue" else {
                throw .expectationFailed
            }
        }
        return (head, framing)
    }

    private func checkHost() throws(HTTPRefusal) {
        let hosts = head.headers.all("host")
        guard hosts.count == 1 || (hosts.isEmpty && head.minorVersion == 0) else {
            throw .malformed("There must be exactly one Host header.")
        }
        guard hosts.allSatisfy(HTTPGrammar.isHost) else { throw .malformed("The Host header is not a host.") }
        guard authority == nil || authority == hosts.first?.lowercased() else {
            throw .malformed("The request target and the Host header name different servers.")
        }
    }

    private func framing() throws(HTTPRefusal) -> HTTPParser.Framing {
        let (lengths, codings) = (head.headers.all("content-length"), head.headers.all("transfer-encoding"))
        guard lengths.isEmpty || codings.isEmpty else {
            throw .malformed("Both Content-Length and Transfer-Encoding are given.")
        }
        guard lengths.count <= 1, codings.count <= 1 else { throw .malformed("The body's length is given twice.") }
        if let coding = codings.first?.lowercased() {
            guard head.minorVersion == 1 else { throw .malformed("HTTP/1.0 has no Transfer-Encoding.") }
            // Some characters outside ASCII become ASCII in lower case: the Kelvin sign becomes k.
            guard coding == "chunked", codings[0].utf8.allSatisfy({ $0 < 0x80 }) else {
                throw coding.contains("chunked") || !HTTPGrammar.isToken(coding.utf8.span)
                    ? .malformed("Transfer-Encoding must be chunked and nothing else.") : .unsupportedTransferCoding
            }
            return .chunked
        }
        guard let length = lengths.first else { return .sized(0) }
        guard let count = HTTPGrammar.decimal(length) else { throw .malformed("Content-Length is not a number.") }
        return .sized(count)
    }
}

extension Span<UInt8> {
    fileprivate var text: String { withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }

    /// The first place of the byte, from a place on.
    fileprivate func place(of byte: UInt8, from start: Int) -> Int? {
        var place = start
        while place < count {
            if self[place] == byte { return place }
            place += 1
        }
        return nil
    }
}
