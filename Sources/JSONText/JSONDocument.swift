/// A JSON text that was read strictly: UTF-8 without a byte-order mark, no member twice, no U+0000, no lone surrogate,
/// bounded depth and number of values, nothing behind the value.
///
/// Reading makes one flat tape of places in the bytes and builds no strings; a ``JSONNode`` looks at the tape.
public struct JSONDocument: Sendable {
    struct Entry: Sendable {
        var kind: JSONNode.Kind
        /// Of a string: it has escapes, or of a number: it is written as an integer within `Int64`.
        var flag: Bool
        var start: Int32
        var end: Int32
        /// The index behind everything inside of this value.
        var next: Int32
    }

    /// Behind one reference: a node is copied often.
    private final class Storage: Sendable {
        let bytes: [UInt8]
        let tape: [Entry]
        init(_ bytes: [UInt8], _ tape: [Entry]) { (self.bytes, self.tape) = (bytes, tape) }
    }

    private let storage: Storage
    public var bytes: [UInt8] { storage.bytes }
    var tape: [Entry] { storage.tape }

    /// - Throws: ``JSONTextError`` at the first thing that is wrong.
    public init(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONTextError) {
        var scanner = JSONScanner(limits: limits)
        let failure = bytes.withUnsafeBufferPointer { buffer -> (JSONTextError.Code, Int)? in
            scanner.scan(buffer) ? nil : (scanner.failure, scanner.position)
        }
        if let (code, offset) = failure {
            let before = bytes.prefix(offset)
            let line = before.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
            let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            throw JSONTextError(
                code: code, offset: offset, line: line, column: Self.scalars(in: bytes[lineStart..<offset]) + 1)
        }
        storage = Storage(bytes, scanner.tape)
    }

    public var root: JSONNode { JSONNode(document: self, index: 0) }

    /// How many Unicode scalars begin in some UTF-8.
    static func scalars(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 & 0b1100_0000 != 0b1000_0000 } }
}
