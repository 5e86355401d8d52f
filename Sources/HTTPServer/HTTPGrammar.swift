/// The character classes of RFC 9110 and 9112.
enum HTTPGrammar {
    static let cr = UInt8(ascii: "\r")
    static let lf = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let colon = UInt8(ascii: ":")

    /// For each byte, whether it is a letter, a digit or one of `marks`. A table is fast enough for every byte of a
    /// head.
    private static func table(_ marks: String) -> [Bool] {
        (UInt8.min...UInt8.max).map { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: marks.utf8.contains(byte)
            }
        }
    }

    private static let tokens = table("!#$%&'*+-.^_`|~")
    private static let uris = table("-._~:/?@!$&'()*+,;=%[]")
    private static let hosts = table("-._~:!$&'()*+,;=%[]")

    /// The grammar of method names and header names.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { tokens[Int($0)] }
    }

    /// The characters of a request target. Two hexadecimal digits must follow each `%`.
    static func isTarget(_ bytes: HeadReader.Bytes) -> Bool {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            guard uris[Int(byte)] else { return false }
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.endIndex, hexDigit(bytes[index + 1]) != nil,
                    hexDigit(bytes[index + 2]) != nil
                else { return false }
            }
            index += 1
        }
        return true
    }

    /// The grammar of `Host`. It is never empty, since no `http` URI has an empty host.
    static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { hosts[Int($0)] }
    }

    /// The bytes of header values: no control character except the tab.
    static func isFieldContent(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == tab }

    /// The bytes without spaces and tabs at both ends.
    static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes
    where Bytes.SubSequence == Bytes {
        var bytes = bytes
        while let first = bytes.first, first == space || first == tab { bytes.removeFirst() }
        while let last = bytes.last, last == space || last == tab { bytes.removeLast() }
        return bytes
    }

    static func hexDigit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 0x30
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte) - 0x37
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte) - 0x57
        default: nil
        }
    }

    /// The number in a `Content-Length`; `nil` unless it is 1 to 15 digits.
    static func decimal(_ text: String) -> Int? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
