/// Builds a head: lines without their CRLF in, a head and the framing of its body out.
struct HeadReader: Sendable {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private var head = HTTPRequestHead(method: "", path: "")
    private var authority: String?

    /// Reads `method SP target SP version`, with exactly these two spaces.
    mutating func readRequestLine(_ line: Bytes) throws(HTTPRefusal) {
        let parts = line.split(separator: HTTPGrammar.space, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("The request line is not a method, a target and a version.") }
        guard parts[0].count <= 32, HTTPGrammar.isToken(parts[0]) else {
            throw .malformed("The method is not a token.")
        }
        head.method = String(decoding: parts[0], as: UTF8.self)
        head.minorVersion = try Self.minorVersion(parts[2])
        try readTarget(parts[1])
    }

    private static func minorVersion(_ bytes: Bytes) throws(HTTPRefusal) -> Int {
        if bytes.elementsEqual("HTTP/1.1".utf8) { return 1 }
        switch String(decoding: bytes, as: UTF8.self) {
        case "HTTP/1.0": return 0
        case "HTTP/2.0", "HTTP/3.0", "HTTP/0.9": throw .unsupportedVersion
        default: throw .malformed("The request line does not end with an HTTP version.")
        }
    }

    private mutating func readTarget(_ bytes: Bytes) throws(HTTPRefusal) {
        guard !bytes.isEmpty, HTTPGrammar.isTarget(bytes) else {
            throw .malformed("The request target is not a path.")
        }
        var target = String(decoding: bytes, as: UTF8.self)
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

    mutating func readField(_ line: Bytes, limit: Int) throws(HTTPRefusal) {
        guard line.first != HTTPGrammar.space, line.first != HTTPGrammar.tab else {
            throw .malformed("A header is folded over several lines.")
        }
        guard let colon = line.firstIndex(of: HTTPGrammar.colon), HTTPGrammar.isToken(line[..<colon]) else {
            throw .malformed("A header does not start with a name and a colon.")
        }
        let content = HTTPGrammar.trimmed(line[(colon + 1)...])
        guard content.allSatisfy(HTTPGrammar.isFieldContent), let text = String(validating: content, as: UTF8.self)
        else { throw .malformed("A header has a control character or is not UTF-8.") }
        guard head.headers.fields.count < limit else { throw .headersTooLarge }
        head.headers.append(String(decoding: line[..<colon], as: UTF8.self), text)
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
                throw coding.contains("chunked") || !HTTPGrammar.isToken(Array(coding.utf8))
                    ? .malformed("Transfer-Encoding must be chunked and nothing else.") : .unsupportedTransferCoding
            }
            return .chunked
        }
        guard let length = lengths.first else { return .sized(0) }
        guard let count = HTTPGrammar.decimal(length) else { throw .malformed("Content-Length is not a number.") }
        return .sized(count)
    }
}
