import JSONText

/// A response of the public API.
struct HTTPAnswer {
    let status: Int
    /// The names are in lower case.
    let headers: [String: String]
    let bytes: [UInt8]

    /// The bytes as JSON; `null` if they are no JSON.
    var body: JSONValue { (try? JSONValue.parse(bytes)) ?? .null }
}

/// The status line and the headers of an HTTP/1.1 answer.
struct HTTPAnswerHead {
    let status: Int
    /// The names are in lower case.
    let headers: [String: String]
    /// The number of bytes of the head, with its empty line.
    let length: Int
    /// The number of bytes of the body.
    let bodyLength: Int

    /// Why bytes are no answer.
    enum Refusal: Error, Equatable {
        /// They are not the head of an HTTP/1.1 answer.
        case malformed
        /// No `Content-Length` gives the length of the body.
        case unknownLength
    }

    /// Reads a head strictly. It returns `nil` until the empty line has arrived.
    init?(_ bytes: [UInt8]) throws(Refusal) {
        guard let end = Self.end(of: bytes) else { return nil }
        var lines = bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let words = (lines.popFirst() ?? []).split(separator: UInt8(ascii: " "))
        guard words.count >= 2, words[0].elementsEqual("HTTP/1.1".utf8),
            let status = Int(Self.text(words[1]))
        else { throw .malformed }
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed }
            headers[Self.text(line[..<colon]).lowercased()] = Self.text(line[(colon + 1)...])
        }
        guard headers["transfer-encoding"] == nil else { throw .unknownLength }
        guard let bodyLength = headers["content-length"].map({ Int($0) }) ?? 0, bodyLength >= 0 else {
            throw .unknownLength
        }
        (self.status, self.headers, length, self.bodyLength) = (status, headers, end + 4, bodyLength)
    }

    /// The index of the empty line's line break.
    private static func end(of bytes: [UInt8]) -> Int? {
        var from = 0
        while let line = bytes[from...].firstIndex(of: UInt8(ascii: "\n")) {
            if line >= 3, bytes[line - 3] == 13, bytes[line - 2] == 10, bytes[line - 1] == 13 { return line - 3 }
            from = line + 1
        }
        return nil
    }

    /// Bytes as text, without white space around it.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
