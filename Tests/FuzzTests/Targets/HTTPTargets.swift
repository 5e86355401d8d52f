@testable import HTTPServer

/// What a parser makes of a connection's bytes.
private struct Reading: Equatable {
    var events: [HTTPParser.Event] = []
    var refusal: HTTPRefusal?
    /// The bytes that wait for more; 0 after a refusal.
    var left = 0
}

/// Bytes that arrive in pieces are read like bytes that arrive at once. Each request that is read can be written and
/// read again.
func checkRequests(_ bytes: [UInt8]) throws(BrokenPromise) {
    let reading = read([bytes[...]])
    try promise(read(bytes.indices.map { bytes[$0...$0] }) == reading, "Single bytes are read in another way.")
    try promise(read(cut(bytes)) == reading, "Pieces are read in another way.")
    let inParts = read(cut(bytes), partLength: 7)
    try promise(read([bytes[...]], partLength: 7) == inParts, "Pieces are read in other parts.")
    try promise(joined(inParts) == reading, "The parts of a body are not the body.")
    for (index, event) in reading.events.enumerated() {
        guard case .head(let head) = event else { continue }
        try check(head)
        guard index + 1 < reading.events.count, case .body(let body) = reading.events[index + 1] else { continue }
        try promise(
            read([written(head, body)[...]]) == Reading(events: [.head(head), .body(body)]),
            "A request changes when it is written.")
    }
}

/// The same of a chunked body, which a second reader reads as well.
func checkChunked(_ bytes: [UInt8]) throws(BrokenPromise) {
    let head = Array("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    try checkRequests(head + bytes)
    guard case .body(let body)? = read([(head + bytes)[...]]).events.dropFirst().first else { return }
    try promise(unchunked(bytes[...]) == body, "The body has other bytes than RFC 9112 says.")
}

private func read(_ pieces: [ArraySlice<UInt8>], partLength: Int = .max) -> Reading {
    var parser = HTTPParser()
    var reading = Reading()
    for piece in pieces {
        parser.append(piece)
        do throws(HTTPRefusal) {
            while let event = try parser.next() {
                reading.events.append(event)
                parser.admit(bodyLimit: 65_536, partLength: partLength)
            }
        } catch {
            reading.refusal = error
        }
    }
    if reading.refusal == nil { reading.left = parser.bufferedCount }
    return reading
}

/// The same with each body in one.
private func joined(_ reading: Reading) -> Reading {
    var (joined, body) = (reading, [UInt8]())
    joined.events = reading.events.compactMap { event in
        switch event {
        case .head: return event
        case .part(let part):
            body += part
            return nil
        case .body(let end):
            defer { body = [] }
            return .body(body + end)
        }
    }
    return joined
}

/// The bytes in pieces, whose lengths follow from the bytes themselves.
private func cut(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var (pieces, start, state) = ([ArraySlice<UInt8>](), 0, UInt32(bytes.count))
    while start < bytes.count {
        state = (state ^ UInt32(bytes[start])) &* 16_777_619
        let end = min(bytes.count, start + 1 + Int(state >> 16) % 40)
        pieces.append(bytes[start..<end])
        start = end
    }
    return pieces
}

/// No reader behind this one can take the head for two, or for another.
private func check(_ head: HTTPRequestHead) throws(BrokenPromise) {
    let marks = Set("!#$%&'*+-.^_`|~".utf8)
    func isToken(_ byte: UInt8) -> Bool {
        marks.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
            || (0x61...0x7a).contains(byte)
    }
    try promise(!head.method.isEmpty && head.method.utf8.allSatisfy(isToken), "The method is no token.")
    try promise(head.path.hasPrefix("/") || head.path == "*", "The path is none.")
    let target = Array(head.path.utf8) + Array((head.query ?? "").utf8)
    try promise(target.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x23 }, "The target has a strange byte.")
    var isClean = true
    head.headers.forEach { name, value in
        isClean = isClean && !name.isEmpty && name.allSatisfy(isToken)
        isClean = isClean && value.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
    try promise(isClean, "A header has a strange byte.")
    let (lengths, codings) = (head.headers.all("content-length"), head.headers.all("transfer-encoding"))
    try promise(lengths.count + codings.count <= 1, "The length is given twice.")
}

private func written(_ head: HTTPRequestHead, _ body: [UInt8]) -> [UInt8] {
    let target = head.path + (head.query.map { "?" + $0 } ?? "")
    var bytes = Array("\(head.method) \(target) HTTP/1.\(head.minorVersion)\r\n".utf8)
    head.headers.forEach { name, value in bytes += name + Array(": ".utf8) + value + [13, 10] }
    bytes += [13, 10]
    guard head.headers.first("transfer-encoding") != nil else { return bytes + body }
    if !body.isEmpty { bytes += Array("\(String(body.count, radix: 16))\r\n".utf8) + body + [13, 10] }
    return bytes + Array("0\r\n\r\n".utf8)
}

/// A chunked body by the letter of RFC 9112, 7.1, without its trailers; `nil` if it is none.
private func unchunked(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var (rest, body) = (bytes, [UInt8]())
    while let end = rest.firstIndex(of: 13), end + 1 < rest.endIndex, rest[end + 1] == 10 {
        // By bytes: what follows a semicolon may make another character of it.
        let digits = String(decoding: rest[..<end].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        guard let size = Int(digits, radix: 16), size >= 0 else { return nil }
        rest = rest[(end + 2)...]
        if size == 0 { return body }
        guard rest.count >= size + 2, rest.dropFirst(size).starts(with: [13, 10]) else { return nil }
        body += rest.prefix(size)
        rest = rest.dropFirst(size + 2)
    }
    return nil
}
