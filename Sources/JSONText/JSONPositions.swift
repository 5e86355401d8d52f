/// Finds the place of a JSON Pointer (RFC 6901) in a text.
public struct JSONPositions: Sendable {
    private let document: JSONDocument
    /// The offset of each line.
    private let starts: [Int]

    /// Takes the text that the pointers refer to.
    public init(_ document: JSONDocument) {
        self.document = document
        starts = [0] + document.bytes.indices.filter { document.bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    }

    /// The place of the value. If the value is missing, it is the place of the value that should contain it.
    ///
    /// - Returns: the line and the column, both from 1. Columns count Unicode scalars.
    public func position(of pointer: String) -> (line: Int, column: Int) {
        var node = document.root
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            let elements = node.elements
            guard let child = node[name] ?? Int(name).flatMap({ elements.indices.contains($0) ? elements[$0] : nil })
            else { break }
            node = child
        }
        let offset = node.rawText.startIndex
        let line = starts.lastIndex { $0 <= offset } ?? 0
        return (line + 1, JSONDocument.scalars(in: document.bytes[starts[line]..<offset]) + 1)
    }
}
