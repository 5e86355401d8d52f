/// A JSON text that was read strictly.
///
/// It is UTF-8 without a byte-order mark. No member occurs twice in an object. There is no U+0000, no lone surrogate
/// and nothing after the value. The depth and the number of values are limited.
///
/// Reading builds no strings. It makes one flat array of positions in the bytes, the tape. A ``JSONNode`` refers to the
/// tape.
public struct JSONDocument: Sendable {
    struct Entry: Sendable {
        var kind: JSONNode.Kind
        /// For a string: it has escapes. For a number: it is written as an integer within `Int64`.
        var flag: Bool
        var start: Int32
        var end: Int32
        /// The index after everything inside this value.
        var next: Int32
    }

    /// Holds all parts behind one reference, because nodes are copied often.
    private final class Storage: Sendable {
        let bytes: [UInt8]
        let tape: [Entry]
        init(_ bytes: [UInt8], _ tape: [Entry]) { (self.bytes, self.tape) = (bytes, tape) }
    }

    private let storage: Storage
    /// The bytes of the text.
    public var bytes: [UInt8] { storage.bytes }
    var tape: [Entry] { storage.tape }

    /// Reads a text.
    ///
    /// - Throws: ``JSONTextError`` for the first error in the text.
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

    /// The value of the whole text.
    public var root: JSONNode { JSONNode(document: self, index: 0) }

    /// The number of Unicode scalars that start in these bytes of UTF-8.
    static func scalars(in bytes: ArraySlice<UInt8>) -> Int { bytes.count { $0 & 0b1100_0000 != 0b1000_0000 } }
}
